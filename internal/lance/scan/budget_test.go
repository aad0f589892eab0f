package scan

import (
	"context"
	"errors"
	"sync"
	"testing"
)

func TestBudget(t *testing.T) {
	b := newBudget(10)
	for _, step := range []struct {
		n, own int64
		ok     bool
	}{{6, 0, true}, {5, 0, false}, {4, 0, true}, {1, 0, false}, {1, 9, false}, {50, 10, true}, {1, 59, false}, {1, 60, true}} {
		if ok := b.try(step.n, step.own); ok != step.ok {
			t.Errorf("%+v: %v with %d in use", step, ok, b.used)
		}
	}
	b = newBudget(10)
	if !b.try(100, 0) {
		t.Error("more than all of it does not pass even alone")
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	reason := errors.New("enough")
	cancel(reason)
	if err := b.acquire(ctx, 1, 0); !errors.Is(err, reason) {
		t.Errorf("error %v", err)
	}
	done := make(chan error)
	go func() { done <- b.acquire(t.Context(), 5, 0) }()
	b.add(-94)
	b.add(-1)
	if err := <-done; err != nil || b.used != 10 {
		t.Errorf("error %v, %d in use", err, b.used)
	}
	go func() { done <- b.acquire(t.Context(), 5, 0) }()
	b.widen(12, 20)
	b.widen(3, 20) // never less
	b.widen(40, 15)
	if err := <-done; err != nil || b.most != 15 {
		t.Errorf("error %v, budget %d", err, b.most)
	}
}

// Reads that come too late make groups and budget grow up to their bounds; others don't.
func TestAdapt(t *testing.T) {
	w := new(waits)
	a := newAhead(40<<20, w, new(sync.WaitGroup))
	step := func(late, asked int64) (group, most int64) {
		w.late.Add(late)
		w.asked.Add(asked)
		a.adapt()
		return a.group >> 20, a.budget.most >> 20
	}
	for _, x := range []struct{ late, asked, group, most int64 }{
		{0, 100, 4, 16},
		{3, 3, 4, 16}, // too few to tell
		{5, 20, 8, 32},
		{1, 20, 8, 32},
		{20, 20, 8, 32},
	} {
		if group, most := step(x.late, x.asked); group != x.group || most != x.most {
			t.Errorf("%+v: groups of %d MiB, %d MiB ahead", x, group, most)
		}
	}
	small := newAhead(1000, w, new(sync.WaitGroup))
	w.late.Add(50)
	w.asked.Add(50)
	small.adapt()
	if small.group > 500 || small.budget.most > 1000 {
		t.Errorf("within 1000 bytes: groups of %d, %d ahead", small.group, small.budget.most)
	}
}
