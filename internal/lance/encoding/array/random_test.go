package array

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
)

// randomArray makes n values of a type, whose buffers have others before and behind them, and any
// bits where a value is null. few tells how many different strings there are; 0 for any number.
func randomArray(rng *rand.Rand, typ arrow.DataType, n int, nulls float64, few int) arrow.ArrayData {
	off := rng.IntN(11)
	all := off + n + rng.IntN(5)
	sto := column.Storage(typ)
	if sto.ID() == arrow.NULL {
		return array.NewData(typ, n, []*memory.Buffer{nil}, nil, n, 0)
	}
	bytes := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(rng.Uint32())
		}
		return b
	}
	valid := bytes((all + 7) / 8)
	count := array.UnknownNullCount
	for i := range all {
		if rng.Float64() >= nulls {
			valid[i/8] |= 1 << (i % 8)
		} else {
			valid[i/8] &^= 1 << (i % 8)
		}
	}
	bitmap := memory.NewBufferBytes(valid)
	if _, ok := sto.(*arrow.StructType); nulls == 0 || ok {
		bitmap, count = nil, 0
	}
	offsets := func(wide bool, most int) ([]byte, int) {
		var b []byte
		end := rng.IntN(3)
		for range all + 1 {
			if wide {
				b = binary.LittleEndian.AppendUint64(b, uint64(end))
			} else {
				b = binary.LittleEndian.AppendUint32(b, uint32(end))
			}
			end += rng.IntN(most + 1)
		}
		return b, end
	}
	data := func(kids []arrow.ArrayData, b ...[]byte) arrow.ArrayData {
		buffers := []*memory.Buffer{bitmap}
		for _, x := range b {
			buffers = append(buffers, memory.NewBufferBytes(x))
		}
		return array.NewData(typ, n, buffers, kids, count, off)
	}
	kid := func(t arrow.DataType, n int) []arrow.ArrayData {
		return []arrow.ArrayData{randomArray(rng, t, n, nulls, few)}
	}
	if bits, ok := fixedBits(sto); ok {
		return data(nil, bytes(int(bitBytes(uint64(all), bits))))
	}
	w, _ := offsetBytes(sto)
	switch t := sto.(type) {
	case *arrow.ListType, *arrow.LargeListType:
		b, end := offsets(w == 8, 4)
		return data(kid(t.(arrow.ListLikeType).Elem(), end), b)
	case *arrow.FixedSizeListType:
		return data(kid(t.Elem(), all*int(t.Len())))
	case *arrow.StructType:
		var out []arrow.ArrayData
		for _, f := range t.Fields() {
			out = append(out, kid(f.Type, all)...)
		}
		return data(out)
	case *arrow.DictionaryType:
		size := 1 + rng.IntN(40)
		bits, _ := fixedBits(t.IndexType)
		keys := bytes(all * int(bits/8))
		for i := range all {
			if nulls == 0 || valid[i/8]>>(i%8)&1 == 1 {
				putKey(keys, int(bits/8), i, uint64(rng.IntN(size)))
			}
		}
		d := randomArray(rng, t.ValueType, size, nulls/2, 0)
		return array.NewDataWithDictionary(typ, n, []*memory.Buffer{bitmap, memory.NewBufferBytes(keys)}, count, off, d.(*array.Data))
	}
	if few > 0 { // strings that come again and again
		words := make([][]byte, few)
		for i := range words {
			words[i] = []byte(strings.Repeat(fmt.Sprint("w", i), i%4))
		}
		var b, text []byte
		for i := range all + 1 {
			if b = binary.LittleEndian.AppendUint64(b, uint64(len(text))); w == 4 {
				b = b[:len(b)-4]
			}
			if i < all {
				text = append(text, words[rng.IntN(few)]...)
			}
		}
		return data(nil, b, text)
	}
	b, end := offsets(w == 8, 12)
	text := bytes(end)
	for i := range text {
		text[i] &= 0x7f // UTF-8 wherever it is cut
	}
	return data(nil, b, text)
}

// writableTypes are all kinds of types, nested in all ways.
func writableTypes() []arrow.Field {
	p := arrow.PrimitiveTypes
	f := func(t arrow.DataType) arrow.Field { return arrow.Field{Name: "x", Type: t, Nullable: true} }
	named := func(n string, t arrow.DataType) arrow.Field { return arrow.Field{Name: n, Type: t, Nullable: true} }
	packed := f(arrow.StructOf(named("a", p.Int32), named("b", p.Uint8), named("c", arrow.FixedSizeListOf(2, arrow.FixedSizeListOf(3, p.Int16))),
		named("d", &arrow.FixedSizeBinaryType{ByteWidth: 5}), named("e", p.Float64)))
	packed.Metadata = arrow.MetadataFrom(map[string]string{"packed": "true"})
	inner := arrow.StructOf(named("a", p.Int32), named("t", arrow.ListOf(arrow.BinaryTypes.String)), named("s", arrow.StructOf(named("b", arrow.FixedWidthTypes.Boolean))))
	out := []arrow.Field{packed}
	for _, t := range []arrow.DataType{
		p.Int8, p.Uint16, p.Float32, p.Int64, arrow.FixedWidthTypes.Float16, arrow.FixedWidthTypes.Boolean, arrow.FixedWidthTypes.Date32, arrow.FixedWidthTypes.Timestamp_us,
		&arrow.Decimal128Type{Precision: 10, Scale: 2}, &arrow.Decimal256Type{Precision: 50, Scale: 2}, &arrow.FixedSizeBinaryType{ByteWidth: 3}, arrow.Null,
		extensions.NewUUIDType(),
		arrow.BinaryTypes.String, arrow.BinaryTypes.Binary, arrow.BinaryTypes.LargeString, arrow.BinaryTypes.LargeBinary,
		arrow.FixedSizeListOf(7, p.Float32), arrow.FixedSizeListOf(3, arrow.FixedWidthTypes.Boolean), arrow.FixedSizeListOf(2, arrow.FixedSizeListOf(3, p.Int16)),
		&arrow.DictionaryType{IndexType: p.Int8, ValueType: arrow.BinaryTypes.String},
		&arrow.DictionaryType{IndexType: p.Uint32, ValueType: arrow.BinaryTypes.LargeBinary},
		&arrow.DictionaryType{IndexType: p.Int16, ValueType: p.Int64},
		arrow.ListOf(p.Int32), arrow.LargeListOf(arrow.BinaryTypes.String), arrow.ListOf(arrow.LargeListOf(p.Int16)), arrow.ListOf(arrow.FixedSizeListOf(3, p.Float32)),
		arrow.ListOf(arrow.Null), arrow.ListOf(&arrow.DictionaryType{IndexType: p.Int32, ValueType: arrow.BinaryTypes.String}),
		arrow.StructOf(), arrow.ListOf(arrow.StructOf()), inner, arrow.ListOf(inner), arrow.StructOf(named("l", arrow.ListOf(arrow.ListOf(inner))), named("f", p.Float64)),
	} {
		out = append(out, f(t))
	}
	return out
}
