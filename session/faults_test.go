package session

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
	"github.com/seaweedfs/seaweed-lance/internal/objects/faultstore"
)

// operation is one of the things that a session is asked for.
type operation struct {
	name string
	// known brings the table to where the session gets to know it, if it does; changed to where it is
	// when it is asked.
	known, changed func(w *world)
	run            func(ctx context.Context, s *Session, l Location) (string, error)
}

func rowsOf(ctx context.Context, s *Session, l Location) (string, error) {
	tab, err := s.Open(ctx, l)
	if err != nil {
		return "", err
	}
	return text(ctx, tab)
}

func operations() []operation {
	whole := func(w *world) { w.put("configured", 0) }
	before := func(w *world) { w.put("configured", 5) }
	last := func(w *world) { w.grow("configured", 6, 6) }
	fact := func(ctx context.Context, s *Session, l Location) (string, error) {
		f, err := s.Fact(ctx, l, "rows", func(ctx context.Context, t *Table) (any, error) { return text(ctx, t) })
		return fmt.Sprint(f), err
	}
	versions := func(ctx context.Context, s *Session, l Location) (string, error) {
		all, err := s.Versions(ctx, l)
		return fmt.Sprint(all), err
	}
	older := func(ctx context.Context, s *Session, l Location) (string, error) {
		tab, err := s.OpenVersion(ctx, l, 1)
		if err != nil {
			return "", err
		}
		return text(ctx, tab)
	}
	return []operation{
		{"open", nil, whole, rowsOf},
		{"open again", whole, nil, rowsOf},
		{"open what moved", before, last, rowsOf},
		{"open what was made anew", before, func(w *world) { w.put("columns_changed", 0) }, rowsOf},
		{"open by older names", nil, func(w *world) { w.put("v1_names", 0) }, rowsOf},
		{"a version", nil, whole, older},
		{"a version of what moved", before, last, older},
		{"versions", nil, whole, versions},
		{"a fact", nil, whole, fact},
		{"a fact of what moved", before, last, fact},
		{"recent", nil, whole, func(ctx context.Context, s *Session, l Location) (string, error) {
			v, err := s.Recent(ctx, l)
			return fmt.Sprint(v), err
		}},
	}
}

// TestFaultAtEveryCall breaks each call of the store in each way: what was asked for is right or is that
// error, and nothing of it is remembered.
func TestFaultAtEveryCall(t *testing.T) {
	no := errors.New("no")
	faults := []struct {
		name   string
		action faultstore.Action
		// want is the error.
		want error
	}{
		{"fail", faultstore.Fail(no), no},
		{"deny", faultstore.Fail(objects.ErrDenied), ErrDenied},
		{"lose", faultstore.Lose(), faultstore.ErrLost},
		{"short", faultstore.Short(1, no), no},
		{"die", faultstore.Die(), faultstore.ErrDead},
		{"hang", faultstore.Stall(nil), context.Canceled},
	}
	for _, o := range operations() {
		t.Run(o.name, func(t *testing.T) {
			for _, f := range faults {
				points := 0
				for p := range faultstore.Points() {
					points++
					o.broken(t, p, f.name, f.action, f.want)
				}
				if points < 5 {
					t.Errorf("%s at only %d points", f.name, points)
				}
			}
		})
	}
}

// broken does the operation once with a fault at a point.
func (o operation) broken(t *testing.T, p *faultstore.Point, name string, a faultstore.Action, want error) {
	t.Helper()
	w, c := newWorld(t), newClock()
	s := newSession(t, Options{Now: c.Now})
	at := fmt.Sprintf("%s %s call %d", name, p.Phase, p.N)
	if o.known != nil {
		o.known(w)
		if _, err := rowsOf(t.Context(), s, w.location()); err != nil {
			t.Fatal(err)
		}
		c.add(2 * Freshness)
	}
	if o.changed != nil {
		o.changed(w)
	}
	right, err := o.run(t.Context(), newSession(t, Options{}), w.location())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	first := -1
	hook := faultstore.Hook(func(c faultstore.Call) faultstore.Action {
		if first < 0 {
			first = c.N // a store that was opened before has been called before
		}
		c.N -= first
		if !p.Match(c) {
			return faultstore.Pass
		}
		if errors.Is(want, context.Canceled) {
			cancel()
		}
		return a
	})
	w.hook.Store(&hook)
	got, err := o.run(ctx, s, w.location())
	w.hook.Store(nil)
	switch {
	case err == nil && got != right:
		t.Errorf("%s: other than without a fault:\n%s\n%s", at, got, right)
	case err != nil && !p.Reached():
		t.Errorf("%s: without a fault: %v", at, err)
	case err != nil && !errors.Is(err, want):
		t.Errorf("%s: error %v", at, err)
	case errors.Is(err, ErrNoTable), errors.Is(err, ErrGone), errors.Is(err, ErrRefused), errors.Is(err, ErrCorrupt), errors.Is(err, ErrClosed):
		t.Errorf("%s: a fault that passes is %v", at, err)
	case err != nil && strings.Contains(err.Error(), errChanged.Error()):
		t.Errorf("%s: a fault is a change: %v", at, err)
	}
	if name == "die" {
		s.Forget(w.location()) // that store is dead for good
	}
	c.add(2 * Freshness)
	if got, err = o.run(t.Context(), s, w.location()); err != nil || got != right {
		t.Errorf("%s, and afterwards: error %v, or other than without a fault", at, err)
	}
}
