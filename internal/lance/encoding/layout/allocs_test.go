package layout

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
)

// What a read allocates does not grow with its rows: no allocation per value or chunk. Growing
// buffers may take a step more.
func TestAllocationsAreConstant(t *testing.T) {
	if raceDetector {
		t.Skip("under the race detector pools lose things on purpose")
	}
	const steps = 12
	for _, rf := range realFiles(t) {
		if !strings.HasPrefix(rf.name, "chunks") && !strings.HasPrefix(rf.name, "flat_nulls") {
			continue
		}
		data, err := os.ReadFile(filepath.Join(realDir(), rf.name))
		if err != nil {
			t.Fatal(err)
		}
		next := 0
		for _, f := range rf.want.Schema().Fields() {
			r, err := Open(rf.file, fieldOf(f, &next))
			if err != nil {
				t.Fatal(err)
			}
			page := pageRows(r.Pages())
			if page < 1000 {
				continue
			}
			count := func(rows uint64) float64 {
				return testing.AllocsPerRun(20, func() {
					a, err := r.Read(t.Context(), memorySource(data), 0, rows, 1<<30)
					if err != nil {
						t.Fatal(err)
					}
					a.Release()
				})
			}
			few, many := count(page/16), count(page)
			t.Logf("%s/%s: %v allocations for %d rows, %v for %d", rf.name, f.Name, few, page/16, many, page)
			if many > few+steps {
				t.Errorf("%s/%s: %v allocations for %d rows, %v for %d", rf.name, f.Name, few, page/16, many, page)
			}
		}
	}
}

// pageRows is how many rows the first page has that is first in its column.
func pageRows(pages []column.PageInfo) uint64 {
	if len(pages) == 0 {
		return 0
	}
	return pages[0].Rows
}
