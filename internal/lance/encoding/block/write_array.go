package block

import (
	"encoding/binary"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
)

// AppendArray appends the values [from, to) of an array, null or not: the reverse of Array. v has the kind of the
// array's type, or none yet, and takes a copy. Whether values are null is left out, but for the items of fixed-size
// lists; what nulls have in their place becomes the value before, zeros, or no bytes. Types that have no values of their own (lists, dictionaries, null) are column.ErrUnsupported.
func (v *Values) AppendArray(a arrow.Array, from, to int) error {
	if from < 0 || from > to || to > a.Len() {
		return fmt.Errorf("values %d to %d of an array of %d", from, to, a.Len())
	}
	if v.Kind == 0 {
		shape, err := shapeOf(a.DataType())
		if err != nil {
			return err
		}
		if err := v.take(shape); err != nil {
			return err
		}
	}
	var err error
	if v.repeats() {
		if err = v.appendAll(a, from, to); err == nil && a.NullN() > 0 {
			v.nulls(to-from, a.NullBitmapBytes(), a.Data().Offset()+from, v.Repeat)
		}
	} else {
		err = v.appendArray(a, from, to)
	}
	if err != nil {
		return fmt.Errorf("values of type %s: %w", a.DataType(), err)
	}
	return nil
}

// shapeOf is an empty block for values of a type.
func shapeOf(dt arrow.DataType) (*Values, error) {
	switch t := dt.(type) {
	case arrow.ExtensionType:
		return shapeOf(t.StorageType())
	case *arrow.DictionaryType, *arrow.NullType:
	case *arrow.StringType, *arrow.BinaryType, *arrow.LargeStringType, *arrow.LargeBinaryType:
		return &stringShape, nil
	case *arrow.FixedSizeListType:
		items, err := shapeOf(t.Elem())
		if err != nil {
			return nil, err
		}
		return listShape(int(t.Len()), false, items), nil
	case *arrow.StructType:
		s := &Values{Kind: Struct}
		for _, f := range t.Fields() {
			shape, err := shapeOf(f.Type)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", f.Name, err)
			}
			s.Fields = append(s.Fields, shape)
		}
		return s, nil
	case arrow.FixedWidthDataType:
		return &Values{Kind: Fixed, Bits: t.BitWidth()}, nil
	}
	return nil, unsupported("values of type %s", dt)
}

func (v *Values) appendArray(a arrow.Array, from, to int) error {
	if err := v.appendAll(a, from, to); err != nil {
		return err
	}
	if a.NullN() > 0 && v.Kind != Variable {
		v.nulls(to-from, a.NullBitmapBytes(), a.Data().Offset()+from, v.clearRange)
	}
	return nil
}

// appendAll appends values, null or not, as they are.
func (v *Values) appendAll(a arrow.Array, from, to int) error {
	n := to - from
	if v.Limit > 0 {
		if err := v.roomFor(n); err != nil {
			return err
		}
	}
	switch a := a.(type) {
	case array.ExtensionArray:
		return v.appendAll(a.Storage(), from, to)
	case *array.FixedSizeList:
		if v.Kind != List || v.Dim != int(a.DataType().(*arrow.FixedSizeListType).Len()) {
			return v.misfit(a.DataType())
		}
		return v.appendLists(a, from, to)
	case *array.Struct:
		if v.Kind != Struct || len(v.Fields) != a.NumField() {
			return v.misfit(a.DataType())
		}
		for i, f := range v.Fields {
			if lostNulls(a, a.Field(i), from, to) {
				return unsupported("nulls in field %q", a.DataType().(*arrow.StructType).Field(i).Name)
			}
			if err := f.appendArray(a.Field(i), from, to); err != nil {
				return err
			}
		}
		v.N += n
		return nil
	case *array.Dictionary, *array.Null:
		return unsupported("values of type %s", a.DataType())
	}
	data := a.Data()
	from, to = from+data.Offset(), to+data.Offset()
	if v.Kind == Variable {
		return v.appendTexts(a, from, to)
	}
	t, ok := a.DataType().(arrow.FixedWidthDataType)
	if !ok || v.Kind != Fixed || t.BitWidth() != v.Bits {
		return v.misfit(a.DataType())
	}
	var b []byte
	if buf := data.Buffers()[1]; buf != nil {
		b = buf.Bytes()
	}
	switch {
	case len(b) < (to*v.Bits+7)/8:
		if a.NullN() < a.Len() {
			return corrupt("%d bytes for %d values of %d bits", len(b), to, v.Bits)
		}
		v.appendNulls(n) // nothing but nulls may do without a buffer
		return nil
	case v.Bits == 1:
		v.Data = appendBits(v.Data, v.N, b, from, n)
	default:
		v.Data = append(v.Data, b[from*v.Bits/8:to*v.Bits/8]...)
	}
	v.N += n
	return nil
}

// appendLists appends fixed-size lists and notes which of their items are null.
func (v *Values) appendLists(a *array.FixedSizeList, from, to int) error {
	dim, items := v.Dim, a.ListValues()
	// The items are not cut to the part of an array that a is.
	first := (a.Data().Offset() + from) * dim
	count := (to - from) * dim
	if first+count > items.Len() {
		return corrupt("%d items for lists that end with item %d", items.Len(), first+count)
	}
	if items.NullN() > 0 {
		v.appendValid(items.NullBitmapBytes(), items.Data().Offset()+first, to-from)
	} else {
		v.appendValid(nil, 0, to-from)
	}
	if err := v.Items.appendArray(items, first, first+count); err != nil {
		return err
	}
	v.N += to - from
	return nil
}

// appendTexts appends values of varying length.
func (v *Values) appendTexts(a arrow.Array, from, to int) error {
	data, wide := a.Data(), 0
	switch data.DataType().ID() {
	case arrow.STRING, arrow.BINARY:
		wide = 4
	case arrow.LARGE_STRING, arrow.LARGE_BINARY:
		wide = 8
	default:
		return v.misfit(data.DataType())
	}
	if from == to {
		return nil
	}
	var offsets, b []byte
	if buf := data.Buffers()[1]; buf != nil {
		offsets = buf.Bytes()
	}
	if buf := data.Buffers()[2]; buf != nil {
		b = buf.Bytes()
	}
	if len(offsets) < (to+1)*wide {
		return corrupt("%d bytes for %d offsets", len(offsets), to+1)
	}
	le := binary.LittleEndian
	at := func(i int) int64 {
		if wide == 4 {
			return int64(le.Uint32(offsets[4*i:]))
		}
		return int64(le.Uint64(offsets[8*i:]))
	}
	start, end := at(from), at(to)
	if start < 0 || start > end || end > int64(len(b)) {
		return corrupt("values from %d to %d in %d bytes", start, end, len(b))
	}
	if v.Limit > 0 {
		if err := v.room(end - start + 8*int64(to-from)); err != nil {
			return err
		}
	}
	have, prev := len(v.Offsets), start
	base := int64(len(v.Data)) - start
	ends := v.extendOffsets(to - from)
	var valid []byte
	if a.NullN() > 0 {
		valid = a.NullBitmapBytes()
	}
	copied := start // bytes before it are in v.Data, or of nulls
	for i := range ends {
		o := at(from + i + 1)
		if o < prev || o > end {
			v.Offsets = v.Offsets[:have]
			return corrupt("offset %d behind %d", o, prev)
		}
		if o > prev && valid != nil && !bitutil.BitIsSet(valid, from+i) {
			// What a null has in it is not worth keeping.
			v.Data = append(v.Data, b[copied:prev]...)
			copied = o
			base -= o - prev
		}
		ends[i], prev = base+o, o
	}
	v.Data = append(v.Data, b[copied:end]...)
	v.N += to - from
	return nil
}
