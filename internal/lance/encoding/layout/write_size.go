package layout

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/level"
)

// along goes from rows [from, to) of an array down the steps to the values that belong to them, and maybe some
// more: those of nulls. It looks at no more than the ends of ranges.
func along(steps []level.Step, a arrow.Array, from, to int) (arrow.Array, int, int) {
	for i, s := range steps {
		a = plainArray(a)
		if i == len(steps)-1 {
			break
		}
		switch x := a.(type) {
		case *array.FixedSizeList:
			off := x.Data().Offset()
			a, from, to = x.ListValues(), (off+from)*s.Dim, (off+to)*s.Dim
		case array.ListLike:
			a, from, to = rangeOf(x, from, to)
		case *array.Struct:
			if s.Child < x.NumField() {
				a = x.Field(s.Child)
			}
		}
	}
	return a, from, to
}

// bitsAlong is how many bits the values of a leaf take in rows [from, to) of an array, as Arrow has them.
func bitsAlong(steps []level.Step, a arrow.Array, from, to int) int64 {
	return bitsOfValues(along(steps, a, from, to))
}

// rangeOf is the items of a range of lists.
func rangeOf(l array.ListLike, from, to int) (arrow.Array, int, int) {
	if from >= to {
		return l.ListValues(), 0, 0
	}
	a, _ := l.ValueOffsets(from)
	_, b := l.ValueOffsets(to - 1)
	return l.ListValues(), int(a), int(b)
}

func plainArray(a arrow.Array) arrow.Array {
	for {
		e, ok := a.(array.ExtensionArray)
		if !ok {
			return a
		}
		a = e.Storage()
	}
}

// bitsOfValues is how many bits values take, with those of their offsets.
func bitsOfValues(a arrow.Array, from, to int) int64 {
	a = plainArray(a)
	n := int64(to - from)
	if n <= 0 {
		return 0
	}
	switch x := a.(type) {
	case *array.Null:
		return 0
	case array.BinaryLike:
		return 8 * (x.ValueOffset64(to-1) + int64(x.ValueLen(to-1)) - x.ValueOffset64(from) + n*int64(column.OffsetWidth(a.DataType())))
	case array.ListLike: // fixed-size lists: others are no leaves
		items, lo, hi := rangeOf(x, from, to)
		return bitsOfValues(items, lo, hi)
	case *array.Struct:
		size := int64(0)
		for i := range x.NumField() {
			size += bitsOfValues(x.Field(i), from, to)
		}
		return size
	}
	if dt, ok := a.DataType().(arrow.FixedWidthDataType); ok {
		return n * int64(dt.BitWidth())
	}
	return 8 * n
}
