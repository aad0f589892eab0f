// Package lancetest hands tests the tables of testdata, which real Lance wrote:
// their names, copies to write to, and what files a copy holds.
package lancetest

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/seaweedfs/seaweed-lance/internal/objects/dirstore"
)

// Root is the directory of testdata. Tests write to copies only.
func Root() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..", "..", "testdata")
}

// Tables are the names of the tables in testdata.
func Tables(tb testing.TB) []string {
	tb.Helper()
	entries, err := os.ReadDir(Root())
	if err != nil {
		tb.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		if _, err := os.Stat(filepath.Join(Root(), e.Name(), "_versions")); err == nil {
			out = append(out, e.Name())
		}
	}
	if len(out) == 0 {
		tb.Fatalf("no table in %s", Root())
	}
	return out
}

// Copy copies a table of testdata. now is the store's clock, the system's when nil.
func Copy(tb testing.TB, name string, now func() time.Time) *dirstore.Store {
	tb.Helper()
	dir := filepath.Join(tb.TempDir(), "table")
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(Root(), name))); err != nil {
		tb.Fatal(err)
	}
	return Dir(tb, dir, now)
}

// Dir is a store in a directory, which is made when it is not there. It is closed
// when the test ends.
func Dir(tb testing.TB, dir string, now func() time.Time) *dirstore.Store {
	tb.Helper()
	s, err := dirstore.New(dir, dirstore.Options{Create: true, NoSync: true, Now: now})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { s.Close() })
	return s
}

// Again makes a copy of a table out of second names for its files, which
// nothing that a store does changes.
func Again(tb testing.TB, s *dirstore.Store, now func() time.Time) *dirstore.Store {
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
	return Dir(tb, to, now)
}

// Files lists all files of a store's directory.
func Files(tb testing.TB, s *dirstore.Store) []string {
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
