package cleanup

import (
	"errors"
	"slices"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// Whatever lies where an old version's manifest should be: it is understood, or
// nothing is removed.
func FuzzManifest(f *testing.F) {
	for _, name := range fixtures(f) {
		s := copyOf(f, name)
		for _, n := range []table.Naming{table.NamingV1, table.NamingV2} {
			if raw, _, err := objects.ReadAll(f.Context(), s, n.ManifestName(1), 1<<20); err == nil {
				f.Add(raw)
			}
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		w := newWorld(t, table.NamingV2)
		w.append()
		w.append()
		w.merge()
		if err := w.s.Delete(t.Context(), w.n.ManifestName(1)); err != nil {
			t.Fatal(err)
		}
		if err := w.s.Publish(t.Context(), w.n.ManifestName(1), b); err != nil {
			t.Fatal(err)
		}
		before := files(t, w.s)
		res, err := Run(t.Context(), w.s, options(everything))
		if err != nil {
			if !errors.Is(err, table.ErrCorrupt) && !errors.Is(err, table.ErrRefused) {
				t.Errorf("error %v", err)
			}
			if res.Changed || !slices.Equal(files(t, w.s), before) {
				t.Errorf("refused, but something has changed: %+v", res)
			}
		}
		t3, err := table.Open(t.Context(), w.s)
		if err != nil || t3.Version() != 3 {
			t.Errorf("newest %v, error %v", t3, err)
		}
		for _, n := range namesIn(t3, "") {
			if !slices.Contains(files(t, w.s), n) {
				t.Errorf("%s is gone", n)
			}
		}
	})
}
