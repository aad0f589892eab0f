package bitpack

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// Width is how many bits the widest of some values of wide bits takes: 0 when all are zero. Bytes
// that don't make a whole value are not looked at.
func Width(values []byte, wide int) int {
	var all uint64
	le := binary.LittleEndian
	for ; len(values) >= 32; values = values[32:] {
		all |= le.Uint64(values) | le.Uint64(values[8:]) | le.Uint64(values[16:]) | le.Uint64(values[24:])
	}
	for ; len(values) >= 8; values = values[8:] {
		all |= le.Uint64(values)
	}
	for i, b := range values[:len(values)/max(wide/8, 1)*(wide/8)] {
		all |= uint64(b) << (8 * i)
	}
	for w := 32; w >= wide; w /= 2 {
		all |= all >> w
	}
	if wide < 64 {
		all &= 1<<wide - 1
	}
	return bits.Len64(all)
}

// AppendInline appends up to 1024 values as one block behind its width: those that are missing are zeros.
func AppendInline(dst, values []byte, wide, width int) ([]byte, error) {
	if wide != 8 && wide != 16 && wide != 32 && wide != 64 || width < 0 || width > wide || len(values) > Size(wide) || len(values)%(wide/8) != 0 {
		return dst, fmt.Errorf("%w: %d bytes of values of %d bits, %d kept", ErrSize, len(values), wide, width)
	}
	var w [8]byte
	w[0] = byte(width)
	dst = append(dst, w[:wide/8]...)
	return appendBlock(dst, values, wide, width)
}

// AppendFixed appends any number of values packed to one width, in the framing that UnpackFixed reads.
func AppendFixed(dst, values []byte, wide, width int) ([]byte, error) {
	if wide != 8 && wide != 16 && wide != 32 && wide != 64 || width < 0 || width > wide || len(values)%(wide/8) != 0 {
		return dst, fmt.Errorf("%w: %d bytes of values of %d bits, %d kept", ErrSize, len(values), wide, width)
	}
	var err error
	for whole := Size(wide); len(values) >= whole; values = values[whole:] {
		if dst, err = appendBlock(dst, values[:whole], wide, width); err != nil {
			return dst, err
		}
	}
	if len(values) <= Size(width) {
		return append(dst, values...), nil
	}
	return appendBlock(dst, values, wide, width)
}

// appendBlock appends a block that may lack values at its end.
func appendBlock(dst, values []byte, wide, width int) ([]byte, error) {
	at := len(dst)
	dst = extend(dst, Size(width))
	if len(values) == Size(wide) {
		return dst, Pack(dst[at:], values, wide, width)
	}
	var whole [Block * 8]byte
	copy(whole[:], values)
	return dst, Pack(dst[at:], whole[:Size(wide)], wide, width)
}
