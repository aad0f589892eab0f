package general

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// ErrTooLong is wrapped by the error about bytes that are too many to be compressed at once.
var ErrTooLong = errors.New("too long to be compressed")

// maxLZ4 is the longest input of an LZ4 block.
const maxLZ4 = 0x7E000000

// Compress appends src, compressed, to dst: what Append turns back. It never fails to make something of up to
// 2 GB, but what does not shrink comes out a bit longer. Level is for ZSTD alone, on the scale of
// its command line; 0 is the default. dst and src must not overlap.
func Compress(dst, src []byte, scheme pb.BufferCompression_Scheme, level int) ([]byte, error) {
	if err := Check(scheme); err != nil {
		return dst, err
	}
	if len(src) > maxLZ4 {
		return dst, fmt.Errorf("%w: %d bytes", ErrTooLong, len(src))
	}
	if scheme == pb.BufferCompression_LZ4 {
		return compressLZ4(dst, src)
	}
	return compressZSTD(dst, src, speed(level, len(src)))
}

func compressZSTD(dst, src []byte, speed zstd.EncoderLevel) ([]byte, error) {
	e, pool, err := encoder(speed)
	if err != nil {
		return dst, fmt.Errorf("ZSTD, %v: %w", speed, err)
	}
	defer pool.Put(e)
	return e.EncodeAll(src, binary.LittleEndian.AppendUint64(dst, uint64(len(src)))), nil
}

// compressors keeps the hash tables of LZ4.
var compressors = sync.Pool{New: func() any { return new(lz4.Compressor) }}

func compressLZ4(dst, src []byte) ([]byte, error) {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(src)))
	at := len(dst)
	bound := lz4.CompressBlockBound(len(src))
	dst = slices.Grow(dst, bound)
	c := compressors.Get().(*lz4.Compressor)
	n, err := c.CompressBlock(src, dst[at:at+bound])
	compressors.Put(c)
	if err != nil {
		return dst[:at-lz4Prefix], fmt.Errorf("LZ4 of %d bytes: %w", len(src), err)
	}
	if n == 0 {
		return literals(dst, src), nil
	}
	return dst[:at+n], nil
}

// literals appends an LZ4 block that has src as it is.
func literals(dst, src []byte) []byte {
	n := len(src)
	if n < 15 {
		return append(append(dst, byte(n<<4)), src...)
	}
	dst = append(dst, 0xf0)
	for n -= 15; n >= math.MaxUint8; n -= math.MaxUint8 {
		dst = append(dst, math.MaxUint8)
	}
	return append(append(dst, byte(n)), src...)
}

// encoders keeps ZSTD encoders, which are large, by how hard they try.
var encoders [zstd.SpeedBestCompression + 1]sync.Pool

// smallSource is the size up to which Lance's own compressor finds more in a source than this one at the same level.
const smallSource = 64 << 10

// speed is how hard the encoder tries, for about the size that the level has elsewhere.
func speed(level, size int) zstd.EncoderLevel {
	switch {
	case level >= 10:
		return zstd.SpeedBestCompression
	case level >= 6, (level == 0 || level >= 3) && size <= smallSource:
		return zstd.SpeedBetterCompression
	}
	return zstd.SpeedDefault
}

// encoder takes an encoder out of its pool, to which it belongs again afterwards.
func encoder(speed zstd.EncoderLevel) (*zstd.Encoder, *sync.Pool, error) {
	pool := &encoders[speed]
	if e, ok := pool.Get().(*zstd.Encoder); ok {
		return e, pool, nil
	}
	e, err := zstd.NewWriter(nil,
		zstd.WithEncoderLevel(speed),
		zstd.WithEncoderConcurrency(1), // no goroutines
		zstd.WithEncoderCRC(false),
		zstd.WithLowerEncoderMem(true),
		zstd.WithZeroFrames(true),
		zstd.WithWindowSize(1<<20),
	)
	return e, pool, err
}
