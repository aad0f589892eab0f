package table

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
	"github.com/seaweedfs/seaweed-lance/internal/objects/dirstore"
)

// fixture is a table of testdata, which real Lance wrote. Tests read it in
// place, or write to a copy.
type fixture struct {
	name string
	dir  string
}

// fixtures are all tables of testdata.
func fixtures(tb testing.TB) []fixture {
	tb.Helper()
	const root = "../../../testdata"
	var out []fixture
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if _, err := os.Stat(filepath.Join(path, VersionsDir)); err != nil {
			return nil
		}
		rel, err := filepath.Rel(root, path)
		out = append(out, fixture{filepath.ToSlash(rel), path})
		if err != nil {
			return err
		}
		return fs.SkipDir
	})
	if err != nil || len(out) == 0 {
		tb.Fatalf("looking for tables below %s: %d found, %v", root, len(out), err)
	}
	return out
}

// store is the fixture itself, which nothing may be written to.
func (f fixture) store(tb testing.TB) objects.Store { return dirStore(tb, f.dir) }

func dirStore(tb testing.TB, dir string) *dirstore.Store {
	tb.Helper()
	s, err := dirstore.New(dir, dirstore.Options{Create: true, NoSync: true})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { s.Close() })
	return s
}

// open opens the newest version; ok is false for tables that this build refuses.
func (f fixture) open(tb testing.TB) *Table {
	tb.Helper()
	t, err := Open(tb.Context(), f.store(tb))
	if err != nil {
		tb.Fatalf("%s: %v", f.name, err)
	}
	return t
}

// pick returns the first fixtures for which want holds, at most n and at least one.
func pick(tb testing.TB, n int, what string, want func(*Table) bool) []*Table {
	tb.Helper()
	var out []*Table
	for _, f := range fixtures(tb) {
		if t := f.open(tb); want(t) {
			if out = append(out, t); len(out) == n {
				break
			}
		}
	}
	if len(out) == 0 {
		tb.Fatalf("no table of testdata has %s", what)
	}
	return out
}

// manifest is one stored manifest object.
type manifest struct {
	name string // of the table and the object
	ref  VersionRef
	n    Naming
	b    []byte
}

// manifests are all manifest objects of testdata.
func manifests(tb testing.TB) []manifest {
	tb.Helper()
	var out []manifest
	for _, f := range fixtures(tb) {
		s := f.store(tb)
		l, err := ListVersions(tb.Context(), s)
		if err != nil {
			tb.Fatal(err)
		}
		for _, ref := range append(slices.Clone(l.Versions), l.Detached...) {
			out = append(out, manifest{f.name + "/" + ref.Name, ref, l.Naming, read(tb, s, ref.Name)})
		}
	}
	return out
}

func read(tb testing.TB, s objects.Store, name string) []byte {
	tb.Helper()
	b, _, err := objects.ReadAll(context.Background(), s, name, 1<<30)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

func write(tb testing.TB, s objects.Store, name, content string) {
	tb.Helper()
	if err := s.Replace(context.Background(), name, []byte(content)); err != nil {
		tb.Fatal(err)
	}
}

// names lists a directory.
func names(tb testing.TB, s objects.Store, dir string) []string {
	tb.Helper()
	var out []string
	err := objects.All(context.Background(), s, dir, func(e objects.Entry) error {
		out = append(out, e.Name)
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

// says fails the test unless err's text holds all the words.
func says(tb testing.TB, err error, words ...string) {
	tb.Helper()
	for _, w := range words {
		if err == nil || !strings.Contains(err.Error(), w) {
			tb.Errorf("error %v: does not say %q", err, w)
		}
	}
}
