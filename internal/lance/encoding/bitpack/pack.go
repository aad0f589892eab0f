package bitpack

import "encoding/binary"

// Pack packs one block. src holds exactly 1024 values of bits, dst has Size(width)
// bytes; bits of a value above width are lost.
func Pack(dst, src []byte, bits, width int) error {
	if err := check(src, dst, bits, width); err != nil {
		return err
	}
	clear(dst)
	if width == 0 {
		return nil
	}
	word, shift := 0, 0
	for r := range bits {
		in := (*[rowBytes]byte)(src[place(r, bits):])
		low := min(width, bits-shift)
		put((*[rowBytes]byte)(dst[word*rowBytes:]), in, 0, repeat(bits, low), uint(shift))
		if shift += width; shift >= bits {
			word, shift = word+1, shift-bits
			if shift > 0 {
				put((*[rowBytes]byte)(dst[word*rowBytes:]), in, uint(low), repeat(bits, shift), 0)
			}
		}
	}
	return nil
}

// put adds a part of the bits of a row to a group of words.
func put(out, in *[rowBytes]byte, right uint, mask uint64, left uint) {
	le := binary.LittleEndian
	for i := 0; i < rowBytes; i += 8 {
		v := le.Uint64(in[i:i+8]) >> (right & 63) & mask << (left & 63)
		le.PutUint64(out[i:i+8], le.Uint64(out[i:i+8])|v)
	}
}
