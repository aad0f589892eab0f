package block

import (
	"fmt"
	"slices"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
)

// maxValues of a block and maxBits of one value keep every product of them below 1<<63.
const (
	maxValues = 1 << 30
	maxBits   = 1 << 32
)

// size of all buffers.
func (v *Values) size() int64 {
	n := int64(len(v.Data)) + 8*int64(len(v.Offsets)) + int64(len(v.Valid))
	if v.Items != nil {
		n += v.Items.size()
	}
	for _, f := range v.Fields {
		n += f.size()
	}
	return n
}

// room tells whether n more bytes are allowed.
func (v *Values) room(n int64) error {
	if have := v.size(); n > v.Limit-have {
		return fmt.Errorf("%w: %d bytes and %d more, %d allowed", column.ErrLimit, have, n, v.Limit)
	}
	return nil
}

// width is the number of bits that each value takes, with what can't be known counted as nothing.
func (v *Values) width() int64 {
	switch v.Kind {
	case Fixed:
		return int64(v.Bits)
	case Variable:
		return 64
	case List:
		n := v.Items.width() * int64(v.Dim)
		if v.Valid != nil {
			n += int64(v.Dim)
		}
		return n
	}
	n := int64(0)
	for _, f := range v.Fields {
		n += f.width()
	}
	return n
}

// roomFor tells whether n more values are allowed.
func (v *Values) roomFor(n int) error {
	if n > maxValues {
		return fmt.Errorf("%w: %d values at once", column.ErrLimit, n)
	}
	return v.room((v.width()*int64(n) + 7) / 8)
}

// extend makes a buffer longer by n bytes whose contents are undefined, and returns these too.
func extend(b []byte, n int) (longer, added []byte) {
	if n > cap(b)-len(b) {
		b = slices.Grow(b, max(n, min(len(b), 64<<20)))
	}
	b = b[:len(b)+n]
	return b, b[len(b)-n:]
}

// extendOffsets is extend for the ends of n more values of a Variable block.
func (v *Values) extendOffsets(n int) []int64 {
	if n > cap(v.Offsets)-len(v.Offsets) {
		v.Offsets = slices.Grow(v.Offsets, max(n, min(len(v.Offsets), 8<<20)))
	}
	v.Offsets = v.Offsets[:len(v.Offsets)+n]
	return v.Offsets[len(v.Offsets)-n:]
}

// null tells whether nothing is known of the values than that they are null.
func (v *Values) null() bool { return v.Kind == Fixed && v.Bits == 0 }

// AppendNulls appends n values of zeros, or of no bytes.
func (v *Values) AppendNulls(n int) error {
	if n < 0 {
		return corrupt("%d values", n)
	}
	if err := v.roomFor(n); err != nil {
		return err
	}
	v.appendNulls(n)
	return nil
}

func (v *Values) appendNulls(n int) {
	switch v.Kind {
	case Fixed:
		if v.Bits == 1 {
			v.Data = appendBit(v.Data, v.N, n, false)
		} else {
			data, added := extend(v.Data, n*v.Bits/8)
			clear(added)
			v.Data = data
		}
	case Variable:
		end := int64(len(v.Data))
		for i, added := 0, v.extendOffsets(n); i < n; i++ {
			added[i] = end
		}
	case List:
		if v.Valid != nil {
			v.Valid = appendBit(v.Valid, v.N*v.Dim, n*v.Dim, true)
		}
		v.Items.appendNulls(n * v.Dim)
	case Struct:
		for _, f := range v.Fields {
			f.appendNulls(n)
		}
	}
	v.N += n
}
