package general

import (
	"encoding/binary"
	"fmt"
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// Compressor compresses many sources that are alike.
type Compressor struct {
	scheme pb.BufferCompression_Scheme
	speed  zstd.EncoderLevel
	// thorough LZ4 looks for matches at more than one place.
	thorough bool
}

// What part of the size a slow way has to save.
const (
	worthThorough = 0.02
	worthBest     = 0.05
)

// NewCompressor makes a compressor for sources like some of them, of which it tries out what suits them: in short sources of numbers
// the fastest ZSTD often finds more than slower ones, which take short matches for what is better left to the entropy coder,
// and the fast LZ4 passes over much. Scheme and level are those of Compress.
func NewCompressor(scheme pb.BufferCompression_Scheme, level int, some [][]byte) (Compressor, error) {
	c := Compressor{scheme: scheme}
	if err := Check(scheme); err != nil {
		return c, err
	}
	longest := 0
	for _, s := range some {
		longest = max(longest, len(s))
	}
	c.speed = speed(level, longest)
	if len(some) == 0 || longest > smallSource {
		return c, nil
	}
	least, err := c.sizeOf(some)
	if err != nil {
		return c, err
	}
	for _, other := range c.others(level) {
		size, err := other.sizeOf(some)
		if err != nil {
			return c, err
		}
		worth := 0.0
		switch {
		case other.thorough:
			worth = worthThorough
		case other.speed > c.speed:
			worth = worthBest
		}
		if float64(size) < (1-worth)*float64(least) {
			least, c = size, other
		}
	}
	return c, nil
}

// others are the ways that may suit sources better.
func (c Compressor) others(level int) []Compressor {
	if c.scheme == pb.BufferCompression_LZ4 {
		return []Compressor{{scheme: c.scheme, thorough: true}}
	}
	out := []Compressor{{scheme: c.scheme, speed: zstd.SpeedFastest}}
	if level == 0 || level >= 3 { // who asks for less wants it fast
		out = append(out, Compressor{scheme: c.scheme, speed: zstd.SpeedBestCompression})
	}
	return out
}

// sizeOf is how many bytes some sources take together.
func (c Compressor) sizeOf(some [][]byte) (n int, err error) {
	var out []byte
	for _, src := range some {
		if out, err = c.Append(out[:0], src); err != nil {
			return n, err
		}
		n += len(out)
	}
	return n, nil
}

// Append appends src, compressed, to dst, as Compress does.
func (c Compressor) Append(dst, src []byte) ([]byte, error) {
	switch {
	case len(src) > maxLZ4:
		return dst, fmt.Errorf("%w: %d bytes", ErrTooLong, len(src))
	case c.scheme != pb.BufferCompression_LZ4:
		return compressZSTD(dst, src, c.speed)
	case c.thorough:
		return compressThoroughly(dst, src)
	}
	return compressLZ4(dst, src)
}

// places is at how many places a match is looked for; more find hardly anything in short sources.
const places = 4

// thorough keeps the hash tables of thorough LZ4, a MiB each.
var thorough = sync.Pool{New: func() any { return &lz4.CompressorHC{Level: places} }}

func compressThoroughly(dst, src []byte) ([]byte, error) {
	had := len(dst)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(src)))
	at := len(dst)
	bound := lz4.CompressBlockBound(len(src))
	dst = slices.Grow(dst, bound)
	c := thorough.Get().(*lz4.CompressorHC)
	n, err := c.CompressBlock(src, dst[at:at+bound])
	thorough.Put(c)
	if err != nil {
		return dst[:had], fmt.Errorf("LZ4 of %d bytes: %w", len(src), err)
	}
	if n == 0 {
		return literals(dst, src), nil
	}
	return dst[:at+n], nil
}
