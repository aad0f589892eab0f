package cleanup

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/seaweedfs/seaweed-lance/internal/lance/journal"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
	"github.com/seaweedfs/seaweed-lance/internal/objects/faultstore"
)

// What one look tells about another policy is what a look for that one says.
func TestRefine(t *testing.T) {
	retains := []time.Duration{0, 5 * time.Hour, 9*time.Hour + 1, 100 * time.Hour}
	told := 0
	for name, prepare := range map[string]func(w *world){
		"plain":             nil,
		"the oldest tagged": func(w *world) { w.tag("a", 1) },
		"a young one":       func(w *world) { w.tag("a", 9) },
		"branched":          func(w *world) { w.branch("b").append() },
		"a job ended":       func(w *world) { died(t, w, journal.Rewrite, 77) },
		"seven of its own":  func(w *world) { w.config("lance.auto_cleanup.retain_versions", "7") },
		"six hours":         func(w *world) { w.config("lance.auto_cleanup.older_than", "6h") },
		"own, and tagged": func(w *world) {
			w.config("lance.auto_cleanup.retain_versions", "4", "lance.auto_cleanup.older_than", "8h")
			w.tag("a", 1)
		},
	} {
		w := hourly(t, table.NamingV2, prepare)
		for _, keepA := range []int{0, 3, 9, 10} {
			for _, keepB := range []int{1, 5, 10, 20} {
				for _, a := range retains {
					for _, b := range retains {
						first, err := Look(t.Context(), w.s, Looking{MinVersions: keepA, Retain: a, Now: start})
						if err != nil {
							t.Fatal(err)
						}
						in := Looking{MinVersions: keepB, Retain: b, Now: start}
						s := faultstore.New(w.s, nil)
						got, ok, err := first.Refine(t.Context(), s, in)
						if err != nil {
							t.Fatal(err)
						}
						if n := s.Count(faultstore.List); n > 2 {
							t.Errorf("%s: %d listings", name, n)
						}
						if !ok {
							continue
						}
						told++
						want, err := Look(t.Context(), w.s, in)
						if err != nil {
							t.Fatal(err)
						}
						p := Policy{Retain: b, MinVersions: keepB}
						for _, later := range []time.Duration{0, 4 * time.Hour, 200 * time.Hour} {
							now := start.Add(later)
							if got.At(p, now) != want.At(p, now) || got.Stale(p, now) != want.Stale(p, now) {
								t.Errorf("%s, from %d/%s to %d/%s after %s:\n%+v, stale %v; a look says\n%+v, %v", name, keepA, a, keepB, b, later,
									got.At(p, now), got.Stale(p, now), want.At(p, now), want.Stale(p, now))
							}
						}
					}
				}
			}
		}
	}
	if told < 5*4*4*16/3 {
		t.Errorf("only %d were told", told)
	}
}

func TestRefineFails(t *testing.T) {
	w := hourly(t, table.NamingV2, nil)
	f, err := Look(t.Context(), w.s, Looking{MinVersions: 2, Retain: 100 * time.Hour, Now: start})
	if err != nil {
		t.Fatal(err)
	}
	boom := errors.New("boom")
	for i := 1; i <= 2; i++ {
		n := 0
		s := faultstore.New(w.s, func(faultstore.Call) faultstore.Action {
			if n++; n == i {
				return faultstore.Fail(boom)
			}
			return faultstore.Pass
		})
		if _, ok, err := f.Refine(t.Context(), s, Looking{MinVersions: 1, Now: start}); ok || !errors.Is(err, boom) {
			t.Error(fmt.Errorf("call %d: %v, %w", i, ok, err))
		}
	}
	var none objects.Store
	if _, ok, err := f.Refine(t.Context(), none, Looking{MinVersions: 1, Retain: 50 * time.Hour, Now: start}); !ok || err != nil {
		t.Errorf("nothing has to be read: %v, %v", ok, err)
	}
}
