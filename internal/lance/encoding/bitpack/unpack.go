package bitpack

import "encoding/binary"

// Unpack unpacks one block of values of bits (8, 16, 32 or 64) packed to width. dst
// has room for exactly 1024 values, src has Size(width) bytes.
func Unpack(dst, src []byte, bits, width int) error {
	if err := check(dst, src, bits, width); err != nil {
		return err
	}
	switch width {
	case 0:
		clear(dst)
		return nil
	case bits:
		for r := range bits {
			copy(dst[place(r, bits):][:rowBytes], src[r*rowBytes:])
		}
		return nil
	}
	all := repeat(bits, width)
	word, shift := 0, 0
	for r := range bits {
		out := (*[rowBytes]byte)(dst[place(r, bits):])
		in := (*[rowBytes]byte)(src[word*rowBytes:])
		end := shift + width
		switch {
		case end < bits:
			within(out, in, uint(shift), all)
			shift = end
		case end == bits:
			within(out, in, uint(shift), all)
			word, shift = word+1, 0
		default:
			low := bits - shift
			word, shift = word+1, width-low
			next := (*[rowBytes]byte)(src[word*rowBytes:])
			across(out, in, next, uint(bits-low), repeat(bits, low), uint(low), repeat(bits, shift))
		}
	}
	return nil
}

// within takes a row out of a group of words that holds all its bits. A shift moves
// bits of the neighbour in, which the mask removes.
func within(out, in *[rowBytes]byte, shift uint, mask uint64) {
	shift &= 63
	le := binary.LittleEndian
	for i := 0; i < rowBytes; i += 32 {
		a := le.Uint64(in[i : i+8])
		b := le.Uint64(in[i+8 : i+16])
		c := le.Uint64(in[i+16 : i+24])
		d := le.Uint64(in[i+24 : i+32])
		le.PutUint64(out[i:i+8], a>>shift&mask)
		le.PutUint64(out[i+8:i+16], b>>shift&mask)
		le.PutUint64(out[i+16:i+24], c>>shift&mask)
		le.PutUint64(out[i+24:i+32], d>>shift&mask)
	}
}

// across takes a row out of two groups of words: the first has its lower bits on top, the
// second the upper bits at the bottom.
func across(out, in, next *[rowBytes]byte, shift uint, mask uint64, low uint, upper uint64) {
	shift, low = shift&63, low&63
	le := binary.LittleEndian
	for i := 0; i < rowBytes; i += 16 {
		a := le.Uint64(in[i:i+8])>>shift&mask | le.Uint64(next[i:i+8])&upper<<low
		b := le.Uint64(in[i+8:i+16])>>shift&mask | le.Uint64(next[i+8:i+16])&upper<<low
		le.PutUint64(out[i:i+8], a)
		le.PutUint64(out[i+8:i+16], b)
	}
}
