package array

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
)

// nowhere takes pages and forgets them.
type nowhere struct{ bytes int64 }

func (n *nowhere) Page(p column.Page) error {
	for _, b := range p.Buffers {
		n.bytes += int64(len(b))
	}
	return nil
}

func (n *nowhere) Blob([]byte) (uint64, error) { return 0, nil }

// benchWrite writes batches again and again.
func benchWrite(b *testing.B, f column.Field, batches []arrow.Array) {
	var n nowhere
	pass := func() {
		w, err := NewWriter(f, &n, column.WriteOptions{})
		if err != nil {
			b.Fatal(err)
		}
		for _, a := range batches {
			if err := w.Append(a, 0, a.Len()); err != nil {
				b.Fatal(err)
			}
		}
		if err := w.Flush(); err != nil {
			b.Fatal(err)
		}
	}
	pass()
	b.SetBytes(n.bytes)
	b.ReportAllocs()
	for b.Loop() {
		pass()
	}
}

// batchesOf random values.
func batchesOf(typ arrow.DataType, nulls float64, few int) []arrow.Array {
	rng := rand.New(rand.NewPCG(1, 1))
	out := make([]arrow.Array, 32)
	for i := range out {
		out[i] = array.MakeFromData(randomArray(rng, typ, benchRows, nulls, few))
	}
	return out
}

func BenchmarkWrite(b *testing.B) {
	p := arrow.PrimitiveTypes
	for _, c := range []struct {
		typ   arrow.DataType
		nulls float64
		few   int
	}{
		{p.Int64, 0, 0}, {p.Int64, 0.1, 0}, {arrow.FixedWidthTypes.Boolean, 0.1, 0},
		{arrow.BinaryTypes.String, 0, 0}, {arrow.BinaryTypes.String, 0.1, 0}, {arrow.BinaryTypes.String, 0, 12}, {arrow.BinaryTypes.String, 0.1, 99},
		{arrow.FixedSizeListOf(128, p.Float32), 0, 0}, {arrow.ListOf(p.Int32), 0.1, 0},
	} {
		b.Run(fmt.Sprintf("%s/nulls=%v/few=%d", c.typ, c.nulls, c.few), func(b *testing.B) {
			benchWrite(b, field("x", c.typ), batchesOf(c.typ, c.nulls, c.few))
		})
	}
	typ := &arrow.DictionaryType{IndexType: p.Int32, ValueType: arrow.BinaryTypes.String}
	one := keyedStrings(typ, 0, 1000, 32*benchRows, 10)
	shared := make([]arrow.Array, 32)
	for i := range shared {
		shared[i] = array.NewSlice(one, int64(i*benchRows), int64((i+1)*benchRows))
	}
	b.Run("dictionary/shared", func(b *testing.B) { benchWrite(b, field("x", typ), shared) })
	var own []arrow.Array
	for i := range 32 {
		own = append(own, keyedStrings(typ, i*10, 1000, benchRows, 10))
	}
	b.Run("dictionary/own", func(b *testing.B) { benchWrite(b, field("x", typ), own) })
}

// TestWriteAllocates little: nothing for each value.
func TestWriteAllocates(t *testing.T) {
	p := arrow.PrimitiveTypes
	text := array.NewStringBuilder(memory.DefaultAllocator)
	for i := range benchRows {
		text.Append(fmt.Sprint("text ", i))
	}
	few := array.NewStringBuilder(memory.DefaultAllocator)
	for i := range benchRows {
		few.Append(fmt.Sprint("text ", i%50))
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for name, a := range map[string]arrow.Array{
		"text": text.NewArray(), "few": few.NewArray(),
		"ints":    array.MakeFromData(randomArray(rng, p.Int64, benchRows, 0.1, 0)),
		"vectors": array.MakeFromData(randomArray(rng, arrow.FixedSizeListOf(8, p.Float32), benchRows, 0.1, 0)),
		"lists":   array.MakeFromData(randomArray(rng, arrow.ListOf(p.Int64), benchRows, 0.1, 0)),
		"keyed":   keyedStrings(&arrow.DictionaryType{IndexType: p.Int32, ValueType: arrow.BinaryTypes.String}, 0, 50, benchRows, 7),
	} {
		w, err := NewWriter(field("x", a.DataType()), new(nowhere), column.WriteOptions{})
		if err != nil {
			t.Fatal(err)
		}
		n := testing.AllocsPerRun(20, func() {
			for range 2 {
				if err := w.Append(a, 0, a.Len()); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
		})
		if n > 120 {
			t.Errorf("%s: %v allocations for %d rows", name, n, 2*a.Len())
		}
		t.Logf("%s: %v allocations", name, n)
	}
}
