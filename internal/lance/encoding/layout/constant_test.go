package layout

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
)

// countingSource counts the bytes that are asked for.
type countingSource struct {
	memorySource
	bytes, most uint64
}

func (s *countingSource) Fetch(ctx context.Context, spans []datafile.Span) ([][]byte, error) {
	n := uint64(0)
	for _, x := range spans {
		n += x.Size
	}
	s.bytes, s.most = s.bytes+n, max(s.most, n)
	return s.memorySource.Fetch(ctx, spans)
}

// leavesInLists makes lists of structs of which all leaves are null.
func leavesInLists(rows, leaves int, lengths func() int) arrow.Array {
	fields := make([]arrow.Field, leaves)
	for i := range fields {
		fields[i] = arrow.Field{Name: fmt.Sprint(i), Type: arrow.PrimitiveTypes.Int32, Nullable: true}
	}
	b := array.NewListBuilder(memory.DefaultAllocator, arrow.StructOf(fields...))
	defer b.Release()
	s := b.ValueBuilder().(*array.StructBuilder)
	for range rows {
		n := lengths()
		if b.Append(n >= 0); n < 0 {
			continue
		}
		for range n {
			s.Append(true)
			for i := range leaves {
				s.FieldBuilder(i).AppendNull()
			}
		}
	}
	return b.NewArray()
}

// Pages of which only levels take space are read on from where they were read to: in batches they take about as many bytes as at once,
// however many leaves there are, and little memory.
func TestConstantPagesInBatches(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 5))
	for name, lengths := range map[string]func() int{
		"null or empty": func() int { return rnd.IntN(2) - 1 },
		"null":          func() int { return -1 },
		"some":          func() int { return rnd.IntN(5) - 1 },
		"long": func() int {
			if rnd.IntN(5000) > 0 {
				return 0
			}
			return 20_000
		},
	} {
		const rows, leaves, batch = 60_000, 40, 1_000
		a := leavesInLists(rows, leaves, lengths)
		for minor := 1; minor <= 2; minor++ {
			if minor == 1 && (name == "some" || name == "long") {
				continue // nulls in lists are values there
			}
			f := arrow.Field{Name: "l", Type: a.DataType(), Nullable: true}
			r, file := written(t, f, a, minor, column.WriteOptions{}, 1)
			for _, p := range r.Pages() {
				if !strings.HasPrefix(p.Layout, "constant") {
					t.Fatalf("%s: %+v", name, p)
				}
			}
			src := &countingSource{memorySource: file.data}
			for from := uint64(0); from < rows; from += batch {
				got, err := r.Read(t.Context(), src, from, from+batch, 8<<20)
				if err != nil {
					t.Fatalf("%s in 2.%d, row %d: %v", name, minor, from, err)
				}
				for i := range got.Len() {
					if i%97 > 0 && got.Len() > 1 {
						continue
					}
					if w, g := render(nil, a, int(from)+i), render(nil, got, i); !bytes.Equal(w, g) {
						t.Fatalf("%s in 2.%d, row %d is %q, want %q", name, minor, int(from)+i, clip(g), clip(w))
					}
				}
				got.Release()
			}
			// Repetition levels are looked at twice, and parts begin where levels can be found.
			if most := 12 * uint64(len(file.data)); src.bytes > most {
				t.Errorf("%s in 2.%d: %d bytes of a file of %d", name, minor, src.bytes, len(file.data))
			}
			if held := r.(*reader).pages.held; held > leaves*(keptLevels+1<<14) {
				t.Errorf("%s in 2.%d: pages of %d bytes are kept", name, minor, held)
			}
		}
		a.Release()
	}
}
