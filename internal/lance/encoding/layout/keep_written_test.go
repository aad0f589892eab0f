package layout

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"google.golang.org/protobuf/proto"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/slab"
)

// keptWritten keeps rows of an array that was written. It returns how many bytes that takes and how many the rows do
// when they are written.
func keptWritten(t *testing.T, f arrow.Field, a arrow.Array, minor int, o column.WriteOptions, rnd *rand.Rand) (kept, anew int, how string, ok bool) {
	t.Helper()
	r, file := written(t, f, a, minor, o, 1)
	keep := someRows(rnd, uint64(a.Len()))
	if len(keep) == 0 {
		return 0, 0, "", false
	}
	next := 0
	out, after, ok := keptField(t, r.(*reader), fieldOf(f, &next), file.data, keep, minor)
	if !ok {
		return 0, 0, "", false
	}
	checkKept(t, out, after, a, keep, rnd)
	var parts []arrow.Array
	for _, k := range keep {
		s := array.NewSlice(a, int64(k.From), int64(k.To))
		defer s.Release()
		parts = append(parts, s)
	}
	rows, err := array.Concatenate(parts, memory.DefaultAllocator)
	if err != nil {
		return 0, 0, "", false // of some types
	}
	defer rows.Release()
	other, again := written(t, f, rows, minor, o, 1)
	return size(after), size(again), fmt.Sprintf("%d ranges, %d of %d rows, %v, anew %v", len(keep), column.RowsOf(keep), a.Len(), out.Pages(), other.Pages()), true
}

// size of a file with what its metadata takes.
func size(f *memoryFile) int {
	n := len(f.data)
	for _, c := range f.columns {
		n += proto.Size(c)
	}
	return n
}

// Pages by the writer of this package, of all types of leaves: what is kept are the rows, in hardly more bytes than when they are
// written anew.
func TestKeepLeaves(t *testing.T) {
	defer slab.Hold()() // what uses memory after it was given back finds other bytes in it
	for i, dt := range leafTypes {
		for _, minor := range []int{1, 2} {
			t.Run(fmt.Sprintf("%v 2.%d", dt, minor), func(t *testing.T) {
				done := 0
				for j, v := range []values{{}, {nulls: 3}, {nulls: 1}, {distinct: 1}, {distinct: 9, nulls: 10}, {distinct: 3, long: true}, {long: true}, {long: true, nulls: 4}} {
					v.r = rand.New(rand.NewPCG(uint64(i), uint64(j)))
					for _, n := range []int{1, 10, 400, 5000} {
						if n == 5000 && (v.long && v.distinct == 0 || bitsOf(dt) > 1000) {
							n = 1300
						}
						a := v.array(dt, n)
						for range 3 {
							kept, anew, how, ok := keptWritten(t, arrow.Field{Name: "f", Type: dt, Nullable: true}, a, minor, column.WriteOptions{}, v.r)
							if !ok {
								continue
							}
							done++
							slack := 200 + anew*3/100
							if strings.Contains(how, "fsst") {
								slack += anew / 20 // such strings are much alike: a symbol table knows few of them by heart
							}
							if kept > anew+slack && n > 10 {
								t.Errorf("%d, nulls %d, distinct %d, long %v: %d bytes, anew %d: %s", n, v.nulls, v.distinct, v.long, kept, anew, how)
							}
						}
						a.Release()
					}
				}
				if done < 20 {
					t.Errorf("done %d times", done)
				}
			})
		}
	}
}

// Nested types.
func TestKeepNests(t *testing.T) {
	defer slab.Hold()() // what uses memory after it was given back finds other bytes in it
	done := 0
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 8))
		dt := randomNest(r, 1+r.IntN(4), false)
		v := values{r: r, nulls: []int{0, 3, 10}[r.IntN(3)], distinct: []int{0, 2, 50}[r.IntN(3)], long: r.IntN(3) == 0}
		a := v.array(dt, []int{2, 10, 300, 2000}[r.IntN(4)])
		for range 3 {
			if _, _, _, ok := keptWritten(t, arrow.Field{Name: "f", Type: dt, Nullable: true}, a, 1+r.IntN(2), column.WriteOptions{}, r); ok {
				done++
			}
		}
		a.Release()
	}
	if done < 200 {
		t.Errorf("done %d times", done)
	}
}
