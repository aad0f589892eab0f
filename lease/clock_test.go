package lease

import (
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// clock goes when a test says so.
type clock struct {
	mu     sync.Mutex
	now    time.Time
	timers []*timer
}

type timer struct {
	at time.Time
	f  func()
}

func newClock() *clock { return &clock{now: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) After(d time.Duration, f func()) func() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &timer{c.now.Add(d), f}
	c.timers = append(c.timers, t)
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		n := len(c.timers)
		c.timers = slices.DeleteFunc(c.timers, func(x *timer) bool { return x == t })
		return len(c.timers) < n
	}
}

// next takes the timer that is due first, not after the given time.
func (c *clock) next(until time.Time) *timer {
	c.mu.Lock()
	defer c.mu.Unlock()
	first := -1
	for i, t := range c.timers {
		if !t.at.After(until) && (first < 0 || t.at.Before(c.timers[first].at)) {
			first = i
		}
	}
	if first < 0 {
		c.now = until
		return nil
	}
	t := c.timers[first]
	c.timers = slices.Delete(c.timers, first, first+1)
	if t.at.After(c.now) {
		c.now = t.at
	}
	return t
}

// Advance lets time pass and returns when everything has ended that was due in it.
func (c *clock) Advance(d time.Duration) {
	until := c.Now().Add(d)
	for t := c.next(until); t != nil; t = c.next(until) {
		t.f()
	}
}

// set is how many timers are set.
func (c *clock) set() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.timers)
}
