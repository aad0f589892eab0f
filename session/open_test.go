package session

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/lance/lancetest"
)

// What opening costs: at first a listing and the manifest, then a listing of one entry, and
// for a newer version its manifest and a look at the one before.
func TestOpenMoves(t *testing.T) {
	w := newWorld(t)
	w.put("many_appends", 5)
	s := newSession(t, Options{})
	l := w.location()
	first := open(t, s, l)
	if got := w.calls(); got != [3]int64{1, 1, 1} || first.Version() != 5 || first.Rows() != 125 {
		t.Errorf("the first open made calls %v and found version %d of %d rows", got, first.Version(), first.Rows())
	}
	if again := open(t, s, l); again.Version() != 5 || again.ETag() != first.ETag() {
		t.Errorf("version %d", again.Version())
	}
	if got := w.calls(); got != [3]int64{1, 0, 0} {
		t.Errorf("an unchanged table costs calls %v", got)
	}
	w.grow("many_appends", 6, 9)
	next := open(t, s, l)
	if got := w.calls(); got != [3]int64{2, 1, 1} || next.Version() != 9 {
		t.Errorf("moving made calls %v and found version %d", got, next.Version())
	}
	if first.Version() != 5 || first.Rows() != 125 {
		t.Error("an opened version has moved")
	}
	x := s.Stats()
	if x.Opens != 1 || x.Moves != 1 || x.Unchanged != 1 || x.StartOvers != 0 || x.Tables != 1 || x.Records != 1 {
		t.Errorf("%+v", x)
	}
	if x.Metadata.Hits != 1 || x.Metadata.Entries != 2 || x.Metadata.Bytes <= 0 || x.Metadata.Bytes > x.Metadata.Limit {
		t.Errorf("metadata %+v", x.Metadata)
	}
}

// Older manifest names don't sort by version: an unchanged table costs one listing of all.
func TestOlderNames(t *testing.T) {
	w := newWorld(t)
	w.put("v1_names", 0)
	s := newSession(t, Options{})
	want := textOf(t, open(t, s, w.location()))
	w.calls()
	if tab := open(t, s, w.location()); w.calls() != [3]int64{1, 0, 0} || textOf(t, tab) != want {
		t.Error("an unchanged table costs more than a listing, or reads something else")
	}
	w.empty()
	if _, err := s.Open(t.Context(), w.location()); !errors.Is(err, ErrNoTable) {
		t.Errorf("error %v", err)
	}
	w.put("v1_names", 0)
	open(t, s, w.location())
	w.put("types_22", 0) // newer names in its place
	if textOf(t, open(t, s, w.location())) != fresh(t, w.location()) {
		t.Error("other rows")
	}
}

// Scans read footers and column metadata once.
func TestFooterIsReadOnce(t *testing.T) {
	w := newWorld(t)
	w.put("types_22", 0)
	s := newSession(t, Options{})
	tab := open(t, s, w.location())
	files := int64(0)
	for _, f := range tab.Fragments() {
		files += int64(f.Files)
	}
	before := s.Stats().Metadata
	want := textOf(t, tab)
	first := s.Stats().Metadata
	if first.Misses-before.Misses != files || first.Entries-before.Entries != int(files) {
		t.Errorf("%d files: %+v, then %+v", files, before, first)
	}
	if got := textOf(t, open(t, s, w.location())); got != want {
		t.Error("a second scan reads something else")
	}
	if again := s.Stats().Metadata; again.Misses != first.Misses || again.Hits-first.Hits != files+1 {
		t.Errorf("%d files: %+v, then %+v", files, first, again)
	}
}

// Every table of testdata reads as it does without a session, whatever is kept.
func TestTables(t *testing.T) {
	for _, o := range []Options{{}, {IndexBytes: -1, MetadataBytes: -1}, {Tables: 1, IndexBytes: 2000, MetadataBytes: 20_000}} {
		s := newSession(t, o)
		for range 2 {
			for _, name := range lancetest.Tables(t) {
				l := Directory(filepath.Join(lancetest.Root(), name))
				tab := open(t, s, l)
				got, err := text(t.Context(), tab)
				if name == "branched" && err != nil {
					continue // its bases are elsewhere
				}
				if err != nil {
					t.Errorf("%s: %v", name, err)
				}
				if got != fresh(t, l) {
					t.Errorf("%s: other rows", name)
				}
				if tab.String() != l.String() || tab.Time().IsZero() {
					t.Errorf("%s: %s, made %s", name, tab, tab.Time())
				}
				x := s.Stats()
				if x.Metadata.Bytes > max(x.Metadata.Limit, 0) || x.Index.Bytes > max(x.Index.Limit, 0) || x.Tables > max(o.Tables, 1) && o.Tables > 0 {
					t.Errorf("%+v", x)
				}
			}
		}
	}
}

func TestIndexSectionIsKeptApart(t *testing.T) {
	s := newSession(t, Options{})
	l := Directory(filepath.Join(lancetest.Root(), "indexed"))
	names := open(t, s, l).Indices()
	if x := s.Stats(); len(names) == 0 || x.Index.Entries != 1 || x.Index.Bytes == 0 {
		t.Errorf("indices %q, %+v", names, x.Index)
	}
	if again := open(t, s, l).Indices(); !slices.Equal(again, names) || s.Stats().Index.Hits != 1 {
		t.Errorf("indices %q, were %q; %+v", again, names, s.Stats().Index)
	}
	s.index.clear()
	if again := open(t, s, l).Indices(); !slices.Equal(again, names) {
		t.Errorf("indices %q after they were evicted, were %q", again, names)
	}
}

func TestOpenVersion(t *testing.T) {
	w := newWorld(t)
	w.put("many_appends", 0)
	s := newSession(t, Options{})
	for range 2 {
		for v := uint64(1); v <= 40; v++ {
			tab, err := s.OpenVersion(t.Context(), w.location(), v)
			if err != nil {
				t.Fatal(err)
			}
			if tab.Version() != v || tab.Rows() != 25*v {
				t.Errorf("version %d of %d rows, asked for %d", tab.Version(), tab.Rows(), v)
			}
		}
	}
	if x := w.calls(); x[2] != 40 {
		t.Errorf("%d reads of 40 manifests", x[2])
	}
	for _, v := range []uint64{0, 41, 1 << 63} {
		if _, err := s.OpenVersion(t.Context(), w.location(), v); !errors.Is(err, ErrGone) || !strings.Contains(err.Error(), w.dir) {
			t.Errorf("version %d: error %v", v, err)
		}
	}
}

func TestNoTable(t *testing.T) {
	w := newWorld(t)
	s := newSession(t, Options{})
	check := func(when string) {
		t.Helper()
		if _, err := s.Open(t.Context(), w.location()); !errors.Is(err, ErrNoTable) {
			t.Errorf("%s: error %v", when, err)
		}
		if x := s.Stats(); x.Records != 0 || x.Metadata.Entries != 0 {
			t.Errorf("%s: %+v", when, x)
		}
	}
	check("nothing")
	if err := os.Mkdir(w.dir, 0o777); err != nil {
		t.Fatal(err)
	}
	check("an empty directory")
	w.put("types_20", 0)
	open(t, s, w.location())
	w.empty()
	check("a table that was emptied")
	w.put("types_20", 0)
	open(t, s, w.location())
	w.drop()
	check("a table that was dropped")
	if x := s.Stats(); x.StartOvers != 2 {
		t.Errorf("%d start-overs", x.StartOvers)
	}
	if _, err := s.Open(t.Context(), Location{}); err == nil {
		t.Error("no location opens")
	}
}
