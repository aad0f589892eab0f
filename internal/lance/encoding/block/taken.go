package block

import (
	"encoding/binary"
)

// AppendTaken appends the values of a dictionary that indices [from, to) name. An index that the dictionary
// does not reach is column.ErrCorrupt. dst may be a block of the zero Kind: it takes the dictionary's.
func AppendTaken(dst, dict, indices *Values, from, to int) error {
	if indices.Kind != Fixed || indices.Bits != 8 && indices.Bits != 16 && indices.Bits != 32 && indices.Bits != 64 {
		return corrupt("dictionary indices of %s", indices.shape())
	}
	if from < 0 || from > to || to > indices.N {
		return corrupt("indices %d to %d of %d", from, to, indices.N)
	}
	if err := dst.take(dict); err != nil {
		return err
	}
	if err := dst.roomFor(to - from); err != nil {
		return err
	}
	ix, err := narrow(indices.Data[from*indices.Bits/8:to*indices.Bits/8], indices.Bits/8, dict.N)
	if err != nil {
		return err
	}
	switch {
	case dst.Kind == Variable && dict.Kind == Variable:
		return dst.takeStrings(dict, ix, to-from)
	case dst.Kind == Fixed && dict.Kind == Fixed && dict.Bits > 1:
		longer, out := extend(dst.Data, (to-from)*dict.Bits/8)
		takeFixed(out, dict.Data, dict.Bits/8, ix)
		dst.Data = longer
		dst.N += to - from
		return nil
	}
	return unsupported("dictionary of %s", dict.shape())
}

// narrow makes indices of 32 bits, the width that writers use, of others, and checks that they are below n.
func narrow(ix []byte, bytes, n int) ([]byte, error) {
	le := binary.LittleEndian
	top := uint64(0)
	if bytes == 4 {
		t := uint32(0)
		for i := 0; i+4 <= len(ix); i += 4 {
			t = max(t, le.Uint32(ix[i:i+4]))
		}
		top = uint64(t)
	} else {
		narrowed := make([]byte, 0, len(ix)/bytes*4)
		for i := 0; i < len(ix); i += bytes {
			var k uint64
			switch bytes {
			case 1:
				k = uint64(ix[i])
			case 2:
				k = uint64(le.Uint16(ix[i:]))
			default:
				k = le.Uint64(ix[i:])
			}
			top = max(top, k)
			narrowed = le.AppendUint32(narrowed, uint32(k))
		}
		ix = narrowed
	}
	if len(ix) > 0 && top >= uint64(n) {
		return nil, corrupt("index %d into a dictionary of %d", top, n)
	}
	return ix, nil
}

// takeStrings appends strings by indices that have been checked.
func (v *Values) takeStrings(dict *Values, ix []byte, n int) error {
	le := binary.LittleEndian
	have, base := len(v.Offsets), len(v.Data)
	ends := v.extendOffsets(n)
	end := int64(base)
	offsets, data := dict.Offsets, dict.Data
	for i := range ends {
		k := int(le.Uint32(ix[4*i : 4*i+4]))
		end += offsets[k+1] - offsets[k]
		ends[i] = end
	}
	if err := v.room(end - int64(base)); err != nil {
		v.Offsets = v.Offsets[:have]
		return err
	}
	longer, out := extend(v.Data, int(end)-base)
	at := 0
	for i := range ends {
		k := int(le.Uint32(ix[4*i : 4*i+4]))
		start, stop := int(offsets[k]), int(offsets[k+1])
		if size := stop - start; size <= brief && start+brief <= len(data) && at+brief <= len(out) {
			// What is too much is overwritten by the next.
			from, to := (*[brief]byte)(data[start:]), (*[brief]byte)(out[at:])
			*to = *from
			at += size
			continue
		}
		at += copy(out[at:], data[start:stop])
	}
	v.Data = longer
	v.N += n
	return nil
}

// brief strings are copied as if they had this length.
const brief = 16

// takeFixed copies values of some bytes by indices that have been checked.
func takeFixed(out, dict []byte, bytes int, ix []byte) {
	le := binary.LittleEndian
	n := len(ix) / 4
	switch bytes {
	case 4:
		out = out[:4*n]
		for i := range n {
			k := int(le.Uint32(ix[4*i : 4*i+4]))
			le.PutUint32(out[4*i:4*i+4], le.Uint32(dict[4*k:]))
		}
	case 8:
		out = out[:8*n]
		for i := range n {
			k := int(le.Uint32(ix[4*i : 4*i+4]))
			le.PutUint64(out[8*i:8*i+8], le.Uint64(dict[8*k:]))
		}
	default:
		for i := range n {
			k := int(le.Uint32(ix[4*i : 4*i+4]))
			copy(out[bytes*i:bytes*(i+1)], dict[bytes*k:])
		}
	}
}
