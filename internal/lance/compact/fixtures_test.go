package compact

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seaweedfs/seaweed-lance/internal/lance/lancetest"
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

// The tables of testdata, and stores of tests.
func fixtures(tb testing.TB) []string                        { return lancetest.Tables(tb) }
func copyOf(tb testing.TB, name string) *dirstore.Store      { return lancetest.Copy(tb, name, nil) }
func dirStore(tb testing.TB, dir string) *dirstore.Store     { return lancetest.Dir(tb, dir, nil) }
func again(tb testing.TB, s *dirstore.Store) *dirstore.Store { return lancetest.Again(tb, s, nil) }
func files(tb testing.TB, s *dirstore.Store) []string        { return lancetest.Files(tb, s) }

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

func open(tb testing.TB, s objects.Store) *table.Table {
	tb.Helper()
	t, err := table.Open(context.Background(), s)
	if err != nil {
		tb.Fatal(err)
	}
	return t
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

// plainEncoding is the message of columns whose values lie in their pages.
func plainEncoding(tb testing.TB) string {
	tb.Helper()
	return string(message(columnURL, oneField(1, "")).GetDirect().GetEncoding())
}
