package block

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
)

// lostNulls tells whether a field has nulls in structs that are not null. Packed structs have no place to note
// them.
func lostNulls(structs, field arrow.Array, from, to int) bool {
	if field.NullN() == 0 {
		return false
	}
	for i := from; i < to; i++ {
		if field.IsNull(i) && structs.IsValid(i) {
			return true
		}
	}
	return false
}

// clear makes those of the last n values zeros whose bit, from bit off on, is not set.
func (v *Values) clear(n int, valid []byte, off int) {
	for i := 0; i < n; i++ {
		if bitutil.BitIsSet(valid, off+i) {
			continue
		}
		first := i
		for i++; i < n && !bitutil.BitIsSet(valid, off+i); i++ {
		}
		v.clearRange(v.N-n+first, v.N-n+i)
	}
}

// clearRange makes values [from, to) zeros. Those of varying length stay.
func (v *Values) clearRange(from, to int) {
	switch v.Kind {
	case Fixed:
		if v.Bits == 1 {
			bitutil.SetBitsTo(v.Data, int64(from), int64(to-from), false)
		} else {
			clear(v.Data[from*v.Bits/8 : to*v.Bits/8])
		}
	case List:
		v.Items.clearRange(from*v.Dim, to*v.Dim)
	case Struct:
		for _, f := range v.Fields {
			f.clearRange(from, to)
		}
	}
}
