package array

import (
	"github.com/apache/arrow-go/v18/arrow"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
)

// fixedBits is the width of a type's values, if they have one and lie in one buffer.
func fixedBits(t arrow.DataType) (uint64, bool) {
	switch t := t.(type) {
	case *arrow.BooleanType:
		return 1, true
	case *arrow.FixedSizeBinaryType:
		return uint64(t.ByteWidth) * 8, t.ByteWidth > 0
	case *arrow.DictionaryType:
		return 0, false
	case arrow.FixedWidthDataType:
		if _, nested := t.(arrow.NestedType); nested {
			return 0, false
		}
		return uint64(t.BitWidth()), true
	}
	return 0, false
}

// offsetBytes is the width of the offsets of strings and lists.
func offsetBytes(t arrow.DataType) (uint64, bool) {
	switch t.ID() {
	case arrow.STRING, arrow.BINARY, arrow.LIST:
		return 4, true
	case arrow.LARGE_STRING, arrow.LARGE_BINARY, arrow.LARGE_LIST:
		return 8, true
	}
	return 0, false
}

// isVariable tells whether values are strings of bytes.
func isVariable(t arrow.DataType) bool {
	switch t.ID() {
	case arrow.STRING, arrow.BINARY, arrow.LARGE_STRING, arrow.LARGE_BINARY:
		return true
	}
	return false
}

// leastBytes is what n values of a type take at least, whatever they are.
func leastBytes(t arrow.DataType, n uint64) uint64 {
	t = column.Storage(t)
	if bits, ok := fixedBits(t); ok {
		return bitBytes(n, bits)
	}
	if w, ok := offsetBytes(t); ok {
		return times(plus(n, 1), w)
	}
	switch t := t.(type) {
	case *arrow.FixedSizeListType:
		return leastBytes(t.Elem(), times(n, uint64(max(t.Len(), 0))))
	case *arrow.DictionaryType:
		return leastBytes(t.IndexType, n)
	case *arrow.StructType:
		var sum uint64
		for _, f := range t.Fields() {
			sum = plus(sum, leastBytes(f.Type, n))
		}
		return sum
	}
	return 0
}
