package block

import (
	"encoding/binary"

	"github.com/apache/arrow-go/v18/arrow/bitutil"
)

// appendBits adds n bits of src, from bit off, to a bitmap of at bits, of which those above are zero.
func appendBits(dst []byte, at int, src []byte, off, n int) []byte {
	if n == 0 {
		return dst
	}
	src = src[off/8 : (off+n+7)/8]
	off %= 8
	if at%8 == 0 && off == 0 {
		dst = append(dst, src...)
		if n%8 != 0 {
			dst[len(dst)-1] &= 1<<(n%8) - 1
		}
		return dst
	}
	dst, added := extend(dst, (at+n+7)/8-len(dst))
	clear(added)
	// Some bits complete the last byte, so that whole words can follow.
	if at%8 != 0 {
		k := min(8-at%8, n)
		dst[at/8] |= byte(word(src, off, k) << (at % 8))
		at, off, n = at+k, off+k, n-k
	}
	out := dst[at/8:]
	for ; n >= 56; n -= 56 {
		// The eighth byte is written twice where there is one.
		w := word(src[off/8:], off%8, 56)
		if len(out) >= 8 {
			binary.LittleEndian.PutUint64(out, w)
		} else {
			for i := range 7 {
				out[i] = byte(w >> (8 * i))
			}
		}
		out, off = out[7:], off+56
	}
	if n > 0 {
		w := word(src[off/8:], off%8, n)
		for i := range out {
			out[i] = byte(w >> (8 * i))
		}
	}
	return dst
}

// word reads n bits, at most 56, from bit off, which is below 8.
func word(src []byte, off, n int) uint64 {
	var w uint64
	if len(src) >= 8 {
		w = binary.LittleEndian.Uint64(src)
	} else {
		for i, b := range src {
			w |= uint64(b) << (8 * i)
		}
	}
	return w >> off & (1<<n - 1)
}

// appendBit adds n bits of one value to a bitmap of at bits.
func appendBit(dst []byte, at, n int, set bool) []byte {
	dst, added := extend(dst, (at+n+7)/8-len(dst))
	clear(added)
	if set {
		bitutil.SetBitsTo(dst, int64(at), int64(n), true)
	}
	return dst
}
