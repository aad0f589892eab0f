package session

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
)

// A table that is refused costs a sweep what one does that is unchanged, until it is another version.
func TestRefusedIsRemembered(t *testing.T) {
	for _, c := range []struct {
		name   string
		damage func(w *world)
		want   error
	}{
		{"refused", func(w *world) {
			w.rewrite(func(tab *table.Table) { tab.Manifest().ReaderFeatureFlags |= 1 << 40 })
		}, ErrRefused},
		{"corrupt", func(w *world) {
			for v := uint64(1); v <= 3; v++ {
				if err := writeFile(filepath.Join(w.dir, table.NamingV2.ManifestName(v)), []byte(strings.Repeat("?", 100))); err != nil {
					w.tb.Fatal(err)
				}
			}
		}, ErrCorrupt},
	} {
		t.Run(c.name, func(t *testing.T) {
			now := newClock()
			w := newWorld(t)
			w.put("many_appends", 3)
			c.damage(w)
			s := newSession(t, Options{Now: now.Now})
			check := func(when string, want [3]int64) {
				t.Helper()
				if _, err := s.Recent(t.Context(), w.location()); !errors.Is(err, c.want) {
					t.Errorf("%s: error %v", when, err)
				}
				if got := w.calls(); got != want {
					t.Errorf("%s: calls %v, want %v", when, got, want)
				}
			}
			check("first", [3]int64{1, 1, 1})
			check("again", [3]int64{})
			now.add(Freshness)
			check("a minute later", [3]int64{1, 0, 0})
			if _, err := s.Open(t.Context(), w.location()); !errors.Is(err, c.want) || w.calls() != [3]int64{1, 0, 0} {
				t.Errorf("opened with error %v", err)
			}
			now.add(refusedFor)
			check("an hour later", [3]int64{1, 1, 1})
			check("an hour later, again", [3]int64{})
			w.grow("many_appends", 4, 4)
			if tab, err := s.Open(t.Context(), w.location()); err != nil || tab.Version() != 4 {
				t.Errorf("%v, error %v: a version that can be read", tab, err)
			}
			if _, err := s.Recent(t.Context(), w.location()); err != nil {
				t.Errorf("error %v", err)
			}
			w.calls()
			if err := os.Remove(filepath.Join(w.dir, table.NamingV2.ManifestName(4))); err != nil {
				t.Fatal(err)
			}
			now.add(2 * lagTime)
			check("set back", [3]int64{1, 1, 1})
			s.Forget(w.location())
			check("forgotten", [3]int64{1, 1, 1})
		})
	}
}

// A store that does not answer is no refusal.
func TestFailureIsNoRefusal(t *testing.T) {
	s := newSession(t, Options{})
	s.refuse("key", table.VersionRef{Name: "n", Token: "t"}, errors.New("no answer"))
	s.refuse("key", table.VersionRef{Name: "n"}, ErrRefused)
	if err := s.refused("key", table.VersionRef{Name: "n", Token: "t"}); err != nil {
		t.Errorf("error %v", err)
	}
	if err := s.recentlyRefused("key"); err != nil {
		t.Errorf("error %v", err)
	}
}
