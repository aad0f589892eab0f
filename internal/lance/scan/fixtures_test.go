package scan

import (
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/seaweedfs/seaweed-lance/internal/lance/lancetest"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
	"github.com/seaweedfs/seaweed-lance/internal/objects/dirstore"
)

// sharedRoot holds the tables by real Lance that all packages share.
const sharedRoot = "../../../testdata"

// dirOf is where the table lies of which an expectation was made.
func dirOf(name string) string {
	if shared, ok := strings.CutPrefix(name, "shared_"); ok {
		return filepath.Join(sharedRoot, shared)
	}
	return filepath.Join("testdata", strings.TrimSuffix(name, "_bytes"))
}

// fixtureNames are all expectations.
func fixtureNames(tb testing.TB) []string {
	tb.Helper()
	files, err := filepath.Glob("testdata/*.arrow")
	if err != nil || len(files) == 0 {
		tb.Fatalf("%d expectations, error %v", len(files), err)
	}
	var out []string
	for _, f := range files {
		out = append(out, strings.TrimSuffix(filepath.Base(f), ".arrow"))
	}
	return out
}

func dirStore(tb testing.TB, dir string) objects.Store {
	tb.Helper()
	s, err := dirstore.New(dir, dirstore.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { s.Close() })
	return s
}

func openTable(tb testing.TB, s objects.Store) *table.Table {
	tb.Helper()
	t, err := table.Open(tb.Context(), s)
	if err != nil {
		tb.Fatal(err)
	}
	return t
}

func openFixture(tb testing.TB, name string) *table.Table {
	tb.Helper()
	return openTable(tb, dirStore(tb, dirOf(name)))
}

// beside opens bases of the fixtures, whose paths were others when they were made.
func beside(tb testing.TB) func(*pb.BasePath) (objects.Store, error) {
	return func(b *pb.BasePath) (objects.Store, error) {
		dir := filepath.Join("testdata", path.Base(b.GetPath()))
		if _, err := os.Stat(dir); err != nil {
			return nil, err
		}
		return dirStore(tb, dir), nil
	}
}

// everyRowColumn asks for all that can be appended.
func everyRowColumn(o Options) Options {
	o.RowAddress, o.RowID, o.CreatedAt, o.UpdatedAt = true, true, true, true
	return o
}

// scanAll reads a scan to its end.
func scanAll(tb testing.TB, t *table.Table, o Options) (*arrow.Schema, []arrow.RecordBatch, error) {
	tb.Helper()
	s, err := Open(tb.Context(), t, o)
	if err != nil {
		return nil, nil, err
	}
	defer s.Close()
	batches, err := drain(tb, s)
	return s.Schema(), batches, err
}

func drain(tb testing.TB, s *Scan) ([]arrow.RecordBatch, error) {
	tb.Helper()
	var out []arrow.RecordBatch
	for {
		b, err := s.Next(tb.Context())
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		if b.NumRows() == 0 {
			tb.Error("a batch without rows")
		}
		out = append(out, b)
	}
}

// check compares the rows of a scan with rows [from, …) of what is expected.
func check(tb testing.TB, schema *arrow.Schema, batches []arrow.RecordBatch, want arrow.RecordBatch, from, rows int64) {
	tb.Helper()
	got := joined(tb, schema, batches)
	if got.NumRows() != rows {
		tb.Fatalf("%d rows, want %d", got.NumRows(), rows)
	}
	for i, f := range schema.Fields() {
		k := want.Schema().FieldIndices(f.Name)
		if len(k) != 1 {
			tb.Fatalf("column %q is not expected", f.Name)
		}
		w := want.Column(k[0])
		if d := lancetest.Difference(got.Column(i), 0, w, int(from), int(rows)); d != "" {
			tb.Errorf("column %q: %s", f.Name, d)
		}
	}
}
