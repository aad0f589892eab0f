package scan

import "github.com/apache/arrow-go/v18/arrow"

// sizeOf is how many bytes the buffers of an array take.
func sizeOf(d arrow.ArrayData) int64 {
	var n int64
	for _, b := range d.Buffers() {
		if b != nil {
			n += int64(b.Len())
		}
	}
	for _, c := range d.Children() {
		n += sizeOf(c)
	}
	if d.DataType().ID() == arrow.DICTIONARY && d.Dictionary() != nil {
		n += sizeOf(d.Dictionary())
	}
	return n
}
