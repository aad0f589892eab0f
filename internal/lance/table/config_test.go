package table

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"
)

// Which values pylance 14.0.2 takes, and for what.
func TestConfigValues(t *testing.T) {
	const bad = "bad"
	counts := map[string]any{
		"500": int64(500), "+500": int64(500), "0500": int64(500), "1": int64(1),
		"18446744073709551615": int64(math.MaxInt64), "9223372036854775808": int64(math.MaxInt64),
		" 500": bad, "500 ": bad, "5e2": bad, "500.0": bad, "0x1f4": bad, "5_00": bad, "-1": bad, "": bad, "abc": bad,
		"18446744073709551616": bad, "++5": bad, "+-5": bad, "+": bad,
		"0": bad, // which it takes for some and refuses for others
	}
	for s, want := range counts {
		n, set, err := Config{"k": s}.Count("k")
		check(t, s, any(n), set, err, want)
	}
	bools := map[string]any{"true": true, "false": false, "True": true, "FALSE": false, "1": bad, "0": bad, "yes": bad, "": bad, " true": bad, "t": bad}
	for s, want := range bools {
		b, set, err := Config{"k": s}.Bool("k")
		check(t, s, any(b), set, err, want)
	}
	shares := map[string]any{
		"0.1": 0.1, ".1": 0.1, "1": 1.0, "1.": 1.0, "1e-1": 0.1, "2": 2.0, "+0.3": 0.3, "0": 0.0, "inf": math.Inf(1), "infinity": math.Inf(1), "1e999": math.Inf(1),
		"0.1f": bad, "10%": bad, "": bad, " 0.1": bad, "1_0": bad, "0x1p-2": bad,
		"nan": bad, "NaN": bad, "-0.5": bad, // which it takes for never and always
	}
	for s, want := range shares {
		f, set, err := Config{"k": s}.Share("k")
		check(t, s, any(f), set, err, want)
	}
	const day = 24 * time.Hour
	times := map[string]any{
		"0": time.Duration(0), "0s": time.Duration(0), "86400s": day, "1day": day, "14days": 14 * day, "7d": 7 * day, "01d": day, "2weeks": 14 * day, "1wk": 7 * day,
		"3years 2months 18h 39m 28s": 3*31_557_600*time.Second + 2*2_630_016*time.Second + 18*time.Hour + 39*time.Minute + 28*time.Second,
		"1h 30m":                     90 * time.Minute, "1h30m": 90 * time.Minute, " 1s": time.Second, "1 s": time.Second, "1.5h": 90 * time.Minute, "1m1m": 2 * time.Minute, "1s1d": day + time.Second,
		"1d\t2h\n3m": 26*time.Hour + 3*time.Minute, "1M": 2_630_016 * time.Second, "1m": time.Minute, "1µs": time.Microsecond, "5 seconds": 5 * time.Second,
		"1nanos": time.Nanosecond, "1millis": time.Millisecond, "300000y": time.Duration(math.MaxInt64), "99999999999999999999y 1d": time.Duration(math.MaxInt64),
		"5": bad, "1S": bad, "-1s": bad, "": bad, "  ": bad, "x": bad, "P7D": bad, "1s,2s": bad, "1.d": bad, ".5d": bad, "1.5.5d": bad, "1e3s": bad, "1_000s": bad, "1Y": bad,
		"1H": bad, "1mon": bad, "1fortnight": bad, "+1d": bad, "1micros": bad, "1 d 2": bad, "s": bad, "1d\xff": bad,
	}
	for s, want := range times {
		d, set, err := Config{"k": s}.Duration("k")
		check(t, s, any(d), set, err, want)
	}
	for _, c := range []Config{nil, {"other": "x"}} {
		_, a, err1 := c.Count("k")
		_, b, err2 := c.Bool("k")
		_, d, err3 := c.Share("k")
		_, e, err4 := c.Duration("k")
		if a || b || d || e || errors.Join(err1, err2, err3, err4) != nil {
			t.Errorf("%v: set %t %t %t %t, errors %v %v %v %v", c, a, b, d, e, err1, err2, err3, err4)
		}
	}
	if _, _, err := (Config{"k": strings.Repeat("x", 1<<20)}).Count("k"); err == nil || len(err.Error()) > 200 {
		t.Errorf("a long value: %d bytes of message", len(err.Error()))
	}
}

func check(t *testing.T, s string, got any, set bool, err error, want any) {
	t.Helper()
	if want == "bad" {
		if !set || !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), "k is ") {
			t.Errorf("%q: %v, set %t, error %v", s, got, set, err)
		}
		return
	}
	if !set || err != nil || got != want {
		t.Errorf("%q: %v, set %t, error %v; want %v", s, got, set, err, want)
	}
}
