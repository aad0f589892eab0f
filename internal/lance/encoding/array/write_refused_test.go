package array

import (
	"errors"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
)

// TestUnwritable refuses types, by name.
func TestUnwritable(t *testing.T) {
	p := arrow.PrimitiveTypes
	of := func(t arrow.DataType) arrow.Field { return arrow.Field{Name: "x", Type: t, Nullable: true} }
	packed := func(t arrow.DataType) column.Field {
		if t == nil {
			return column.Field{Name: "f", Type: arrow.StructOf(), Packed: true}
		}
		return column.Field{Name: "f", Type: arrow.StructOf(of(t)), Packed: true}
	}
	for _, f := range []column.Field{
		field("f", arrow.MapOf(arrow.BinaryTypes.String, p.Int32)),
		field("f", arrow.FixedSizeListOf(2, arrow.BinaryTypes.String)),
		field("f", arrow.FixedSizeListOf(2, arrow.ListOf(p.Int8))),
		field("f", arrow.FixedSizeListOf(2, arrow.StructOf(of(p.Int8)))),
		field("f", &arrow.DictionaryType{IndexType: p.Int8, ValueType: arrow.ListOf(p.Int8)}),
		field("f", arrow.BinaryTypes.StringView),
		field("f", arrow.FixedWidthTypes.MonthDayNanoInterval),
		field("f", &arrow.Decimal64Type{Precision: 5}),
		field("f", arrow.ListViewOf(p.Int8)),
		field("f", arrow.ListOf(arrow.MapOf(arrow.BinaryTypes.String, p.Int32))),
		field("f", &arrow.FixedSizeBinaryType{}),
		packed(arrow.BinaryTypes.String), packed(arrow.FixedWidthTypes.Boolean), packed(arrow.ListOf(p.Int8)), packed(nil),
	} {
		_, err := NewWriter(f, new(sink), column.WriteOptions{})
		if !errors.Is(err, column.ErrUnsupported) || !strings.Contains(err.Error(), "f") {
			t.Errorf("%s: %v", f.Type, err)
		}
	}
	if _, err := NewWriter(column.Field{Name: "f", Type: p.Int8, Column: column.Absent}, new(sink), column.WriteOptions{}); err == nil {
		t.Error("a field without a column")
	}
}

// TestRefusedArrays refuses what the type allows and version 2.0 does not hold, and arrays of other types.
func TestRefusedArrays(t *testing.T) {
	p := arrow.PrimitiveTypes
	one := arrow.Field{Name: "x", Type: p.Int32, Nullable: true}
	structs := arrow.StructOf(one)
	null := func(t arrow.DataType, kid arrow.Array) arrow.Array {
		return array.MakeFromData(array.NewData(t, kid.Len(), []*memory.Buffer{memory.NewBufferBytes([]byte{1})}, []arrow.ArrayData{kid.Data()}, 1, 0))
	}
	ints := integers(p.Int32, []uint64{1, 2}, nil)
	holes := integers(p.Int32, []uint64{1, 2}, []bool{true, false})
	packed := column.Field{Name: "f", Type: structs, Packed: true}
	short := array.MakeFromData(array.NewData(arrow.ListOf(p.Int32), 1, []*memory.Buffer{nil, memory.NewBufferBytes([]byte{0, 0, 0, 0, 9, 0, 0, 0})}, []arrow.ArrayData{ints.Data()}, 0, 0))
	offsets := func(b ...byte) arrow.Array {
		var o []byte
		for _, x := range b {
			o = append(o, x, 0, 0, 0)
		}
		return array.MakeFromData(array.NewData(arrow.BinaryTypes.Binary, len(b)-1, []*memory.Buffer{nil, memory.NewBufferBytes(o), memory.NewBufferBytes(make([]byte, 9))}, nil, 0, 0))
	}
	keys := array.MakeFromData(array.NewDataWithDictionary(&arrow.DictionaryType{IndexType: p.Int32, ValueType: p.Int32}, 2,
		[]*memory.Buffer{nil, ints.Data().Buffers()[1]}, 0, 0, integers(p.Int32, []uint64{1, 2}, nil).Data().(*array.Data)))
	for name, c := range map[string]struct {
		field       column.Field
		array       arrow.Array
		unsupported bool
	}{
		"a null struct":         {field("f", structs), null(structs, ints), true},
		"a null packed struct":  {packed, null(structs, ints), true},
		"a null in one":         {packed, array.MakeFromData(array.NewData(structs, 2, []*memory.Buffer{nil}, []arrow.ArrayData{holes.Data()}, 0, 0)), true},
		"another type":          {field("f", p.Int64), ints, false},
		"another type below":    {field("f", arrow.StructOf(arrow.Field{Name: "x", Type: p.Float32})), array.MakeFromData(array.NewData(structs, 2, []*memory.Buffer{nil}, []arrow.ArrayData{ints.Data()}, 0, 0)), false},
		"too few items":         {field("f", arrow.ListOf(p.Int32)), short, false},
		"offsets that fall":     {field("f", arrow.BinaryTypes.Binary), offsets(0, 5, 3, 8), false},
		"a key without an item": {field("f", keys.DataType()), keys, false},
	} {
		t.Run(name, func(t *testing.T) {
			w, err := NewWriter(c.field, new(sink), column.WriteOptions{})
			if err != nil {
				t.Fatal(err)
			}
			err = w.Append(c.array, 0, min(2, c.array.Len()))
			if err == nil {
				err = w.Flush()
			}
			if err == nil || errors.Is(err, column.ErrUnsupported) != c.unsupported || !strings.HasPrefix(err.Error(), "f") {
				t.Errorf("error %v", err)
			}
			if again := w.Flush(); err != nil && again != err {
				t.Errorf("then %v", again)
			}
		})
	}
}

// full is a sink that takes no more.
type full struct{}

var errFull = errors.New("disk full")

func (full) Page(column.Page) error      { return errFull }
func (full) Blob([]byte) (uint64, error) { return 0, errFull }

func TestSinkFails(t *testing.T) {
	text := array.NewBinaryBuilder(memory.DefaultAllocator, arrow.BinaryTypes.LargeBinary)
	text.Append([]byte("blob"))
	blob := field("f", arrow.BinaryTypes.LargeBinary)
	blob.Blob, blob.Type = true, arrow.StructOf(arrow.Field{Name: "position", Type: arrow.PrimitiveTypes.Uint64}, arrow.Field{Name: "size", Type: arrow.PrimitiveTypes.Uint64})
	ints := integers(arrow.PrimitiveTypes.Int32, []uint64{1, 2}, nil)
	for _, c := range []struct {
		field column.Field
		array arrow.Array
	}{{blob, text.NewArray()}, {field("f", ints.DataType()), ints}} {
		w, err := NewWriter(c.field, full{}, column.WriteOptions{PageBytes: 1})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := w.Append(c.array, 0, 1); !errors.Is(err, errFull) {
				t.Errorf("error %v", err)
			}
		}
	}
}
