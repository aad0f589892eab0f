package scan

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
)

// benchRoot names a folder with tables of columns "i", "s", "v" and "l" (integers, strings,
// vectors, lists), of any size: large ones are not part of the repository.
const benchRoot = "SEAWEED_LANCE_SCAN_BENCH"

func benchScan(b *testing.B, t *table.Table, o Options) {
	b.Helper()
	var before, after runtime.MemStats
	var rows, batches, bytes int64
	runtime.ReadMemStats(&before)
	for b.Loop() {
		s, err := Open(b.Context(), t, o)
		if err != nil {
			b.Fatal(err)
		}
		got, err := 0, error(nil)
		for {
			batch, e := s.Next(b.Context())
			if e != nil {
				err = e
				break
			}
			rows += batch.NumRows()
			for _, c := range batch.Columns() {
				bytes += column.SizeOf(c.Data())
			}
			got++
			batch.Release()
		}
		batches += int64(got)
		if err.Error() != "EOF" {
			b.Fatal(err)
		}
		s.Close()
	}
	runtime.ReadMemStats(&after)
	b.SetBytes(bytes / int64(b.N))
	b.ReportMetric(float64(rows)/float64(b.N), "rows/op")
	b.ReportMetric(float64(after.Mallocs-before.Mallocs)/float64(batches), "allocs/batch")
}

// BenchmarkScan scans one column each of prepared tables.
func BenchmarkScan(b *testing.B) {
	root := os.Getenv(benchRoot)
	if root == "" {
		b.Skipf("%s names no folder of tables", benchRoot)
	}
	dirs, err := filepath.Glob(root + "/*/_versions")
	if err != nil {
		b.Fatal(err)
	}
	for _, d := range dirs {
		dir := filepath.Dir(d)
		t := openTable(b, dirStore(b, dir))
		schema, err := t.Schema()
		if err != nil {
			b.Fatal(err)
		}
		for _, f := range schema.Fields {
			b.Run(fmt.Sprintf("%s/%s", filepath.Base(dir), f.Name), func(b *testing.B) {
				benchScan(b, t, Options{Columns: []string{f.Name}})
			})
		}
		b.Run(filepath.Base(dir)+"/all", func(b *testing.B) { benchScan(b, t, Options{}) })
	}
}

// BenchmarkManyFragments scans 40 fragments of 25 rows.
func BenchmarkManyFragments(b *testing.B) {
	benchScan(b, openFixture(b, "shared_many_appends"), Options{})
}

// BenchmarkTypes scans a small table of nearly all types.
func BenchmarkTypes(b *testing.B) {
	for _, name := range []string{"shared_types_20", "shared_types_21", "shared_types_22"} {
		b.Run(name, func(b *testing.B) { benchScan(b, openFixture(b, name), Options{}) })
	}
}
