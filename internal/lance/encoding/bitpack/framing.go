package bitpack

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Inline splits the first block off b: its width, its packed values and what follows.
// bits is that of the values, so also that of the word with the width.
func Inline(b []byte, bits int) (width int, packed, rest []byte, err error) {
	word := bits / 8
	if len(b) < word {
		return 0, nil, nil, fmt.Errorf("%w: %d bytes where a width of %d bits stands", ErrSize, len(b), bits)
	}
	var w uint64
	switch bits {
	case 8:
		w = uint64(b[0])
	case 16:
		w = uint64(binary.LittleEndian.Uint16(b))
	case 32:
		w = uint64(binary.LittleEndian.Uint32(b))
	case 64:
		w = binary.LittleEndian.Uint64(b)
	default:
		return 0, nil, nil, fmt.Errorf("%w: values of %d bits", ErrSize, bits)
	}
	if w > uint64(bits) {
		return 0, nil, nil, fmt.Errorf("%w: %d of %d bits kept", ErrSize, w, bits)
	}
	width, b = int(w), b[word:]
	if len(b) < Size(width) {
		return 0, nil, nil, fmt.Errorf("%w: %d bytes of a block packed to %d bits", ErrSize, len(b), width)
	}
	return width, b[:Size(width)], b[Size(width):], nil
}

// maxValues of one call keeps sizes far from overflowing.
const maxValues = math.MaxInt / 64

// UnpackFixed unpacks n values that all were packed to the same width, appending
// them to dst. src has nothing else in it. No bytes at all are needed for a width of zero, so
// it is the caller who has to know that n is sane.
func UnpackFixed(dst, src []byte, bits, width, n int) ([]byte, error) {
	if n < 0 || n > maxValues || width < 0 || width > bits || bits != 8 && bits != 16 && bits != 32 && bits != 64 {
		return dst, fmt.Errorf("%w: %d values, %d of %d bits kept", ErrSize, n, width, bits)
	}
	blocks, rest := n/Block, n%Block
	// A remainder is left unpacked unless packing a whole block is smaller.
	plain := rest * bits / 8
	tail := len(src) - blocks*Size(width)
	packed := rest > 0 && tail != plain
	if tail < 0 || packed && tail != Size(width) || rest == 0 && tail != 0 {
		return dst, fmt.Errorf("%w: %d bytes for %d values packed to %d bits", ErrSize, len(src), n, width)
	}
	at := len(dst)
	dst = extend(dst, n*bits/8)
	for range blocks {
		if err := Unpack(dst[at:at+Size(bits)], src[:Size(width)], bits, width); err != nil {
			return dst, err
		}
		at, src = at+Size(bits), src[Size(width):]
	}
	if packed {
		var block [Block * 8]byte
		if err := Unpack(block[:Size(bits)], src, bits, width); err != nil {
			return dst, err
		}
		src = block[:plain]
	}
	copy(dst[at:], src)
	return dst, nil
}

// extend makes b longer by n bytes whose contents are undefined.
func extend(b []byte, n int) []byte {
	if n <= cap(b)-len(b) {
		return b[:len(b)+n]
	}
	return append(b, make([]byte, n)...)
}
