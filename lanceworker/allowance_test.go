package lanceworker

import (
	"testing"
	"time"
)

func TestAllowance(t *testing.T) {
	c := newClock()
	a := allowance{now: c.now}
	taken := func() (n int) {
		for a.take(1) {
			n++
		}
		return n
	}
	if n := taken(); n != allowanceLeast {
		t.Errorf("%d at first", n)
	}
	a.grow(10_000)
	for _, s := range []struct {
		later time.Duration
		want  int
	}{{0, 0}, {allowanceTime / 2, 150}, {allowanceTime / 2, 150}, {allowanceTime, 300}, {100 * allowanceTime, 300}, {-time.Hour, 300}} {
		c.advance(s.later)
		if n := taken(); n != s.want {
			t.Errorf("%s later: %d, want %d", s.later, n, s.want)
		}
	}
	c.advance(allowanceTime)
	if a.take(301) || !a.take(300) {
		t.Error("more than there is, or less")
	}
	a.grow(3)
	c.advance(allowanceTime)
	if n := taken(); n != allowanceLeast {
		t.Errorf("%d for three tables", n)
	}
}
