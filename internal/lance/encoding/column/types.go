package column

import "github.com/apache/arrow-go/v18/arrow"

// Storage is the type beneath extension types.
func Storage(dt arrow.DataType) arrow.DataType {
	for {
		e, ok := dt.(arrow.ExtensionType)
		if !ok {
			return dt
		}
		dt = e.StorageType()
	}
}

// OffsetWidth is how many bytes an offset of a type of strings or lists has.
func OffsetWidth(t arrow.DataType) int {
	switch t.ID() {
	case arrow.LARGE_LIST, arrow.LARGE_STRING, arrow.LARGE_BINARY:
		return 8
	}
	return 4
}

// SizeOf is how many bytes the buffers of an array take, as if it shared none.
func SizeOf(d arrow.ArrayData) int64 {
	var n int64
	for _, b := range d.Buffers() {
		if b != nil {
			n += int64(b.Len())
		}
	}
	for _, c := range d.Children() {
		n += SizeOf(c)
	}
	if d.DataType().ID() == arrow.DICTIONARY && d.Dictionary() != nil {
		n += SizeOf(d.Dictionary())
	}
	return n
}
