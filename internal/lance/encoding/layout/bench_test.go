package layout

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
)

// memorySource hands out slices of a file in memory.
type memorySource []byte

func (s memorySource) Fetch(_ context.Context, spans []datafile.Span) ([][]byte, error) {
	out := make([][]byte, len(spans))
	for i, sp := range spans {
		out[i] = s[sp.Pos : sp.Pos+sp.Size : sp.Pos+sp.Size]
	}
	return out, nil
}

// BenchmarkScan reads every column of every file in batches of 8192 rows, as a scan would.
func BenchmarkScan(b *testing.B) {
	for _, rf := range realFiles(b) {
		data, err := os.ReadFile(filepath.Join(realDir(), rf.name))
		if err != nil {
			b.Fatal(err)
		}
		next := 0
		for _, f := range rf.want.Schema().Fields() {
			r, err := Open(rf.file, fieldOf(f, &next))
			if err != nil {
				b.Fatal(err)
			}
			b.Run(rf.name+"/"+f.Name, func(b *testing.B) {
				b.ReportAllocs()
				size := int64(0)
				for b.Loop() {
					size = 0
					for from := uint64(0); from < r.Rows(); from += 8192 {
						a, err := r.Read(b.Context(), memorySource(data), from, min(from+8192, r.Rows()), 1<<30)
						if err != nil {
							b.Fatal(err)
						}
						size += sizeOf(a)
						a.Release()
					}
				}
				b.SetBytes(size)
				b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N), "ms/scan")
			})
		}
	}
}
