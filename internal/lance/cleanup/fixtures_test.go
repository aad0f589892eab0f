package cleanup

import (
	"context"
	"os"
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

// start is when tests begin, by the clock of everything in them.
var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func clock() time.Time { return start }

// The tables of testdata, and stores of tests with their clock.
func fixtures(tb testing.TB) []string                        { return lancetest.Tables(tb) }
func copyOf(tb testing.TB, name string) *dirstore.Store      { return lancetest.Copy(tb, name, clock) }
func dirStore(tb testing.TB, dir string) *dirstore.Store     { return lancetest.Dir(tb, dir, clock) }
func again(tb testing.TB, s *dirstore.Store) *dirstore.Store { return lancetest.Again(tb, s, clock) }
func files(tb testing.TB, s *dirstore.Store) []string        { return lancetest.Files(tb, s) }

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
