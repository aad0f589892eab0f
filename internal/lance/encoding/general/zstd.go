package general

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"
)

const zstdMagic = 0xFD2FB528

// decoders keeps decoders between calls: each has tables of some hundred kilobytes.
var decoders sync.Pool

func appendZSTD(dst, src []byte, limit int64) ([]byte, error) {
	frame, size := src, int64(-1)
	if !bareFrame(src) {
		if len(src) < zstdPrefix {
			return dst, fmt.Errorf("%w: %d bytes of ZSTD", ErrCorrupt, len(src))
		}
		stored := binary.LittleEndian.Uint64(src)
		frame = src[zstdPrefix:]
		if stored > uint64(len(frame)/zstdMinBlock+1)*zstdBlock {
			return dst, fmt.Errorf("%w: %d bytes in %d bytes of ZSTD", ErrCorrupt, stored, len(frame))
		}
		size = int64(stored)
	} else {
		var h zstd.Header
		if err := h.Decode(src); err != nil {
			return dst, fmt.Errorf("%w: ZSTD: %v", ErrCorrupt, err)
		}
		if !h.HasFCS || h.FrameContentSize > uint64(len(frame)/zstdMinBlock+1)*zstdBlock {
			return growing(dst, frame, limit)
		}
		size = int64(h.FrameContentSize)
	}
	if size > limit {
		return dst, fmt.Errorf("%w: %d bytes, %d allowed", ErrLimit, size, limit)
	}
	at := len(dst)
	dst = slices.Grow(dst, int(size))
	out, err := decode(dst[at:at:at+int(size)], frame)
	if err != nil {
		return dst, fmt.Errorf("%w: ZSTD: %v", ErrCorrupt, err)
	}
	if int64(len(out)) != size {
		return dst, fmt.Errorf("%w: %d bytes in ZSTD that should be %d", ErrCorrupt, len(out), size)
	}
	return dst[:at+len(out)], nil
}

// bareFrame tells whether there is no size before the frame. A size that
// looks like the magic number has the reserved bit of the frame header set or is above 4 GB.
func bareFrame(b []byte) bool {
	return len(b) >= 5 && binary.LittleEndian.Uint32(b) == zstdMagic && b[4]&0x10 == 0
}

// growing decompresses a frame that does not tell its size, in rooms of growing size. The decoder wants room
// for a whole block at the end.
func growing(dst, frame []byte, limit int64) ([]byte, error) {
	most := min(limit, int64(len(frame)/zstdMinBlock+1)*zstdBlock)
	for room := min(most, max(int64(len(frame))*4, 1<<12)); ; room = min(most, room*4) {
		out, err := decode(make([]byte, 0, room+zstdBlock), frame)
		switch {
		case err == nil && int64(len(out)) <= limit:
			return append(dst, out...), nil
		case err == nil, room == most && errors.Is(err, zstd.ErrDecoderSizeExceeded):
			return dst, fmt.Errorf("%w: ZSTD, %d allowed", ErrLimit, limit)
		case room == most:
			return dst, fmt.Errorf("%w: ZSTD: %v", ErrCorrupt, err)
		}
	}
}

// decode decompresses into the capacity of dst.
func decode(dst, frame []byte) ([]byte, error) {
	d, ok := decoders.Get().(*zstd.Decoder)
	if !ok {
		var err error
		d, err = zstd.NewReader(nil,
			zstd.WithDecoderConcurrency(1), // no goroutines
			zstd.WithDecoderLowmem(true),
			zstd.WithDecodeAllCapLimit(true), // never more than there is room for
		)
		if err != nil {
			return dst, err
		}
	}
	defer decoders.Put(d)
	return d.DecodeAll(frame, dst)
}
