package encoding

import (
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
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/slab"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
)

// pagesOf collects the pages of a field that is written, as a file in memory.
type pagesOf struct {
	version table.FileVersion
	columns []*pb.ColumnMetadata
	data    []byte
	held    [][][][]byte
}

func (p *pagesOf) Page(x column.Page) error {
	m := &pb.ColumnMetadata_Page{Length: x.Length, Priority: x.Priority, Encoding: x.Encoding}
	var bufs [][]byte
	for _, b := range x.Buffers {
		pos, _ := p.Blob(b)
		m.BufferOffsets, m.BufferSizes = append(m.BufferOffsets, pos), append(m.BufferSizes, uint64(len(b)))
		bufs = append(bufs, append([]byte(nil), b...))
	}
	p.held[x.Column] = append(p.held[x.Column], bufs)
	return addPage(p.columns[x.Column], m, p.version)
}

func (p *pagesOf) Blob(b []byte) (uint64, error) {
	p.data = append(p.data, make([]byte, (64-len(p.data)%64)%64)...)
	p.data = append(p.data, b...)
	return uint64(len(p.data) - len(b)), nil
}

func (p *pagesOf) Fetch(_ context.Context, spans []datafile.Span) ([][]byte, error) {
	out := make([][]byte, len(spans))
	for i, s := range spans {
		out[i] = p.data[s.Pos:][:s.Size]
	}
	return out, nil
}

// dropped counts bytes.
type dropped struct{ n int }

func (d *dropped) Page(p column.Page) error {
	for _, b := range p.Buffers {
		d.n += len(b)
	}
	return nil
}

func (d *dropped) Blob([]byte) (uint64, error) { return 0, nil }

// benchFamilies are arrays of a page's worth that take different ways.
func benchFamilies() []arrow.Array {
	rnd := rand.New(rand.NewPCG(1, 1))
	const n = 100_000
	of := func(dt arrow.DataType, n int, each func(b array.Builder, i int)) arrow.Array {
		b := array.NewBuilder(memory.DefaultAllocator, dt)
		defer b.Release()
		for i := range n {
			each(b, i)
		}
		return b.NewArray()
	}
	word := func() string { return strings.Fields("a lot of words that come again and again in text")[rnd.IntN(11)] }
	text := func(k int) string {
		s := ""
		for range k {
			s += word() + " "
		}
		return s + fmt.Sprint(rnd.IntN(1000000))
	}
	i64, f64, str := arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Float64, arrow.BinaryTypes.String
	return []arrow.Array{
		of(i64, 8*n, func(b array.Builder, i int) { b.(*array.Int64Builder).Append(int64(i) * 3) }),
		of(i64, 8*n, func(b array.Builder, i int) { b.(*array.Int64Builder).Append(rnd.Int64()) }),
		of(f64, 8*n, func(b array.Builder, i int) {
			if i%9 == 0 {
				b.AppendNull()
			} else {
				b.(*array.Float64Builder).Append(rnd.Float64())
			}
		}),
		of(str, 2*n, func(b array.Builder, i int) { b.(*array.StringBuilder).Append(text(4)) }),
		of(str, n/5, func(b array.Builder, i int) { b.(*array.StringBuilder).Append(text(70)) }),
		of(str, 5*n, func(b array.Builder, i int) { b.(*array.StringBuilder).Append(fmt.Sprint("word", rnd.IntN(40))) }),
		of(arrow.FixedSizeListOf(128, arrow.PrimitiveTypes.Float32), n/6, func(b array.Builder, i int) {
			x := b.(*array.FixedSizeListBuilder)
			x.Append(true)
			for range 128 {
				x.ValueBuilder().(*array.Float32Builder).Append(rnd.Float32())
			}
		}),
		of(arrow.ListOf(arrow.PrimitiveTypes.Int32), 2*n, func(b array.Builder, i int) {
			x := b.(*array.ListBuilder)
			x.Append(true)
			for range i % 9 {
				x.ValueBuilder().(*array.Int32Builder).Append(rnd.Int32N(1000))
			}
		}),
	}
}

var familyNames = []string{"ints packed", "ints flat", "floats null", "strings", "long strings", "few strings", "vectors", "lists"}

// BenchmarkKeep compares rows kept of pages with their decoding and encoding; a tenth of a hundredth of the rows go, here and there.
func BenchmarkKeep(b *testing.B) {
	defer slab.Hold()()
	for i, a := range benchFamilies() {
		for _, v := range []table.FileVersion{table.V2_0, table.V2_2} {
			if v == table.V2_0 && familyNames[i] == "lists" {
				continue
			}
			next := 0
			schema := arrow.NewSchema([]arrow.Field{{Name: "f", Type: a.DataType(), Nullable: true}}, nil)
			field := benchField(schema.Field(0), v, &next)
			columns, err := newColumns([]column.Field{field}, next, v)
			if err != nil {
				b.Fatal(err)
			}
			p := &pagesOf{version: v, columns: columns, held: make([][][][]byte, next)}
			w, err := NewFieldWriter(field, v, p, column.WriteOptions{})
			if err != nil {
				b.Fatal(err)
			}
			if err := w.Append(a, 0, a.Len()); err != nil {
				b.Fatal(err)
			}
			if err := w.Flush(); err != nil {
				b.Fatal(err)
			}
			major, minor := Footer(v)
			f := &datafile.File{Major: uint32(major), Minor: uint32(minor), Descriptor: &pb.FileDescriptor{Length: uint64(a.Len())}, Columns: p.columns, DataEnd: uint64(len(p.data))}
			rnd := rand.New(rand.NewPCG(2, 2))
			for _, holes := range []string{"0.1%", "5%"} {
				var keep []column.Range
				n := uint64(a.Len())
				if holes == "5%" {
					keep = []column.Range{{From: 0, To: n / 2}, {From: n/2 + n/20, To: n}}
				} else {
					for at := uint64(0); at < n; {
						to := min(n, at+1+rnd.Uint64N(2000))
						keep = append(keep, column.Range{From: at, To: to})
						at = to + 1
					}
				}
				name := fmt.Sprintf("%s %s %s", familyNames[i], v, holes)
				kept := 0
				b.Run(name+"/keep", func(b *testing.B) {
					b.SetBytes(int64(len(p.data)))
					b.ReportAllocs()
					for b.Loop() {
						d, mem := new(dropped), slab.Arena{}
						for c := range p.columns {
							row := uint64(0)
							for k, m := range p.columns[c].Pages {
								out, ok, err := Keep(v, m, p.held[c][k], within(keep, row, m.GetLength()), 1<<30, &mem)
								if err != nil || !ok {
									b.Fatal(ok, err)
								}
								row += m.GetLength()
								for _, x := range out {
									_ = d.Page(x)
								}
								mem.Free()
							}
						}
						kept = d.n
					}
				})
				b.Run(name+"/anew", func(b *testing.B) {
					b.SetBytes(int64(len(p.data)))
					b.ReportAllocs()
					for b.Loop() {
						d := new(dropped)
						r, err := Open(f, field)
						if err != nil {
							b.Fatal(err)
						}
						w, err := NewFieldWriter(field, v, d, column.WriteOptions{})
						if err != nil {
							b.Fatal(err)
						}
						all, err := r.Read(b.Context(), p, 0, n, 1<<32)
						if err != nil {
							b.Fatal(err)
						}
						for _, k := range keep {
							if err := w.Append(all, int(k.From), int(k.To)); err != nil {
								b.Fatal(err)
							}
						}
						if err := w.Flush(); err != nil {
							b.Fatal(err)
						}
						if kept > 0 {
							b.ReportMetric(float64(kept)/float64(d.n), "kept/anew")
						}
					}
				})
			}
		}
	}
}

func benchField(f arrow.Field, v table.FileVersion, next *int) column.Field {
	out := column.Field{Name: f.Name, Type: f.Type, Nullable: f.Nullable, Column: column.Absent}
	if l, ok := f.Type.(*arrow.ListType); ok {
		if v == table.V2_0 {
			out.Column = *next
			*next++
		}
		out.Children = []column.Field{benchField(l.ElemField(), v, next)}
		return out
	}
	out.Column = *next
	*next++
	return out
}
