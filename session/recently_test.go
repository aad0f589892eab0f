package session

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
)

// rows is a fact, and counts how often it was looked for.
func rows(n *atomic.Int64) func(context.Context, *Table) (any, error) {
	return func(_ context.Context, t *Table) (any, error) {
		n.Add(1)
		return t.Rows(), nil
	}
}

// A sweep over many tables that don't change: one listing each per round, whatever number of jobs
// looks, and though few stay open.
func TestSweep(t *testing.T) {
	c := newClock()
	s := newSession(t, Options{Tables: 1, MetadataBytes: -1, Now: c.Now})
	const tables = 20
	var worlds []*world
	var found atomic.Int64
	for range tables {
		w := newWorld(t)
		w.put("types_22", 2)
		worlds = append(worlds, w)
	}
	sweep := func(round string, want [3]int64, wantFound int64, wantRows uint64) {
		t.Helper()
		for range 3 { // jobs
			for _, w := range worlds {
				v, err := s.Recent(t.Context(), w.location())
				if err != nil || v.ETag == "" || v.Time.IsZero() {
					t.Fatalf("%s: %+v, error %v", round, v, err)
				}
				fact, err := s.Fact(t.Context(), w.location(), "rows", rows(&found))
				if err != nil || fact != wantRows {
					t.Fatalf("%s: fact %v, error %v", round, fact, err)
				}
			}
		}
		for _, w := range worlds {
			if got := w.calls(); got[0] > want[0] || got[1] > want[1] || got[2] > want[2] {
				t.Errorf("%s: calls %v, want %v at most", round, got, want)
			}
		}
		if n := found.Swap(0); n != wantFound {
			t.Errorf("%s: %d facts were looked for", round, n)
		}
	}
	sweep("first", [3]int64{1, 2, 2}, tables, 40) // nothing is kept: the manifest is read again for the fact
	c.add(Freshness - 1)
	sweep("at once", [3]int64{}, 0, 40)
	c.add(1)
	sweep("a minute later", [3]int64{1, 0, 0}, 0, 40)
	for _, w := range worlds {
		w.grow("types_22", 3, 3)
	}
	sweep("not yet seen", [3]int64{}, 0, 40)
	c.add(Freshness)
	sweep("appended", [3]int64{2, 2, 2}, tables, 60)
	if x := s.Stats(); x.Tables != 1 || x.Records != tables || x.StartOvers != 0 || x.Moves != tables {
		t.Errorf("%+v", x)
	}
}

// The times of versions are remembered, too.
func TestVersions(t *testing.T) {
	c := newClock()
	w := newWorld(t)
	w.put("many_appends", 9)
	s := newSession(t, Options{Now: c.Now})
	check := func(when string, n int, want [3]int64) {
		t.Helper()
		got, err := s.Versions(t.Context(), w.location())
		if err != nil || len(got) != n {
			t.Fatalf("%s: %d versions, error %v", when, len(got), err)
		}
		first := got[0].Version
		for i, v := range got {
			if v.Version != first+uint64(i) || v.ETag == "" || v.Time.IsZero() {
				t.Errorf("%s: %+v", when, v)
			}
			got[i] = Version{} // the caller's own
		}
		if calls := w.calls(); calls != want {
			t.Errorf("%s: calls %v, want %v", when, calls, want)
		}
	}
	check("first", 9, [3]int64{2, 1, 1})
	check("again", 9, [3]int64{})
	c.add(Freshness)
	check("a minute later", 9, [3]int64{1, 0, 0})
	w.grow("many_appends", 10, 12)
	c.add(Freshness)
	check("appended", 12, [3]int64{3, 1, 1})
	for v := uint64(1); v <= 4; v++ {
		if err := os.Remove(filepath.Join(w.dir, table.NamingV2.ManifestName(v))); err != nil {
			t.Fatal(err)
		}
	}
	c.add(Freshness)
	check("cleaned up", 12, [3]int64{1, 0, 0})
	c.add(listedFor)
	check("an hour later", 8, [3]int64{2, 0, 0})
	s.Forget(w.location())
	check("forgotten", 8, [3]int64{2, 1, 1})
	if x := s.Stats().Metadata; x.Entries != 2 || x.Bytes < 8*versionBytes {
		t.Errorf("a manifest and a list: %+v", x)
	}
	// It counts for what may be kept at all.
	s = newSession(t, Options{Now: c.Now, MetadataBytes: -1})
	check("nothing is kept", 8, [3]int64{2, 1, 1})
	check("nothing is kept, again", 8, [3]int64{1, 0, 0})
}

// A fact is looked for once at a time, and a failure is not kept.
func TestFact(t *testing.T) {
	w := newWorld(t)
	w.put("types_22", 0)
	s := newSession(t, Options{})
	no := errors.New("no")
	fail := func(context.Context, *Table) (any, error) { return nil, no }
	if _, err := s.Fact(t.Context(), w.location(), "rows", fail); !errors.Is(err, no) {
		t.Errorf("error %v", err)
	}
	var found atomic.Int64
	until := make(chan struct{})
	slow := func(ctx context.Context, tab *Table) (any, error) {
		<-until
		return rows(&found)(ctx, tab)
	}
	var wg, started sync.WaitGroup
	started.Add(20)
	for range 20 {
		wg.Go(func() {
			started.Done()
			if v, err := s.Fact(t.Context(), w.location(), "rows", slow); err != nil || v != uint64(60) {
				t.Errorf("%v, error %v", v, err)
			}
		})
	}
	started.Wait()
	close(until)
	wg.Wait()
	if n := found.Load(); n != 1 {
		t.Errorf("looked for %d times", n)
	}
	if v, err := s.Fact(t.Context(), w.location(), "other", rows(&found)); err != nil || v != uint64(60) || found.Load() != 2 {
		t.Errorf("%v, error %v: another fact is the same", v, err)
	}
}

// The version that was seen less than a minute ago was cleaned up since: the newest is taken.
func TestFactOfAVersionThatWent(t *testing.T) {
	c := newClock()
	w := newWorld(t)
	w.put("many_appends", 3)
	s := newSession(t, Options{MetadataBytes: -1, Now: c.Now})
	if _, err := s.Recent(t.Context(), w.location()); err != nil {
		t.Fatal(err)
	}
	w.grow("many_appends", 4, 5)
	if err := os.Remove(filepath.Join(w.dir, table.NamingV2.ManifestName(3))); err != nil {
		t.Fatal(err)
	}
	c.add(time.Second)
	var found atomic.Int64
	if v, err := s.Fact(t.Context(), w.location(), "rows", rows(&found)); err != nil || v != uint64(125) || found.Load() != 1 {
		t.Errorf("%v, error %v, looked for %d times", v, err, found.Load())
	}
	// Another table has taken its place: the version that was seen is another object there.
	w.put("types_22", 3)
	if _, err := s.Recent(t.Context(), w.location()); err != nil {
		t.Fatal(err)
	}
	w.put("types_21", 3)
	want := "types_21"
	kind := func(_ context.Context, tab *Table) (any, error) { return want, nil }
	if v, err := s.Fact(t.Context(), w.location(), "kind", kind); err != nil || v != want {
		t.Errorf("%v, error %v", v, err)
	}
	if open(t, s, w.location()); s.Stats().StartOvers == 0 {
		t.Errorf("%+v", s.Stats())
	}
	w.drop()
	c.add(time.Second)
	if _, err := s.Fact(t.Context(), w.location(), "other", rows(&found)); !errors.Is(err, ErrNoTable) {
		t.Errorf("error %v", err)
	}
	if _, err := s.Versions(t.Context(), w.location()); !errors.Is(err, ErrNoTable) {
		t.Errorf("error %v", err)
	}
}
