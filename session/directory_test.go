package session

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/lance/lancetest"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/location"
)

func TestDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "table")
	l := Directory(dir)
	if l.String() != dir {
		t.Errorf("named %s", l)
	}
	if location.Key(l) != location.Key(Directory(dir+"/.")) || location.Key(l) == location.Key(Directory(dir+"2")) {
		t.Errorf("key %q", location.Key(l))
	}
	s := newSession(t, Options{})
	if _, err := s.Open(t.Context(), l); !errors.Is(err, ErrNoTable) {
		t.Errorf("error %v", err)
	}
	for _, name := range []string{"types_20", "types_21", "types_20"} {
		if err := os.CopyFS(dir, os.DirFS(filepath.Join(lancetest.Root(), name))); err != nil {
			t.Fatal(err)
		}
		if textOf(t, open(t, s, l)) != fresh(t, fixture(name)) {
			t.Errorf("%s: other rows", name)
		}
		// The directory goes elsewhere, with the table in it, and another takes its place.
		if err := os.Rename(dir, filepath.Join(t.TempDir(), "old")); err != nil {
			t.Fatal(err)
		}
	}
}

// A path that is not absolute means the directory that it meant at first.
func TestRelativeDirectory(t *testing.T) {
	t.Chdir(lancetest.Root())
	l := Directory("types_22")
	t.Chdir(t.TempDir())
	s := newSession(t, Options{})
	if tab := open(t, s, l); tab.Version() != 3 || tab.String() != "types_22" {
		t.Errorf("%s of version %d", tab, tab.Version())
	}
}

func TestBases(t *testing.T) {
	for _, path := range []string{"s3://bucket/table", "relative", "file://elsewhere/x", ""} {
		if _, err := openBase(t.Context(), path); !errors.Is(err, ErrRefused) {
			t.Errorf("base %q: error %v", path, err)
		}
	}
	dir := t.TempDir()
	for _, path := range []string{dir, "file://" + filepath.ToSlash(dir)} {
		if s, err := openBase(t.Context(), path); err != nil || s.String() != dir {
			t.Errorf("base %q: %v, error %v", path, s, err)
		}
	}
}

// A shallow clone reads from the directories that it names, where its location allows that.
func TestClone(t *testing.T) {
	from, err := filepath.Abs("../internal/lance/scan/testdata")
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	if err := copyTable(filepath.Join(from, "clone"), w.dir, 0); err != nil {
		t.Fatal(err)
	}
	bases := 0
	w.rewrite(func(tab *table.Table) {
		for _, b := range tab.Manifest().GetBasePaths() {
			b.Path = filepath.Join(from, filepath.Base(b.GetPath()))
			bases++
		}
	})
	s := newSession(t, Options{})
	tab := open(t, s, Directory(w.dir))
	want := textOf(t, tab)
	if tab.Rows() == 0 || bases == 0 || textOf(t, tab) != want {
		t.Errorf("%d rows in %d bases", tab.Rows(), bases)
	}
	if _, err := text(t.Context(), open(t, s, w.location())); !errors.Is(err, ErrRefused) {
		t.Errorf("error %v", err)
	}
}
