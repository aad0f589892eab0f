package render

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
)

// perSecond is how many of a unit make a second, and how many digits its
// fractions have.
func perSecond(u arrow.TimeUnit) (n int64, digits int) {
	switch u {
	case arrow.Millisecond:
		return 1e3, 3
	case arrow.Microsecond:
		return 1e6, 6
	case arrow.Nanosecond:
		return 1e9, 9
	}
	return 1, 0
}

// split parts a number of units into whole seconds and what is above them.
func split(v int64, u arrow.TimeUnit) (seconds, rest int64) {
	n, _ := perSecond(u)
	seconds, rest = v/n, v%n
	if rest < 0 {
		seconds, rest = seconds-1, rest+n
	}
	return seconds, rest
}

// fraction is the part of a second after the point, with all digits of the unit, or nothing.
func fraction(rest int64, u arrow.TimeUnit) string {
	_, digits := perSecond(u)
	if rest == 0 || digits == 0 {
		return ""
	}
	return fmt.Sprintf(".%0*d", digits, rest)
}

// The years that ISO 8601 writes with four digits, in seconds since 1970.
const (
	firstSecond = -62167219200 // 0000-01-01
	lastSecond  = 253402300799 // 9999-12-31T23:59:59
	secondsADay = 86400
)

// date is a number of days since 1970. What has no four-digit year stays a number.
func date(days int64) string {
	if days < firstSecond/secondsADay || days > lastSecond/secondsADay {
		return strconv.FormatInt(days, 10) + " days since 1970"
	}
	return time.Unix(days*secondsADay, 0).UTC().Format(time.DateOnly)
}

// dateOfMillis is a date in milliseconds since 1970, which should be whole days.
func dateOfMillis(v int64) string {
	if v%(secondsADay*1000) == 0 {
		return date(v / (secondsADay * 1000))
	}
	return instant(v, arrow.Millisecond, "")
}

// instant is a timestamp. Without a zone it is a wall clock's reading, which
// has no offset. A zone that this machine does not know is shown in UTC: the instant is
// the same.
func instant(v int64, u arrow.TimeUnit, zone string) string {
	seconds, rest := split(v, u)
	if seconds < firstSecond+secondsADay || seconds > lastSecond-secondsADay {
		return strconv.FormatInt(v, 10) + " " + u.String() + " since 1970"
	}
	t := time.Unix(seconds, 0).UTC()
	if zone == "" {
		return t.Format("2006-01-02T15:04:05") + fraction(rest, u)
	}
	t = t.In(location(zone))
	// Local times before there were zones had offsets with seconds, which ISO 8601
	// can't say.
	if _, offset := t.Zone(); offset%60 != 0 {
		t = t.UTC()
	}
	return t.Format("2006-01-02T15:04:05") + fraction(rest, u) + t.Format("Z07:00")
}

func location(zone string) *time.Location {
	for _, layout := range []string{"-07:00", "-0700", "-07"} {
		if t, err := time.Parse(layout, zone); err == nil {
			_, offset := t.Zone()
			return time.FixedZone(zone, offset)
		}
	}
	// "Local" would be this machine's own, which means nothing to a table.
	if strings.EqualFold(zone, "local") {
		return time.UTC
	}
	l, err := time.LoadLocation(zone)
	if err != nil {
		return time.UTC
	}
	return l
}

// clock is a time of day. What is no time of a day stays a number.
func clock(v int64, u arrow.TimeUnit) string {
	seconds, rest := split(v, u)
	if seconds < 0 || seconds >= secondsADay {
		return strconv.FormatInt(v, 10) + " " + u.String()
	}
	return fmt.Sprintf("%02d:%02d:%02d", seconds/3600, seconds/60%60, seconds%60) + fraction(rest, u)
}

// duration is an ISO 8601 duration in seconds.
func duration(v int64, u arrow.TimeUnit) string {
	n, _ := perSecond(u)
	sign, seconds, rest := "", v/n, v%n
	if v < 0 {
		sign = "-"
	}
	return "PT" + sign + strings.TrimPrefix(strconv.FormatInt(seconds, 10), "-") + fraction(max(rest, -rest), u) + "S"
}
