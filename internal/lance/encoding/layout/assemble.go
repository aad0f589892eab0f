package layout

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/level"
)

// finish makes the array of what a sink took: of the field's type, with this one leaf.
func (s *sink) finish(l *leaf) (arrow.Array, error) {
	columns, err := s.levels.Finish()
	if err != nil {
		return nil, err
	}
	if err := s.update(); err != nil {
		return nil, err
	}
	at := len(columns) - 1
	arr, err := s.leaf(l.typ, columns[at])
	if err != nil {
		return nil, err
	}
	for at--; at >= 0; at-- {
		outer, err := wrap(l.types[at], columns[at], arr)
		arr.Release()
		if err != nil {
			return nil, err
		}
		arr = outer
	}
	return arr, nil
}

// leaf makes the array of the values.
func (s *sink) leaf(dt arrow.DataType, c level.Column) (arrow.Array, error) {
	if s.count != c.N {
		return nil, corrupt("%d values for %d places", s.count, c.N)
	}
	st := column.Storage(dt)
	if s.dict != nil {
		return s.dict.array(dt, s.values, c.Valid, c.Nulls)
	}
	if s.values == nil {
		nulls := c.Nulls
		bufs := []*memory.Buffer{bitmap(c)}
		if st.ID() == arrow.NULL {
			if nulls != c.N {
				return nil, corrupt("%d of %d values of type null are not", c.N-nulls, c.N)
			}
			bufs[0] = nil
		}
		return build(dt, c.N, bufs, nil, nulls), nil
	}
	if st.ID() == arrow.STRUCT && c.Nulls == c.N {
		// A packed struct may have fields that can't be packed as long as all is null.
		return Merge(dt, c.N, nil, s.limit)
	}
	arr, err := s.values.Array(st, c.Valid, c.Nulls)
	if err != nil || arrow.TypeEqual(st, dt) {
		return arr, err
	}
	defer arr.Release()
	return array.NewExtensionArrayWithStorage(dt.(arrow.ExtensionType), arr), nil
}

func bitmap(c level.Column) *memory.Buffer {
	if c.Valid == nil {
		return nil
	}
	return memory.NewBufferBytes(c.Valid)
}

// build makes an array from its parts.
func build(dt arrow.DataType, n int, bufs []*memory.Buffer, children []arrow.ArrayData, nulls int) arrow.Array {
	data := array.NewData(dt, n, bufs, children, nulls, 0)
	defer data.Release()
	return array.MakeFromData(data)
}

// wrap makes the array of a node above the leaf. dt has one child at most, however
// deep.
func wrap(dt arrow.DataType, c level.Column, child arrow.Array) (arrow.Array, error) {
	bufs := []*memory.Buffer{bitmap(c)}
	children := []arrow.ArrayData{child.Data()}
	switch dt := column.Storage(dt).(type) {
	case *arrow.StructType:
	case *arrow.FixedSizeListType:
		if int64(c.N)*int64(dt.Len()) != int64(child.Len()) {
			return nil, corrupt("%d items for %d fixed-size lists", child.Len(), c.N)
		}
	case *arrow.LargeListType:
		bufs = append(bufs, memory.NewBufferBytes(arrow.Int64Traits.CastToBytes(c.Offsets64)))
	case *arrow.ListType, *arrow.MapType:
		bufs = append(bufs, memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(c.Offsets32)))
	default:
		return nil, unsupported("levels of %v", dt)
	}
	return build(dt, c.N, bufs, children, c.Nulls), nil
}
