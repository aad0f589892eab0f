package matrix_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects/dirstore"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// full tells whether everything is to be run, or a sample.
func full() bool { return os.Getenv("SEAWEED_LANCE_FULL") == "1" }

// open opens the newest version of the table in a directory.
func open(tb testing.TB, dir string) *table.Table {
	tb.Helper()
	t, err := openTable(tb, dir)
	if err != nil {
		tb.Fatal(err)
	}
	return t
}

func openTable(tb testing.TB, dir string) (*table.Table, error) {
	s, err := dirstore.New(dir, dirstore.Options{NoSync: true})
	if err != nil {
		return nil, err
	}
	tb.Cleanup(func() { s.Close() })
	return table.Open(tb.Context(), s)
}
