package fsst

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// Length is the length of a string after Append, in one pass over the stored bytes.
func (t *Table) Length(src []byte) (int, error) {
	if !t.compressed {
		return len(src), nil
	}
	n := 0
	for i := 0; i < len(src); i++ {
		switch l := t.codes[src[i]].length; {
		case l == 0:
			return 0, fmt.Errorf("%w: no symbol has code %d", ErrCorrupt, src[i])
		case l <= MaxSymbol:
			n += int(l)
		case i+1 == len(src):
			return 0, fmt.Errorf("%w: string ends with an escape", ErrCorrupt)
		default:
			i++
			n++
		}
	}
	return n, nil
}

// Append decodes one string behind dst, which grows as needed.
func (t *Table) Append(dst, src []byte) ([]byte, error) {
	if !t.compressed {
		return append(dst, src...), nil
	}
	for len(src) > 0 {
		// As many codes as surely fit with a whole word written for each.
		sure := (cap(dst) - len(dst)) / MaxSymbol
		if sure == 0 || sure < 16 && sure < len(src) {
			dst = grow(dst, len(src))
			sure = (cap(dst) - len(dst)) / MaxSymbol
		}
		part := src[:min(sure, len(src))]
		n, used, err := t.decode(dst[len(dst):cap(dst)], part, len(part) == len(src))
		if err != nil {
			return dst, err
		}
		dst, src = dst[:len(dst)+n], src[used:]
	}
	return dst, nil
}

// grow makes room for symbols of average length, at most for 64 Ki of them, so that much room is
// there only when much has been decoded.
func grow(dst []byte, codes int) []byte {
	return slices.Grow(dst, max(4*min(codes, 64<<10), min(len(dst), 1<<20), 16*MaxSymbol))
}

// window is what four codes write to, and more, so that masks can prove that they stay inside.
const window = 64

// decode decodes src into out, which has room for a word for each code. When src is not the
// end of the string then an escape at its end is left to the next call.
func (t *Table) decode(out, src []byte, end bool) (n, used int, err error) {
	codes, le := &t.codes, binary.LittleEndian
	for i := 0; i < len(src); {
		// Four symbols at a time as long as there is nothing else.
		for i+4 <= len(src) && n+window <= len(out) {
			s := src[i : i+4 : i+4]
			c0, c1, c2, c3 := &codes[s[0]], &codes[s[1]], &codes[s[2]], &codes[s[3]]
			if (c0.length-1)|(c1.length-1)|(c2.length-1)|(c3.length-1) > MaxSymbol-1 {
				break
			}
			w := (*[window]byte)(out[n:])
			le.PutUint64(w[:8], c0.symbol)
			at := c0.length
			le.PutUint64(w[at&15:][:8], c1.symbol)
			at += c1.length
			le.PutUint64(w[at&31:][:8], c2.symbol)
			at += c2.length
			le.PutUint64(w[at&31:][:8], c3.symbol)
			n += int(at + c3.length)
			i += 4
		}
		if i == len(src) {
			break
		}
		c := &codes[src[i]]
		switch {
		case c.length-1 < MaxSymbol:
			le.PutUint64(out[n:], c.symbol)
			n += int(c.length)
			i++
		case c.length == 0:
			return 0, 0, fmt.Errorf("%w: no symbol has code %d", ErrCorrupt, src[i])
		case i+1 < len(src):
			out[n] = src[i+1]
			n++
			i += 2
		case end:
			return 0, 0, fmt.Errorf("%w: string ends with an escape", ErrCorrupt)
		default:
			return n, i, nil
		}
	}
	return n, len(src), nil
}
