// Package bitpack packs and unpacks blocks of 1024 unsigned integers of which only
// the lower bits are kept, in the transposed order of FastLanes.
//
// Values of T bits are dealt out to 1024/T lanes, so that a row has one value of each
// lane and there are T rows. The values of a lane stand one behind the other in
// words of T bits, lowest bits first, a value may continue in the next word; word i of all lanes
// lies side by side, which makes each row and each group of words 128 bytes:
//
//	packed   word 0 of all lanes | word 1 of all lanes | …  width·128 bytes
//	row r    values 16·order[r/8] + 128·(r%8) … of the block, one per lane
//
// A row can therefore be shifted and masked as sixteen 64-bit words whatever T is.
// Bytes are little-endian on disk and in memory.
//
// Two framings are in use. Inline: each block is preceded by its width in a word of
// T bits. Fixed: one width for all blocks, known from elsewhere, and a
// remainder of less than 1024 values which is either padded with zeros
// and packed, or left as it is.
//
// Nothing here allocates, and all functions may be used concurrently.
package bitpack

import (
	"errors"
	"fmt"
)

// Block is how many values are packed together.
const Block = 1024

// rowBytes is the size of a row of values and of a group of words.
const rowBytes = 128

// ErrSize is wrapped by every error: widths and lengths do not fit together.
var ErrSize = errors.New("bit-packed block of the wrong size")

// order is the place of each group of eight rows.
var order = [8]int{0, 4, 2, 6, 1, 5, 3, 7}

// Size is the number of bytes of a block packed to width bits.
func Size(width int) int { return width * rowBytes }

// place is the position of row r among the bytes of an unpacked block.
func place(r, bits int) int { return (16*order[r>>3&7] + 128*(r&7)) * bits / 8 }

// repeat fills a 64-bit word with fields of the given bits whose lower width bits are set.
func repeat(bits, width int) uint64 {
	m := ^uint64(0) >> uint(64-width)
	for ; bits < 64; bits *= 2 {
		m |= m << bits
	}
	return m
}

func check(unpacked, packed []byte, bits, width int) error {
	if bits != 8 && bits != 16 && bits != 32 && bits != 64 {
		return fmt.Errorf("%w: values of %d bits", ErrSize, bits)
	}
	if width < 0 || width > bits {
		return fmt.Errorf("%w: %d of %d bits kept", ErrSize, width, bits)
	}
	if len(unpacked) != Size(bits) || len(packed) != Size(width) {
		return fmt.Errorf("%w: %d bytes packed to %d bits, %d bytes unpacked", ErrSize, len(packed), width, len(unpacked))
	}
	return nil
}
