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

// nulls calls fn for each stretch of those of the last n values whose bit, from bit off on, is not set.
func (v *Values) nulls(n int, valid []byte, off int, fn func(from, to int)) {
	for i := 0; i < n; i++ {
		if bitutil.BitIsSet(valid, off+i) {
			continue
		}
		first := i
		for i++; i < n && !bitutil.BitIsSet(valid, off+i); i++ {
		}
		fn(v.N-n+first, v.N-n+i)
	}
}

// repeats tells whether values have as nulls what was before them: numbers do, which costs the least where runs are encoded, and no
// more elsewhere.
func (v *Values) repeats() bool { return v.Kind == Fixed && v.Bits >= 8 && v.Bits%8 == 0 }

// Repeat makes numbers [from, to) the one before them, or that which Parts had before, or zeros.
func (v *Values) Repeat(from, to int) {
	bytes := v.Bits / 8
	out, before := v.Data[from*bytes:to*bytes], v.before
	if from > 0 {
		before = v.Data[(from-1)*bytes : from*bytes]
	}
	if before == nil {
		clear(out)
		return
	}
	for at := copy(out, before); at < len(out); at *= 2 {
		copy(out[at:], out[:at])
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
