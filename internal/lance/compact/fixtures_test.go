package compact

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
	"github.com/seaweedfs/seaweed-lance/internal/objects/dirstore"
)

// full asks for the long versions of tests.
var full = os.Getenv("SEAWEED_LANCE_FULL") != ""

// now is the time of everything that tests do.
var now = time.Now()

func clock() time.Time { return now }

// fixtureRoot holds tables that real Lance wrote.
const fixtureRoot = "../../../testdata"

// fixtures are the tables of testdata, by name. Tests write to copies only.
func fixtures(tb testing.TB) []string {
	tb.Helper()
	root := fixtureRoot
	entries, err := os.ReadDir(root)
	if err != nil {
		tb.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		if _, err := os.Stat(filepath.Join(root, e.Name(), table.VersionsDir)); err == nil {
			out = append(out, e.Name())
		}
	}
	if len(out) == 0 {
		tb.Fatalf("no table in %s", root)
	}
	return out
}

// copyOf copies a fixture.
func copyOf(tb testing.TB, name string) *dirstore.Store {
	tb.Helper()
	dir := filepath.Join(tb.TempDir(), "table")
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(fixtureRoot, name))); err != nil {
		tb.Fatal(err)
	}
	return dirStore(tb, dir)
}

// copyAt copies a fixture as it was when the given version was the newest. Files
// of later versions are gone, too, and the hint is right.
func copyAt(tb testing.TB, name string, version uint64) *dirstore.Store {
	tb.Helper()
	s := copyOf(tb, name)
	l, err := table.ListVersions(tb.Context(), s)
	if err != nil {
		tb.Fatal(err)
	}
	for _, r := range l.Versions {
		if r.Version > version {
			if err := s.Delete(tb.Context(), r.Name); err != nil {
				tb.Fatal(err)
			}
		}
	}
	for _, r := range l.Detached {
		if err := s.Delete(tb.Context(), r.Name); err != nil {
			tb.Fatal(err)
		}
	}
	if err := os.RemoveAll(filepath.Join(s.String(), "_refs")); err != nil {
		tb.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(s.String(), "tree")); err != nil {
		tb.Fatal(err)
	}
	hint := fmt.Sprintf(`{"version":%d}`, version)
	if err := s.Replace(tb.Context(), table.HintName, []byte(hint)); err != nil {
		tb.Fatal(err)
	}
	for _, f := range orphans(tb, files(tb, s), checkVersions(tb, s)) {
		if err := s.Delete(tb.Context(), f); err != nil {
			tb.Fatal(err)
		}
	}
	return s
}

// versionsOf are the versions of a fixture.
func versionsOf(tb testing.TB, name string) []uint64 {
	tb.Helper()
	l, err := table.ListVersions(tb.Context(), dirStore(tb, filepath.Join(fixtureRoot, name)))
	if err != nil {
		tb.Fatal(err)
	}
	var out []uint64
	for _, r := range l.Versions {
		out = append(out, r.Version)
	}
	return out
}

func dirStore(tb testing.TB, dir string) *dirstore.Store {
	tb.Helper()
	s, err := dirstore.New(dir, dirstore.Options{Create: true, NoSync: true})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { s.Close() })
	return s
}

// again makes a copy of a table out of second names for its files, which
// nothing that a store does changes.
func again(tb testing.TB, s *dirstore.Store) *dirstore.Store {
	tb.Helper()
	from := s.String()
	to := filepath.Join(tb.TempDir(), "table")
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(to, rel), 0o777)
		}
		return os.Link(path, filepath.Join(to, rel))
	})
	if err != nil {
		tb.Fatal(err)
	}
	return dirStore(tb, to)
}

func open(tb testing.TB, s objects.Store) *table.Table {
	tb.Helper()
	t, err := table.Open(context.Background(), s)
	if err != nil {
		tb.Fatal(err)
	}
	return t
}

// files lists all files of a table's directory.
func files(tb testing.TB, s *dirstore.Store) []string {
	tb.Helper()
	var out []string
	err := filepath.WalkDir(s.String(), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(s.String(), path)
		out = append(out, filepath.ToSlash(rel))
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	slices.Sort(out)
	return out
}

// says fails the test unless the text holds all the words.
func says(tb testing.TB, text string, words ...string) {
	tb.Helper()
	for _, w := range words {
		if !strings.Contains(text, w) {
			tb.Errorf("%q does not say %q", text, w)
		}
	}
}
