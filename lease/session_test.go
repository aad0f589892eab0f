package lease

import (
	"errors"
	"os"
	"slices"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/session"
)

// What a session opens can be leased; equal versions are one key, however they were opened.
func TestSessionTable(t *testing.T) {
	w := newWorld(t, nil)
	s, err := session.New(session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	here := session.Directory(w.s.String())
	newest, err := s.Open(t.Context(), here)
	if err != nil {
		t.Fatal(err)
	}
	again, err := s.OpenVersion(t.Context(), here, newest.Version())
	if err != nil {
		t.Fatal(err)
	}
	old, err := s.OpenVersion(t.Context(), here, 2)
	if err != nil {
		t.Fatal(err)
	}
	var leases []*Lease
	for _, tab := range []*session.Table{newest, again, old} {
		le, err := w.l.Take(t.Context(), tab)
		if err != nil {
			t.Fatal(err)
		}
		leases = append(leases, le)
	}
	if leases[0].Tag() != leases[1].Tag() {
		t.Errorf("%s and %s for one version", leases[0].Tag(), leases[1].Tag())
	}
	tags, err := table.Tags(t.Context(), w.s)
	if err != nil || !slices.Contains(tags, table.Tag{Name: leases[0].Tag(), Version: newest.Version()}) ||
		!slices.Contains(tags, table.Tag{Name: leases[2].Tag(), Version: 2}) || len(tags) != 3 {
		t.Errorf("%v, error %v", tags, err)
	}
	for _, le := range leases {
		le.Release()
	}
	w.clock.Advance(releaseDelay)
	w.wantTags("released")

	// The version goes, and the session does not know of it: its caches would say yes.
	naming := table.NamingV2
	if err := os.Remove(w.path(naming.ManifestName(2))); err != nil {
		t.Fatal(err)
	}
	if _, err := w.l.Take(t.Context(), old); !errors.Is(err, session.ErrGone) {
		t.Errorf("error %v", err)
	}
	w.wantTags("gone")
	// The whole directory.
	if err := os.RemoveAll(w.s.String()); err != nil {
		t.Fatal(err)
	}
	if _, err := w.l.Take(t.Context(), newest); !errors.Is(err, ErrGone) {
		t.Errorf("error %v", err)
	}
	if _, err := os.Stat(w.s.String()); !os.IsNotExist(err) {
		t.Errorf("the directory is back: %v", err)
	}
}
