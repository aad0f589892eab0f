// Package general does and undoes general-purpose compression of a buffer or of a single value.
//
//	LZ4    u32 size of the original, one raw LZ4 block
//	ZSTD   u64 size of the original, one frame; early writers: the frame alone
//
// Sizes are little-endian. They are checked against what the compressed bytes can
// possibly hold and against the caller's limit before anything of that size is allocated.
// All functions may be used concurrently.
package general

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/pierrec/lz4/v4"

	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

var (
	// ErrCorrupt is wrapped by errors about bytes that are not what the compressor wrote.
	ErrCorrupt = errors.New("corrupt compressed data")
	// ErrLimit is wrapped by the error about an original larger than the limit.
	ErrLimit = errors.New("original larger than the limit")
	// ErrScheme is wrapped by the error about an unknown compression.
	ErrScheme = errors.New("unknown compression scheme")
)

const (
	lz4Prefix  = 4
	zstdPrefix = 8
	// An LZ4 byte makes a match at most 255 longer.
	lz4Ratio = 255
	// A ZSTD block makes at most 128 KiB out of its header of 3 bytes and one more.
	zstdBlock, zstdMinBlock = 128 << 10, 4
)

// Check tells whether the scheme is one that Append undoes.
func Check(scheme pb.BufferCompression_Scheme) error {
	switch scheme {
	case pb.BufferCompression_LZ4, pb.BufferCompression_ZSTD:
		return nil
	}
	return fmt.Errorf("%w: %v", ErrScheme, scheme)
}

// Append decompresses src behind dst. The original has at most limit bytes. No bytes are the compressed form of no
// bytes.
func Append(dst, src []byte, scheme pb.BufferCompression_Scheme, limit int64) ([]byte, error) {
	if err := Check(scheme); err != nil {
		return dst, err
	}
	if len(src) == 0 {
		return dst, nil
	}
	if scheme == pb.BufferCompression_LZ4 {
		return appendLZ4(dst, src, limit)
	}
	return appendZSTD(dst, src, limit)
}

func appendLZ4(dst, src []byte, limit int64) ([]byte, error) {
	if len(src) < lz4Prefix {
		return dst, fmt.Errorf("%w: %d bytes of LZ4", ErrCorrupt, len(src))
	}
	size := int64(binary.LittleEndian.Uint32(src))
	src = src[lz4Prefix:]
	if size > int64(len(src))*lz4Ratio {
		return dst, fmt.Errorf("%w: %d bytes in %d bytes of LZ4", ErrCorrupt, size, len(src))
	}
	if size > limit {
		return dst, fmt.Errorf("%w: %d bytes, %d allowed", ErrLimit, size, limit)
	}
	if size == 0 {
		// A block of nothing is a token without literals.
		if len(src) > 1 || len(src) == 1 && src[0] != 0 {
			return dst, fmt.Errorf("%w: %d bytes of LZ4 for no bytes", ErrCorrupt, len(src))
		}
		return dst, nil
	}
	at := len(dst)
	dst = slices.Grow(dst, int(size))
	n, err := lz4.UncompressBlock(src, dst[at:at+int(size)])
	if err != nil {
		return dst, fmt.Errorf("%w: LZ4: %v", ErrCorrupt, err)
	}
	if int64(n) != size {
		return dst, fmt.Errorf("%w: %d bytes in LZ4 that should be %d", ErrCorrupt, n, size)
	}
	return dst[:at+n], nil
}
