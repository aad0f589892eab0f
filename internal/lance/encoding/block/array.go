package block

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
)

// Array makes the values an array of a type, without a copy where the layouts agree. valid is the bitmap of
// values that are not null, and nulls how many are; without nulls it is not looked at. Values that
// don't fit the type are column.ErrCorrupt, more than 2 GiB of strings with 32-bit offsets
// column.ErrLimit, types that are kept in some other way (lists, dictionaries) column.ErrUnsupported.
// The array shares memory with v, which is not to be appended to any more.
func (v *Values) Array(dt arrow.DataType, valid []byte, nulls int) (arrow.Array, error) {
	data, err := v.data(dt, valid, nulls)
	if err != nil {
		return nil, err
	}
	defer data.Release()
	return array.MakeFromData(data), nil
}

func (v *Values) misfit(dt arrow.DataType) error {
	return corrupt("values of %s where the type is %s", v.shape(), dt)
}

func (v *Values) data(dt arrow.DataType, valid []byte, nulls int) (arrow.ArrayData, error) {
	if nulls < 0 || nulls > v.N || nulls > 0 && len(valid) < (v.N+7)/8 {
		return nil, corrupt("validity of %d bytes with %d nulls for %d values", len(valid), nulls, v.N)
	}
	var bitmap *memory.Buffer
	if nulls > 0 {
		bitmap = memory.NewBufferBytes(valid)
	}
	switch t := dt.(type) {
	case arrow.ExtensionType:
		d, err := v.data(t.StorageType(), valid, nulls)
		if err != nil {
			return nil, err
		}
		defer d.Release()
		return array.NewData(dt, d.Len(), d.Buffers(), d.Children(), d.NullN(), 0), nil
	case *arrow.NullType:
		return array.NewData(dt, v.N, []*memory.Buffer{nil}, nil, v.N, 0), nil
	case *arrow.FixedSizeListType:
		return v.listData(t, bitmap, nulls)
	case *arrow.StructType:
		return v.structData(t, bitmap, nulls)
	case *arrow.StringType, *arrow.BinaryType, *arrow.LargeStringType, *arrow.LargeBinaryType:
		return v.stringData(dt, bitmap, nulls)
	case *arrow.DictionaryType:
		return nil, unsupported("making a dictionary of its values alone")
	case arrow.FixedWidthDataType:
		return v.fixedData(t, bitmap, nulls)
	}
	return nil, unsupported("values of type %s", dt)
}

func (v *Values) fixedData(dt arrow.FixedWidthDataType, bitmap *memory.Buffer, nulls int) (arrow.ArrayData, error) {
	switch {
	case v.Kind == Fixed && dt.BitWidth() == 0: // a fixed-size binary of no bytes
		if v.Bits != 0 {
			return nil, v.misfit(dt)
		}
		return array.NewData(dt, v.N, []*memory.Buffer{bitmap, memory.NewBufferBytes(nil)}, nil, nulls, 0), nil
	case v.null():
		return v.nullData(dt)
	case v.Kind != Fixed:
		return nil, v.misfit(dt)
	case dt.ID() == arrow.BOOL && v.Bits == 8:
		packed, err := v.packBools()
		if err != nil {
			return nil, err
		}
		return array.NewData(dt, v.N, []*memory.Buffer{bitmap, memory.NewBufferBytes(packed)}, nil, nulls, 0), nil
	case dt.BitWidth() != v.Bits:
		return nil, v.misfit(dt)
	}
	if len(v.Data) < (v.N*v.Bits+7)/8 {
		return nil, corrupt("%d bytes for %d values of %d bits", len(v.Data), v.N, v.Bits)
	}
	return array.NewData(dt, v.N, []*memory.Buffer{bitmap, memory.NewBufferBytes(v.Data)}, nil, nulls, 0), nil
}

// packBools makes a bitmap of booleans that have a byte each.
func (v *Values) packBools() ([]byte, error) {
	if err := v.room(int64(v.N+7) / 8); err != nil {
		return nil, err
	}
	bits := Values{Kind: Fixed, Bits: 1}
	err := bits.appendBools(v.Data[:v.N])
	return bits.Data, err
}

// nullData makes an array of nulls.
func (v *Values) nullData(dt arrow.FixedWidthDataType) (arrow.ArrayData, error) {
	data := Values{Kind: Fixed, Bits: dt.BitWidth(), Limit: v.Limit}
	if err := data.AppendNulls(v.N); err != nil {
		return nil, err
	}
	return data.fixedData(dt, memory.NewBufferBytes(make([]byte, (v.N+7)/8)), v.N)
}

func (v *Values) stringData(dt arrow.DataType, bitmap *memory.Buffer, nulls int) (arrow.ArrayData, error) {
	if v.null() {
		s := stringShape.empty(v.Limit)
		if err := s.AppendNulls(v.N); err != nil {
			return nil, err
		}
		return s.stringData(dt, memory.NewBufferBytes(make([]byte, (v.N+7)/8)), v.N)
	}
	if v.Kind != Variable || len(v.Offsets) != v.N+1 {
		return nil, v.misfit(dt)
	}
	var offsets []byte
	switch dt.ID() {
	case arrow.STRING, arrow.BINARY:
		if end := v.Offsets[v.N]; end > math.MaxInt32 {
			return nil, fmt.Errorf("%w: %d bytes in a %s", column.ErrLimit, end, dt)
		}
		narrow := make([]int32, v.N+1)
		for i, o := range v.Offsets {
			narrow[i] = int32(o)
		}
		offsets = arrow.Int32Traits.CastToBytes(narrow)
	default:
		offsets = arrow.Int64Traits.CastToBytes(v.Offsets)
	}
	return array.NewData(dt, v.N, []*memory.Buffer{bitmap, memory.NewBufferBytes(offsets), memory.NewBufferBytes(v.Data)}, nil, nulls, 0), nil
}

func (v *Values) listData(dt *arrow.FixedSizeListType, bitmap *memory.Buffer, nulls int) (arrow.ArrayData, error) {
	dim := int(dt.Len())
	items := v.Items
	switch {
	case v.null():
		if dim > 0 && v.N > maxValues/dim {
			return nil, v.misfit(dt)
		}
		items = &Values{Kind: Fixed, N: v.N * dim, Limit: v.Limit}
	case v.Kind == Fixed && dim > 0 && v.Bits%dim == 0:
		// A field of a packed struct has no lists, only the width of all items.
		if v.N > maxValues/dim {
			return nil, v.misfit(dt)
		}
		items = &Values{Kind: Fixed, N: v.N * dim, Limit: v.Limit, Bits: v.Bits / dim, Data: v.Data}
	case v.Kind != List || v.Dim != dim || items.N != v.N*dim:
		return nil, v.misfit(dt)
	}
	missing := 0
	if v.Valid != nil {
		if len(v.Valid) < (items.N+7)/8 {
			return nil, corrupt("validity of %d bytes for %d items", len(v.Valid), items.N)
		}
		missing = items.N - bitutil.CountSetBits(v.Valid, 0, items.N)
	}
	child, err := items.data(dt.Elem(), v.Valid, missing)
	if err != nil {
		return nil, err
	}
	defer child.Release()
	return array.NewData(dt, v.N, []*memory.Buffer{bitmap}, []arrow.ArrayData{child}, nulls, 0), nil
}

func (v *Values) structData(dt *arrow.StructType, bitmap *memory.Buffer, nulls int) (arrow.ArrayData, error) {
	if v.Kind != Struct || len(v.Fields) != dt.NumFields() {
		return nil, v.misfit(dt)
	}
	var children []arrow.ArrayData
	defer func() {
		for _, c := range children {
			c.Release()
		}
	}()
	for i, f := range v.Fields {
		if f.N != v.N {
			return nil, corrupt("%d values of field %q in %d structs", f.N, dt.Field(i).Name, v.N)
		}
		c, err := f.data(dt.Field(i).Type, nil, 0)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", dt.Field(i).Name, err)
		}
		children = append(children, c)
	}
	return array.NewData(dt, v.N, []*memory.Buffer{bitmap}, children, nulls, 0), nil
}

// aligned tells whether data can be taken as it is for values of these bits.
func aligned(data []byte, bits int) bool {
	need := uintptr(1)
	for need < 8 && bits%(int(need)*16) == 0 {
		need *= 2
	}
	return uintptr(unsafe.Pointer(unsafe.SliceData(data)))%need == 0
}
