package array

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/general"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// flat values lie one behind the other, in a buffer that may be compressed as a whole.
type flat struct {
	page *page
	span datafile.Span
	w    uint64 // bits
	// packed tells whether the buffer is compressed, with this scheme.
	packed bool
	scheme pb.BufferCompression_Scheme
}

func (c *compiler) flat(m *pb.ArrayEncoding_Flat) (fixed, error) {
	span, err := c.buffer(m.GetBuffer())
	if err != nil {
		return nil, err
	}
	f := &flat{page: c.page, span: span, w: m.GetBitsPerValue()}
	if f.w != 1 && (f.w == 0 || f.w%8 != 0) {
		return nil, unsupported("flat values of %d bits", f.w)
	}
	switch s := m.GetCompression().GetScheme(); s {
	case "", "none":
	case "lz4":
		f.packed, f.scheme = true, pb.BufferCompression_LZ4
	case "zstd":
		f.packed, f.scheme = true, pb.BufferCompression_ZSTD
	default:
		return nil, unsupported("buffer compressed with %q", s)
	}
	return f, nil
}

func (f *flat) bits() uint64 { return f.w }

// part of the buffer, after decompression, that holds values [from, to).
func (f *flat) part(from, to uint64) (datafile.Span, error) {
	pos, end := bitBytes(from, f.w), bitBytes(to, f.w)
	if f.w == 1 {
		pos = from / 8
	}
	if end == ^uint64(0) {
		return datafile.Span{}, corrupt("%d values of %d bits", to, f.w)
	}
	return datafile.Span{Pos: pos, Size: end - pos}, nil
}

func (f *flat) load(r *read, from, to uint64) (fixedPart, error) {
	s, err := f.part(from, to)
	if err != nil {
		return nil, err
	}
	p := &flatPart{}
	if f.w == 1 {
		p.bit = int(from % 8)
	}
	if s.Size == 0 {
		return p, nil
	}
	if !f.packed {
		if s.Pos+s.Size > f.span.Size {
			return nil, corrupt("%d values of %d bits in a buffer of %d bytes", to, f.w, f.span.Size)
		}
		return p, r.want(datafile.Span{Pos: f.span.Pos + s.Pos, Size: s.Size}, &p.b)
	}
	p.kept = true
	cut := func(block []byte) error {
		if s.Pos+s.Size > uint64(len(block)) {
			return corrupt("%d values of %d bits in a buffer that decompresses to %d bytes", to, f.w, len(block))
		}
		p.b = block[s.Pos:][:s.Size]
		return nil
	}
	if block, ok := f.page.of.kept.get(f.page, f); ok {
		return p, cut(block.([]byte))
	}
	var stored []byte
	if err := r.want(f.span, &stored); err != nil {
		return nil, err
	}
	r.then(func() error {
		block, err := f.page.of.kept.once(f.page, f, r.limit, func() (any, int64, error) {
			b, err := f.decompress(r, stored)
			return b, int64(len(b)), err
		})
		if err != nil {
			return err
		}
		return cut(block.([]byte))
	})
	return p, nil
}

// decompress opens the whole buffer, in working memory.
func (f *flat) decompress(r *read, stored []byte) ([]byte, error) {
	b, err := general.Append(nil, stored, f.scheme, r.work)
	switch {
	case errors.Is(err, general.ErrLimit):
		return nil, fmt.Errorf("%w: %w", column.ErrLimit, err)
	case err != nil:
		return nil, fmt.Errorf("%w: %w", column.ErrCorrupt, err)
	}
	return b, r.borrow(uint64(len(b)))
}

func (f *flat) need(from, to uint64, out []datafile.Span) []datafile.Span {
	if f.packed {
		if from < to && f.span.Size > 0 {
			out = append(out, f.span)
		}
		return out
	}
	if s, err := f.part(from, to); err == nil && s.Size > 0 && s.Pos+s.Size <= f.span.Size {
		out = append(out, datafile.Span{Pos: f.span.Pos + s.Pos, Size: s.Size})
	}
	return out
}

type flatPart struct {
	b    []byte
	bit  int
	kept bool
}

func (p *flatPart) raw() ([]byte, int, bool, bool) { return p.b, p.bit, p.kept, true }

func (p *flatPart) unpack(dst []byte) error {
	if copy(dst, p.b) != len(dst) {
		return corrupt("%d bytes where %d are needed", len(p.b), len(dst))
	}
	return nil
}

// aligned tells whether bytes can stand for values of some bits without a copy.
func aligned(b []byte, bits int) bool {
	w := min(uintptr(bits/8), 8)
	w &= -w // the largest power of two in it
	return w <= 1 || len(b) == 0 || uintptr(unsafe.Pointer(unsafe.SliceData(b)))%w == 0
}
