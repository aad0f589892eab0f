package block

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/bitpack"
)

const levelBits = 16

func newLevelEncoder(levels []uint16, minor int) *LevelEncoder {
	all := uint16(0)
	for _, l := range levels {
		all |= l
	}
	e := &LevelEncoder{width: max(bitpack.Width([]byte{byte(all), byte(all >> 8)}, levelBits), 1)}
	if n := len(levels); minor >= 2 && n > 0 && runsOfLevels(levels) < n*e.width/8 {
		e.Encoding = runsEnc(levelBits)
		return e
	}
	switch n := len(levels); {
	case n <= bitpack.Block && levelBits/8+bitpack.Size(e.width) >= n*levelBits/8:
		e.width = levelBits
		e.Encoding = flatEnc(levelBits)
	case n <= bitpack.Block:
		e.inline = true
		e.Encoding = inlineEnc(levelBits)
	default:
		e.Encoding = outOfLineEnc(levelBits, e.width)
	}
	return e
}

func (e *LevelEncoder) append(dst []byte, levels []uint16) []byte {
	b := arrow.Uint16Traits.CastToBytes(levels)
	switch {
	case e.Encoding.GetFlat() != nil:
		return append(dst, b...)
	case e.Encoding.GetRle() != nil:
		return appendRuns(dst, levels)
	}
	if e.inline {
		for at := 0; at < len(levels); at += bitpack.Block {
			// All levels of the page are within one block's width, so that this can't fail.
			dst, _ = bitpack.AppendInline(dst, b[2*at:2*min(at+bitpack.Block, len(levels))], levelBits, e.width)
		}
		return dst
	}
	dst, _ = bitpack.AppendFixed(dst, b, levelBits, e.width)
	return dst
}

// runsOfLevels is the size of levels as runs, in parts as chunks often have them.
func runsOfLevels(levels []uint16) int {
	size := 0
	for part := range slices.Chunk(levels, bitpack.Block) {
		size += sizePrefix + len(part)/math.MaxUint8*runBytes
		for i := range part {
			if i == 0 || part[i] != part[i-1] {
				size += runBytes
			}
		}
	}
	return size
}

const (
	sizePrefix = 8 // before the values of runs that are one buffer
	runBytes   = 3 // a level and the length of its run
)

// appendRuns appends levels as runs: the size of their values, the values, the lengths.
func appendRuns(dst []byte, levels []uint16) []byte {
	le := binary.LittleEndian
	at := len(dst)
	dst = le.AppendUint64(dst, 0)
	each := func(do func(level uint16, n int)) {
		for i := 0; i < len(levels); {
			n := 1
			for i+n < len(levels) && n < math.MaxUint8 && levels[i+n] == levels[i] {
				n++
			}
			do(levels[i], n)
			i += n
		}
	}
	each(func(level uint16, _ int) { dst = le.AppendUint16(dst, level) })
	le.PutUint64(dst[at:], uint64(len(dst)-at-sizePrefix))
	each(func(_ uint16, n int) { dst = append(dst, byte(n)) })
	return dst
}

// AppendPlain appends levels as they are: what constant pages have in 2.1.
func AppendPlain(dst []byte, levels []uint16) []byte {
	for _, l := range levels {
		dst = binary.LittleEndian.AppendUint16(dst, l)
	}
	return dst
}
