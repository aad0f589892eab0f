package cleanup

import (
	"context"
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

// start is when tests begin, by the clock of everything in them.
var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// fixtureRoot holds tables that real Lance wrote.
const fixtureRoot = "../../../testdata"

// fixtures are the tables of testdata, by name. Tests write to copies only.
func fixtures(tb testing.TB) []string {
	tb.Helper()
	entries, err := os.ReadDir(fixtureRoot)
	if err != nil {
		tb.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		if _, err := os.Stat(filepath.Join(fixtureRoot, e.Name(), table.VersionsDir)); err == nil {
			out = append(out, e.Name())
		}
	}
	if len(out) == 0 {
		tb.Fatalf("no table in %s", fixtureRoot)
	}
	return out
}

func copyOf(tb testing.TB, name string) *dirstore.Store {
	tb.Helper()
	dir := filepath.Join(tb.TempDir(), "table")
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(fixtureRoot, name))); err != nil {
		tb.Fatal(err)
	}
	return dirStore(tb, dir)
}

func dirStore(tb testing.TB, dir string) *dirstore.Store {
	tb.Helper()
	s, err := dirstore.New(dir, dirstore.Options{Create: true, NoSync: true, Now: func() time.Time { return start }})
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
	from, to := s.String(), filepath.Join(tb.TempDir(), "table")
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

func openNewest(tb testing.TB, s objects.Store) *table.Table {
	tb.Helper()
	t, err := table.Open(context.Background(), s)
	if err != nil {
		tb.Fatal(err)
	}
	return t
}

// versions are the numbers of a table's versions.
func versions(tb testing.TB, s objects.Store) (out []uint64) {
	tb.Helper()
	l, err := table.ListVersions(context.Background(), s)
	if err != nil {
		tb.Fatal(err)
	}
	for _, r := range l.Versions {
		out = append(out, r.Version)
	}
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
