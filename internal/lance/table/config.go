package table

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// ErrConfig is returned for an entry of a table's config that can't be read, with its key and value. What reads
// one goes by what Lance itself takes for such a value.
var ErrConfig = errors.New("unreadable config")

// Config are a table's own settings.
type Config map[string]string

// Config of the version.
func (t *Table) Config() Config { return t.Manifest().GetConfig() }

func (c Config) wrong(key, want string) error {
	return fmt.Errorf("%w: %s is %q, not %s", ErrConfig, key, shortened(c[key]), want)
}

// shortened keeps a message readable whatever a value holds.
func shortened(s string) string {
	const most = 80
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

// Count reads a whole number from 1 on; what int64 can't hold is its largest. set tells whether there is an entry.
func (c Config) Count(key string) (n int64, set bool, err error) {
	s, set := c[key]
	if !set {
		return 0, false, nil
	}
	digits := strings.TrimPrefix(s, "+")
	u, err := strconv.ParseUint(digits, 10, 64)
	if err != nil || u == 0 {
		return 0, true, c.wrong(key, "a whole number above 0")
	}
	return int64(min(u, math.MaxInt64)), true, nil
}

// Bool reads true or false, in any case of letters.
func (c Config) Bool(key string) (yes, set bool, err error) {
	s, set := c[key]
	switch {
	case !set:
		return false, false, nil
	case strings.EqualFold(s, "true"):
		return true, true, nil
	case strings.EqualFold(s, "false"):
		return false, true, nil
	}
	return false, true, c.wrong(key, "true or false")
}

// Share reads a number from 0 on, of which 1 means all.
func (c Config) Share(key string) (share float64, set bool, err error) {
	s, set := c[key]
	if !set {
		return 0, false, nil
	}
	share, err = strconv.ParseFloat(s, 64)
	if errors.Is(err, strconv.ErrRange) {
		err = nil // infinite or next to nothing, which is what it says
	}
	if err != nil || strings.ContainsAny(s, "_xX") || !(share >= 0) {
		return 0, true, c.wrong(key, "a number from 0 on")
	}
	return share, true, nil
}

// Duration reads a length of time such as "7days" or "1h 30m"; what time.Duration can't hold is its largest.
func (c Config) Duration(key string) (d time.Duration, set bool, err error) {
	s, set := c[key]
	if !set {
		return 0, false, nil
	}
	d, ok := parseDuration(s)
	if !ok {
		return 0, true, c.wrong(key, `a length of time such as "7days" or "1h 30m"`)
	}
	return d, true, nil
}

const (
	day   = 24 * time.Hour
	month = 2_630_016 * time.Second  // 30.44 days
	year  = 31_557_600 * time.Second // 365.25 days
)

// timeUnits by their names.
var timeUnits = map[string]time.Duration{
	"nanos": time.Nanosecond, "nsec": time.Nanosecond, "ns": time.Nanosecond,
	"usec": time.Microsecond, "us": time.Microsecond, "µs": time.Microsecond,
	"millis": time.Millisecond, "msec": time.Millisecond, "ms": time.Millisecond,
	"seconds": time.Second, "second": time.Second, "secs": time.Second, "sec": time.Second, "s": time.Second,
	"minutes": time.Minute, "minute": time.Minute, "mins": time.Minute, "min": time.Minute, "m": time.Minute,
	"hours": time.Hour, "hour": time.Hour, "hrs": time.Hour, "hr": time.Hour, "h": time.Hour,
	"days": day, "day": day, "d": day,
	"weeks": 7 * day, "week": 7 * day, "wks": 7 * day, "wk": 7 * day, "w": 7 * day,
	"months": month, "month": month, "M": month,
	"years": year, "year": year, "yrs": year, "yr": year, "y": year,
}

// parseDuration reads numbers with units, one behind the other; 0 needs no unit.
func parseDuration(s string) (total time.Duration, ok bool) {
	s = strings.TrimSpace(s)
	if s == "0" {
		return 0, true
	}
	if s == "" {
		return 0, false
	}
	for s != "" {
		number := s[:spanOf(s, func(r rune) bool { return r >= '0' && r <= '9' || r == '.' })]
		s = strings.TrimSpace(s[len(number):])
		name := s[:spanOf(s, unicode.IsLetter)]
		s = strings.TrimSpace(s[len(name):])
		unit, known := timeUnits[name]
		whole, part, point := strings.Cut(number, ".")
		if !known || whole == "" || point && part == "" || strings.Contains(part, ".") {
			return 0, false
		}
		all := time.Duration(math.MaxInt64)
		if n, err := strconv.ParseInt(whole, 10, 64); err == nil && n <= int64(all/unit) {
			all = time.Duration(n) * unit
		}
		rest, err := strconv.ParseFloat("0."+part+"0", 64)
		if err != nil {
			return 0, false
		}
		for _, d := range []time.Duration{all, time.Duration(rest * float64(unit))} {
			total += min(d, math.MaxInt64-total)
		}
	}
	return total, true
}

// spanOf is how many bytes of s, from its beginning, are of a kind.
func spanOf(s string, kind func(rune) bool) int {
	if i := strings.IndexFunc(s, func(r rune) bool { return !kind(r) }); i >= 0 {
		return i
	}
	return len(s)
}
