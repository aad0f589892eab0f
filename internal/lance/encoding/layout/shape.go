package layout

import (
	"github.com/apache/arrow-go/v18/arrow"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/block"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
)

// newValues makes an empty block for values of a leaf's type. It is nil for those
// that have none: null, and a struct without fields.
func newValues(dt arrow.DataType, limit int64) (*block.Values, error) {
	switch dt := column.Storage(dt).(type) {
	case *arrow.NullType:
		return nil, nil
	case *arrow.DictionaryType:
		return newValues(dt.IndexType, limit)
	case *arrow.StringViewType, *arrow.BinaryViewType:
	case arrow.BinaryDataType:
		return &block.Values{Kind: block.Variable, Offsets: make([]int64, 1), Limit: limit}, nil
	case *arrow.FixedSizeListType:
		items, err := newValues(dt.Elem(), limit)
		if err != nil {
			return nil, err
		}
		if column.Storage(dt.Elem()).ID() == arrow.NULL {
			items = &block.Values{Kind: block.Fixed, Limit: limit} // which is nulls of no width
		}
		if items == nil || dt.Len() < 1 {
			return nil, unsupported("%v", dt)
		}
		return &block.Values{Kind: block.List, Dim: int(dt.Len()), Items: items, Limit: limit}, nil
	case *arrow.StructType:
		if dt.NumFields() == 0 {
			return nil, nil
		}
		v := &block.Values{Kind: block.Struct, Limit: limit}
		for _, f := range dt.Fields() {
			field, err := newValues(f.Type, limit)
			if err != nil || field == nil {
				// What can't be packed can be null as a whole.
				return &block.Values{Kind: block.Fixed, Limit: limit}, nil
			}
			v.Fields = append(v.Fields, field)
		}
		return v, nil
	case arrow.FixedWidthDataType:
		return &block.Values{Kind: block.Fixed, Bits: dt.BitWidth(), Limit: limit}, nil
	}
	return nil, unsupported("values of type %v", dt)
}

// sameShape tells whether values of shape a, of a page, can be appended to a block b.
func sameShape(a, b *block.Values) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	if a.Kind == block.Fixed && a.Bits == 0 {
		return true // nulls of no width
	}
	if a.Kind != b.Kind {
		return false
	}
	switch a.Kind {
	case block.Fixed:
		return a.Bits == b.Bits || a.Bits == 8 && b.Bits == 1 // a byte for each bool, which block packs
	case block.List:
		return a.Dim == b.Dim && sameShape(a.Items, b.Items)
	case block.Struct:
		if len(a.Fields) != len(b.Fields) {
			return false
		}
		for i := range a.Fields {
			if !sameShape(a.Fields[i], b.Fields[i]) {
				return false
			}
		}
	}
	return true
}

// bytesOf is how many bytes a block's buffers take.
func bytesOf(v *block.Values) int64 {
	if v == nil {
		return 0
	}
	n := int64(len(v.Data)) + 8*int64(len(v.Offsets)) + int64(len(v.Valid)) + bytesOf(v.Items)
	for _, f := range v.Fields {
		n += bytesOf(f)
	}
	return n
}

// setLimit sets the limit of a block.
func setLimit(v *block.Values, limit int64) {
	if v == nil {
		return
	}
	v.Limit = limit
	setLimit(v.Items, limit)
	for _, f := range v.Fields {
		setLimit(f, limit)
	}
}
