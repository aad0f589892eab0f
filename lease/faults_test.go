package lease

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
	"github.com/seaweedfs/seaweed-lance/internal/objects/faultstore"
	"github.com/seaweedfs/seaweed-lance/internal/pin"
)

// TestFaultAtEveryCall breaks each call that a lease makes, in each way, and looks at
// what the reader was told, whether it was true, and what is left in the end.
func TestFaultAtEveryCall(t *testing.T) {
	for name, a := range map[string]faultstore.Action{
		"fail":     faultstore.Fail(errBoom),
		"throttle": faultstore.Fail(faultstore.ErrThrottled),
		"denied":   faultstore.Fail(objects.ErrDenied),
		"lose":     faultstore.Lose(),
		"delay":    faultstore.Delay(),
		"short":    faultstore.Short(0, errBoom),
		"die":      faultstore.Die(),
	} {
		t.Run(name, func(t *testing.T) {
			points := 0
			for p := range faultstore.Points() {
				points++
				w := newWorld(t, func(c faultstore.Call) faultstore.Action {
					// Only what a store may say: a call that has been done has
					// not failed, unless its answer was lost.
					if c.Phase == faultstore.After && (name == "fail" || name == "throttle" || name == "denied") && changes(c.Op) {
						p.Match(c)
						return faultstore.Pass
					}
					return p.Hook(a)(c)
				})
				w.faulty(p, name)
			}
			// The reaper's listing and one removal, the tag, the look, the removal.
			if points != 2*5+1 {
				t.Errorf("%d points", points)
			}
		})
	}
}

func changes(op faultstore.Op) bool { return op == faultstore.Publish || op == faultstore.Delete }

// faulty takes a lease and releases it while the point is in the way.
func (w *world) faulty(p *faultstore.Point, name string) {
	w.t.Helper()
	abandoned := w.older("other-5f0c91aa", 48*time.Hour)
	w.tag(abandoned)
	le, err := w.l.pin(w.t.Context(), w.open(0))
	switch {
	case err == nil && le.Pinned():
		if !slices.Contains(w.tags(), le.Tag()) {
			w.t.Errorf("%s at %d %s: pinned by a tag that is not there", name, p.N, p.Phase)
		}
	case err == nil:
		if name != "denied" {
			w.t.Errorf("%s at %d %s: not pinned, and no error", name, p.N, p.Phase)
		}
	case !p.Reached():
		w.t.Errorf("%s: without a fault: %v", name, err)
	case errors.Is(err, ErrGone):
		w.t.Errorf("%s at %d %s: a version that is there is gone: %v", name, p.N, p.Phase, err)
	}
	w.f.Land(w.t.Context())
	if err == nil {
		le.Release()
	}
	w.clock.Advance(time.Minute) // releases, and tries again
	w.f.Land(w.t.Context())
	if !w.f.Dead() {
		if got := w.l.Stats().Held; got != 0 {
			w.t.Errorf("%s at %d %s: %d tags are held", name, p.N, p.Phase, got)
		}
	}
	// Whatever was left behind is reaped by those who come later.
	w.clock.Advance(pin.TTL + time.Minute)
	l := w.process()
	next, err := l.pin(w.t.Context(), w.at(w.s, 1, w.s.String()))
	if err != nil {
		w.t.Fatal(err)
	}
	w.wantTags(name, next.Tag())
}

// A tag whose making is unclear, and that appears later, goes without a reaper.
func TestTagAppearsLate(t *testing.T) {
	w := newWorld(t, faultstore.When(faultstore.On(faultstore.Before, faultstore.Publish, ""), faultstore.Delay()))
	if _, err := w.l.pin(t.Context(), w.open(0)); !errors.Is(err, objects.ErrUnknown) {
		t.Errorf("error %v", err)
	}
	w.f.Land(t.Context())
	if n := len(w.tags()); n != 2 {
		t.Errorf("%d tags", n)
	}
	w.clock.Advance(releaseDelay)
	w.wantTags("after")
	w.wantStats("after", Stats{})
}

// Throttling hurts readers, and leaves nothing in the end.
func TestThrottled(t *testing.T) {
	for seed := range uint64(10) {
		w := newWorld(t, faultstore.Throttle(seed, 0.3))
		taken := 0
		for i := range 40 {
			le, err := w.l.pin(t.Context(), w.open(uint64(i%7)+1))
			if err == nil {
				taken++
				le.Release()
			} else if !errors.Is(err, faultstore.ErrThrottled) {
				t.Error(err)
			}
			w.clock.Advance(time.Duration(i) * time.Second)
		}
		w.clock.Advance(time.Hour)
		if taken == 0 || w.clock.set() != 0 {
			t.Errorf("%d taken, %d timers are left", taken, w.clock.set())
		}
		// At 0.3, 6 tries in a row fail now and then; the rest is the reaper's.
		if n := len(w.tags()) - 1; n > 2 {
			t.Errorf("%d tags are left", n)
		}
	}
}
