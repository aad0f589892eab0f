package layout

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"google.golang.org/protobuf/proto"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// memoryFile is a file being written.
type memoryFile struct {
	data    []byte
	columns []*pb.ColumnMetadata
}

func (f *memoryFile) Page(p column.Page) error {
	for len(f.columns) <= p.Column {
		f.columns = append(f.columns, new(pb.ColumnMetadata))
	}
	m := &pb.ColumnMetadata_Page{Length: p.Length, Priority: p.Priority, Encoding: p.Encoding}
	for _, b := range p.Buffers {
		pos, _ := f.Blob(b)
		m.BufferOffsets, m.BufferSizes = append(m.BufferOffsets, pos), append(m.BufferSizes, uint64(len(b)))
	}
	f.columns[p.Column].Pages = append(f.columns[p.Column].Pages, m)
	return nil
}

func (f *memoryFile) Blob(b []byte) (uint64, error) {
	for len(f.data)%datafile.Alignment != 0 {
		f.data = append(f.data, 0)
	}
	f.data = append(f.data, b...)
	return uint64(len(f.data) - len(b)), nil
}

// finish is the file, whose columns below n have pages or not.
func (f *memoryFile) finish(minor int, rows uint64, n int) *datafile.File {
	for len(f.columns) < n {
		f.columns = append(f.columns, new(pb.ColumnMetadata))
	}
	return &datafile.File{Major: 2, Minor: uint32(minor), Descriptor: &pb.FileDescriptor{Length: rows}, Columns: f.columns}
}

// written writes an array in pieces, and returns the file's reader.
func written(t testing.TB, f arrow.Field, a arrow.Array, minor int, o column.WriteOptions, pieces int) (column.Reader, *memoryFile) {
	t.Helper()
	next := 0
	field := fieldOf(f, &next)
	field.Metadata = f.Metadata
	file := new(memoryFile)
	w, err := NewWriter(field, minor, file, o)
	if err != nil {
		t.Fatal(err)
	}
	for from := 0; from < a.Len(); {
		to := min(a.Len(), from+max(1, a.Len()/pieces))
		if err := w.Append(a, from, to); err != nil {
			t.Fatal(err)
		}
		from = to
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if n := w.Held(); n != 0 {
		t.Fatalf("%d bytes are held of a writer that was flushed", n)
	}
	r, err := Open(file.finish(minor, uint64(a.Len()), next), field)
	if err != nil {
		t.Fatal(err)
	}
	return r, file
}

// same reads a file back, whole and in parts.
func same(t testing.TB, r column.Reader, file *memoryFile, want arrow.Array, rnd *rand.Rand) {
	t.Helper()
	for i := range 8 {
		from, to := 0, want.Len()
		if i > 0 && to > 0 {
			from = rnd.IntN(to + 1)
			to = from + rnd.IntN(to-from+1)
		}
		got, err := r.Read(t.Context(), memorySource(file.data), uint64(from), uint64(to), 1<<32)
		if err != nil {
			t.Fatalf("rows %d to %d: %v\n%v", from, to, err, r.Pages())
		}
		for j := range got.Len() {
			if w, g := render(nil, want, from+j), render(nil, got, j); !bytes.Equal(w, g) {
				t.Fatalf("rows %d to %d: row %d is %q, want %q\n%v", from, to, from+j, clip(g), clip(w), r.Pages())
			}
		}
		got.Release()
	}
}

var leafTypes = []arrow.DataType{
	arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64,
	arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64, arrow.FixedWidthTypes.Boolean, arrow.Null,
	arrow.BinaryTypes.String, arrow.BinaryTypes.Binary, arrow.BinaryTypes.LargeString, arrow.BinaryTypes.LargeBinary,
	&arrow.FixedSizeBinaryType{ByteWidth: 3}, &arrow.FixedSizeBinaryType{ByteWidth: 300},
	&arrow.Decimal128Type{Precision: 38, Scale: 2},
	arrow.FixedSizeListOf(4, arrow.PrimitiveTypes.Float32), arrow.FixedSizeListOf(128, arrow.PrimitiveTypes.Float32),
	arrow.FixedSizeListOf(3, arrow.FixedWidthTypes.Boolean), arrow.FixedSizeListOf(2, arrow.FixedSizeListOf(3, arrow.PrimitiveTypes.Int16)),
	&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String},
	&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint32, ValueType: arrow.PrimitiveTypes.Int64},
}

// kind is of which values an array is made.
type values struct {
	r *rand.Rand
	// nulls is how many values there are for each null; 0 for none.
	nulls int
	// distinct values; 0 for any number.
	distinct int
	long     bool
}

func (v values) number() uint64 {
	if v.distinct > 0 {
		return uint64(v.r.IntN(v.distinct)) * 0x9E3779B97F4A7C15
	}
	return v.r.Uint64() >> v.r.IntN(64)
}

func (v values) text(n uint64) []byte {
	b := fmt.Appendf(nil, "%x", n)
	if n%7 == 0 {
		return b[:0]
	}
	if v.long {
		b = bytes.Repeat(b, int(n%60)+1)
	}
	return b
}

func (v values) append(b array.Builder) {
	if v.nulls > 0 && v.r.IntN(v.nulls) == 0 {
		b.AppendNull()
		return
	}
	n := v.number()
	items := func(x array.Builder, n int) {
		for range n {
			v.append(x)
		}
	}
	switch b := b.(type) {
	case *array.Int8Builder:
		b.Append(int8(n))
	case *array.Uint16Builder:
		b.Append(uint16(n))
	case *array.Int16Builder:
		b.Append(int16(n))
	case *array.Int32Builder:
		b.Append(int32(n))
	case *array.Int64Builder:
		b.Append(int64(n))
	case *array.Float32Builder:
		b.Append(float32(n))
	case *array.Float64Builder:
		b.Append(float64(n))
	case *array.BooleanBuilder:
		b.Append(n&1 == 0)
	case *array.NullBuilder:
		b.AppendNull()
	case *array.StringBuilder:
		b.Append(string(v.text(n)))
	case *array.LargeStringBuilder:
		b.Append(string(v.text(n)))
	case *array.BinaryBuilder: // large ones, too
		b.Append(v.text(n))
	case *array.FixedSizeBinaryBuilder:
		w := b.Type().(*arrow.FixedSizeBinaryType).ByteWidth
		b.Append(bytes.Repeat([]byte{byte(n), byte(n >> 8), byte(n >> 16)}, w/3))
	case *array.Decimal128Builder:
		b.Append(decimal128.New(int64(n>>8), n))
	case *array.BinaryDictionaryBuilder:
		if err := b.AppendString(fmt.Sprint(n % 100)); err != nil {
			panic(err)
		}
	case *array.Int64DictionaryBuilder:
		if err := b.Append(int64(n % 300)); err != nil {
			panic(err)
		}
	case *array.StructBuilder:
		b.Append(true)
		for i := range b.NumField() {
			v.append(b.FieldBuilder(i))
		}
	case *array.ListBuilder:
		b.Append(true)
		items(b.ValueBuilder(), v.r.IntN(4))
	case *array.LargeListBuilder:
		b.Append(true)
		items(b.ValueBuilder(), v.r.IntN(4))
	case *array.FixedSizeListBuilder:
		b.Append(true)
		items(b.ValueBuilder(), int(b.Type().(*arrow.FixedSizeListType).Len()))
	case *array.MapBuilder:
		b.Append(true)
		for range v.r.IntN(4) {
			x := v
			x.nulls = 0
			x.append(b.KeyBuilder())
			v.append(b.ItemBuilder())
		}
	default:
		panic(fmt.Sprintf("no values for %T", b))
	}
}

func (v values) array(dt arrow.DataType, n int) arrow.Array {
	b := array.NewBuilder(memory.DefaultAllocator, dt)
	defer b.Release()
	for range n {
		v.append(b)
	}
	return b.NewArray()
}

// What is written of every type of leaf is read back the same, of few and many values, with and without nulls.
func TestWriteLeaves(t *testing.T) {
	for _, dt := range leafTypes {
		for _, minor := range []int{1, 2} {
			t.Run(fmt.Sprintf("%v 2.%d", dt, minor), func(t *testing.T) {
				for i, v := range []values{{}, {nulls: 3}, {nulls: 1}, {distinct: 1}, {distinct: 9, nulls: 10}, {distinct: 3, long: true}, {long: true}, {long: true, nulls: 4}} {
					v.r = rand.New(rand.NewPCG(uint64(i), 1))
					for _, n := range []int{0, 1, 2, 100, 5000} {
						if n == 5000 && bitsOf(dt) > 1000 {
							n = 300
						}
						a := v.array(dt, n)
						f := arrow.Field{Name: "f", Type: dt, Nullable: true}
						r, file := written(t, f, a, minor, column.WriteOptions{PageBytes: 1 << 14}, 1+v.r.IntN(5))
						same(t, r, file, a, v.r)
						a.Release()
					}
				}
			})
		}
	}
}

func bitsOf(dt arrow.DataType) int {
	switch dt := dt.(type) {
	case *arrow.FixedSizeListType:
		return int(dt.Len()) * bitsOf(dt.Elem())
	case arrow.FixedWidthDataType:
		return dt.BitWidth()
	}
	return 0
}

// randomNest is a type of lists, maps and structs.
func randomNest(r *rand.Rand, depth int, inList bool) arrow.DataType {
	child := func(in bool) arrow.Field {
		return arrow.Field{Name: "c", Type: randomNest(r, depth-1, in), Nullable: true}
	}
	switch k := r.IntN(7); {
	case depth == 0 || k == 0:
		return leafTypes[r.IntN(len(leafTypes))]
	case k == 1 || k == 2:
		f := []arrow.Field{child(inList), child(inList)}
		f[1].Name = "d"
		return arrow.StructOf(f[:1+r.IntN(2)]...)
	case k == 3 && !inList:
		if f := child(false); f.Type.ID() == arrow.STRUCT {
			return arrow.FixedSizeListOfField(2, f)
		}
	case k == 4:
		return arrow.LargeListOfField(child(true))
	case k == 5:
		return arrow.MapOf(arrow.BinaryTypes.String, randomNest(r, depth-1, true))
	}
	return arrow.ListOfField(child(true))
}

func TestWriteNests(t *testing.T) {
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 2))
		dt := randomNest(r, 1+r.IntN(4), false)
		v := values{r: r, nulls: []int{0, 3, 10}[r.IntN(3)], distinct: []int{0, 2, 50}[r.IntN(3)], long: r.IntN(3) == 0}
		n := []int{1, 10, 300}[r.IntN(3)]
		whole := v.array(dt, n+5)
		a := array.NewSlice(whole, 3, int64(3+n))
		for _, minor := range []int{1, 2} {
			t.Run(fmt.Sprintf("%d: %v 2.%d", seed, dt, minor), func(t *testing.T) {
				f := arrow.Field{Name: "f", Type: dt, Nullable: true}
				rd, file := written(t, f, a, minor, column.WriteOptions{PageBytes: []int64{100, 5000, 1 << 20}[r.IntN(3)]}, 1+r.IntN(5))
				same(t, rd, file, a, r)
				_, again := written(t, f, a, minor, column.WriteOptions{}, 1)
				_, twice := written(t, f, a, minor, column.WriteOptions{}, 3)
				if !bytes.Equal(again.data, twice.data) {
					t.Error("the bytes depend on how the rows came")
				}
				for i := range again.columns {
					if !proto.Equal(again.columns[i], twice.columns[i]) {
						t.Errorf("the pages of column %d depend on how the rows came", i)
					}
				}
			})
		}
		a.Release()
		whole.Release()
	}
}
