package layout

import (
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

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

// BenchmarkWrite writes pages of one type, in bytes of Arrow's. "ratio" is what is written for each of them.
func BenchmarkWrite(b *testing.B) {
	list := arrow.ListOf(arrow.PrimitiveTypes.Int32)
	for _, c := range []struct {
		name string
		dt   arrow.DataType
		v    values
	}{
		{"int64", arrow.PrimitiveTypes.Int64, values{}},
		{"int64 nulls", arrow.PrimitiveTypes.Int64, values{nulls: 4}},
		{"few int64", arrow.PrimitiveTypes.Int64, values{distinct: 50}},
		{"short strings", arrow.BinaryTypes.String, values{}},
		{"long strings", arrow.BinaryTypes.String, values{long: true}},
		{"few strings", arrow.BinaryTypes.String, values{distinct: 50}},
		{"vectors of 128", arrow.FixedSizeListOf(128, arrow.PrimitiveTypes.Float32), values{}},
		{"lists", list, values{nulls: 9}},
		{"lists of structs", arrow.ListOf(arrow.StructOf(arrow.Field{Name: "l", Type: list, Nullable: true})), values{nulls: 9}},
		{"booleans", arrow.FixedWidthTypes.Boolean, values{}},
	} {
		b.Run(c.name, func(b *testing.B) {
			c.v.r = rand.New(rand.NewPCG(1, 1))
			n := 50_000
			if bitsOf(c.dt) > 1000 {
				n = 4000
			}
			a := c.v.array(c.dt, n)
			defer a.Release()
			next := 0
			field := fieldOf(arrow.Field{Name: "f", Type: c.dt, Nullable: true}, &next)
			out := new(nowhere)
			w, err := NewWriter(field, 2, out, column.WriteOptions{PageBytes: 1 << 20})
			if err != nil {
				b.Fatal(err)
			}
			size := column.SizeOf(a.Data())
			b.SetBytes(size)
			b.ReportAllocs()
			total := int64(0)
			for b.Loop() {
				if err := w.Append(a, 0, n); err != nil {
					b.Fatal(err)
				}
				total += size
			}
			if err := w.Flush(); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(out.bytes)/float64(total), "ratio")
		})
	}
}
