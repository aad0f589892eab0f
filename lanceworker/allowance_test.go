package lanceworker

import (
	"testing"
	"time"
)

func TestAllowance(t *testing.T) {
	c := newClock()
	a := allowance{now: c.now, chance: func() float64 { return 0 }}
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
	}{{0, 0}, {allowanceTime / 2, 250}, {allowanceTime / 2, 250}, {allowanceTime, 500}, {100 * allowanceTime, 500}, {-time.Hour, 500}} {
		c.advance(s.later)
		if n := taken(); n != s.want {
			t.Errorf("%s later: %d, want %d", s.later, n, s.want)
		}
	}
	c.advance(allowanceTime)
	if a.take(501) || !a.take(500) {
		t.Error("more than there is, or less")
	}
	a.grow(3)
	c.advance(allowanceTime)
	if n := taken(); n != allowanceLeast {
		t.Errorf("%d for three tables", n)
	}
}

// Where twice as much is asked for as there is, those who ask last get as much as those who ask first.
func TestAllowanceForAll(t *testing.T) {
	c := newClock()
	n := 0
	a := allowance{now: c.now, chance: func() float64 { n++; return float64(n%10) / 10 }}
	a.grow(10_000)
	var first, last int
	for round := range 10 {
		c.advance(allowanceTime)
		for i := range 1200 {
			if got := a.take(1); got && round > 0 && i < 600 {
				first++
			} else if got && round > 0 {
				last++
			}
		}
	}
	if first > 9*400 || last < 9*150 || first+last > 9*500 {
		t.Errorf("of 500 in each of 9 rounds, %d went to those who asked first, %d to the others", first, last)
	}
}
