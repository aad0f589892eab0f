package layout

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/slab"
)

// Chunks before the first row that goes are copied, as are those behind whole chunks that go.
func TestKeepCopies(t *testing.T) {
	defer slab.Hold()() // what uses memory after it was given back finds other bytes in it
	const n = 140_000
	rnd := rand.New(rand.NewPCG(4, 4))
	of := func(dt arrow.DataType, each func(b array.Builder, i int)) arrow.Array {
		b := array.NewBuilder(memory.DefaultAllocator, dt)
		defer b.Release()
		for i := range n {
			if i%1000 == 7 {
				b.AppendNull()
				continue
			}
			each(b, i)
		}
		return b.NewArray()
	}
	for name, a := range map[string]arrow.Array{
		"inline bit-packing": of(arrow.PrimitiveTypes.Int64, func(b array.Builder, i int) { b.(*array.Int64Builder).Append(int64(i) * 1000) }),
		"flat":               of(arrow.PrimitiveTypes.Int32, func(b array.Builder, i int) { b.(*array.Int32Builder).Append(int32(rnd.Uint32())) }),
		"fsst": of(arrow.BinaryTypes.String, func(b array.Builder, i int) {
			b.(*array.StringBuilder).Append(fmt.Sprint("one of many values, ", i*7919%n, strings.Repeat(" and more", i%3)))
		}),
		"dictionary": of(arrow.BinaryTypes.String, func(b array.Builder, i int) { b.(*array.StringBuilder).Append(fmt.Sprint("word ", rnd.IntN(3000))) }),
		"rle":        of(arrow.PrimitiveTypes.Int32, func(b array.Builder, i int) { b.(*array.Int32Builder).Append(int32(i/50 + i%100/99)) }),
	} {
		for _, minor := range []int{1, 2} {
			f := arrow.Field{Name: "f", Type: a.DataType(), Nullable: true}
			r, file := written(t, f, a, minor, column.WriteOptions{PageBytes: 1 << 30}, 1)
			if p := r.Pages(); len(p) != 1 || !strings.Contains(p[0].Encoding, name) {
				t.Fatalf("%s: %v", name, p)
			}
			next := 0
			field := fieldOf(f, &next)
			for _, keep := range [][]column.Range{
				{{From: 0, To: 131072}},                             // whole chunks, whatever their size is
				{{From: 0, To: 100_000}, {From: 100_001, To: n}},    // a row
				{{From: 0, To: 65536}, {From: 131072, To: n}},       // whole chunks
				{{From: 65536, To: n}},                              //
				{{From: 0, To: n - 1}},                              //
				{{From: 3, To: n}},                                  //
				{{From: 0, To: 4096}, {From: 100_000, To: 100_001}}, //
			} {
				out, after, ok := keptField(t, r.(*reader), field, file.data, keep, minor)
				if !ok {
					if keep[0].To == 4096 {
						continue // too little to be worth it
					}
					t.Fatalf("%s, %v: not done", name, keep)
				}
				checkKept(t, out, after, a, keep, rnd)
				before, now := file.columns[0].Pages[0], after.columns[0].Pages[0]
				same := 0
				x := file.data[before.BufferOffsets[1]:][:before.BufferSizes[1]]
				y := after.data[now.BufferOffsets[1]:][:now.BufferSizes[1]]
				for same < min(len(x), len(y)) && x[same] == y[same] {
					same++
				}
				if to := int(keep[0].To); keep[0].From == 0 && same < len(x)*(to-8192)/n && len(x) > largePacked {
					t.Errorf("%s, %v: only %d bytes of %d are as they were", name, keep, same, len(x))
				}
				if len(keep) == 2 && keep[1].From == 131072 && len(x) > largePacked {
					if tail := x[len(x)-len(x)/30:]; !bytes.HasSuffix(y, tail) {
						t.Errorf("%s, %v: the last chunks are not as they were", name, keep)
					}
				}
			}
		}
	}
}
