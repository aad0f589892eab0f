package faultstore

import (
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// Match selects calls, in one phase of them or both.
type Match func(Call) bool

// On selects calls of one kind whose name begins with prefix.
func On(p Phase, op Op, prefix string) Match {
	return func(c Call) bool {
		return c.Phase == p && c.Op == op && strings.HasPrefix(c.Name, prefix)
	}
}

// NextPage selects listings of dir that go on where an earlier one ended.
func NextPage(p Phase, dir string) Match {
	return func(c Call) bool {
		return c.Phase == p && c.Op == List && c.Name == dir && c.From != ""
	}
}

// When does a with every call that m selects.
func When(m Match, a Action) Hook {
	return func(c Call) Action {
		if m(c) {
			return a
		}
		return Pass
	}
}

// Nth does a with one of the calls that m selects, counted from 0 on.
func Nth(n int, m Match, a Action) Hook {
	var seen atomic.Int64
	return func(c Call) Action {
		if m(c) && seen.Add(1) == int64(n)+1 {
			return a
		}
		return Pass
	}
}

// Chain asks the hooks in turn until one wants something.
func Chain(hooks ...Hook) Hook {
	return func(c Call) Action {
		for _, h := range hooks {
			if a := h(c); a.kind != pass {
				return a
			}
		}
		return Pass
	}
}

// Deny refuses calls of the given kinds as a store without permission does.
func Deny(ops ...Op) Hook {
	return When(func(c Call) bool {
		return c.Phase == Before && slices.Contains(ops, c.Op)
	}, Fail(objects.ErrDenied))
}

// Throttle fails the given share of the calls of the given kinds with
// ErrThrottled. Which ones depends on the seed and the number of the call alone.
// With no kinds given it is all but Write, Copy and Abort: a writer that failed
// can't go on, so that no long object would ever be finished.
func Throttle(seed uint64, share float64, ops ...Op) Hook {
	if len(ops) == 0 {
		ops = []Op{Open, Create, Publish, Replace, Delete, List, Read, Finish}
	}
	return When(func(c Call) bool {
		return c.Phase == Before && slices.Contains(ops, c.Op) &&
			rand.New(rand.NewPCG(seed, uint64(c.N))).Float64() < share
	}, Fail(ErrThrottled))
}

// Point is one moment of a run: before or after its n-th call.
type Point struct {
	N     int
	Phase Phase

	reached atomic.Bool
}

// Points goes through all moments of a run: before call 0, after call 0,
// before call 1, … until a run ends without having reached its point. That
// last one was undisturbed.
func Points() iter.Seq[*Point] { return Every(1) }

// Every goes through each so-manieth of the moments of a run, as Points does through all of them.
func Every(step int) iter.Seq[*Point] {
	return func(yield func(*Point) bool) {
		for n := 0; ; n += step {
			p := &Point{N: n / 2, Phase: []Phase{Before, After}[n%2]}
			if !yield(p) || !p.Reached() {
				return
			}
		}
	}
}

// Match selects the point.
func (p *Point) Match(c Call) bool {
	if c.N != p.N || c.Phase != p.Phase {
		return false
	}
	p.reached.Store(true)
	return true
}

// Hook does a at the point.
func (p *Point) Hook(a Action) Hook { return When(p.Match, a) }

// Reached tells that the run came to the point.
func (p *Point) Reached() bool { return p.reached.Load() }

// Pause stops a process at a point, as SIGSTOP does: from the first call that
// is selected on, all calls are held up until Resume.
type Pause struct {
	match  Match
	stop   sync.Once
	at     chan struct{}
	resume chan struct{}
	once   sync.Once
}

// NewPause makes a pause at the first call that m selects.
func NewPause(m Match) *Pause {
	return &Pause{match: m, at: make(chan struct{}), resume: make(chan struct{})}
}

// Hook is to be given to New.
func (p *Pause) Hook(c Call) Action {
	if p.match(c) {
		p.stop.Do(func() { close(p.at) })
	}
	select {
	case <-p.at:
		return Freeze(p.resume)
	default:
		return Pass
	}
}

// Reached is closed when the process has stopped.
func (p *Pause) Reached() <-chan struct{} { return p.at }

// Resume lets the process go on, for good.
func (p *Pause) Resume() { p.once.Do(func() { close(p.resume) }) }
