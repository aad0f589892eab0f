package array

import (
	"encoding/binary"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/bitpack"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// widths checks how many bits of how many are stored.
func widths(kept, all uint64) error {
	switch all {
	case 8, 16, 32, 64:
	default:
		return unsupported("bit-packed values of %d bits", all)
	}
	if kept == 0 || kept > all {
		return corrupt("%d bits stored of values of %d", kept, all)
	}
	return nil
}

// bitpacked values are stored with w bits each, from the lowest bit of the first byte on.
type bitpacked struct {
	span   datafile.Span
	w, all uint64
	signed bool
}

func (c *compiler) bitpacked(m *pb.ArrayEncoding_Bitpacked) (fixed, error) {
	b := &bitpacked{w: m.GetCompressedBitsPerValue(), all: m.GetUncompressedBitsPerValue(), signed: m.GetSigned()}
	if err := widths(b.w, b.all); err != nil {
		return nil, err
	}
	var err error
	b.span, err = c.buffer(m.GetBuffer())
	return b, err
}

func (b *bitpacked) bits() uint64 { return b.all }

func (b *bitpacked) part(from, to uint64) (datafile.Span, int, bool) {
	end := bitBytes(to, b.w)
	if end > b.span.Size {
		return datafile.Span{}, 0, false
	}
	bit := from * b.w // less than 8 times the buffer's size
	return datafile.Span{Pos: b.span.Pos + bit/8, Size: end - bit/8}, int(bit % 8), true
}

func (b *bitpacked) load(r *read, from, to uint64) (fixedPart, error) {
	s, bit, ok := b.part(from, to)
	if !ok {
		return nil, corrupt("%d values of %d bits in a buffer of %d bytes", to, b.w, b.span.Size)
	}
	p := &bitpackedPart{of: b, bit: bit}
	return p, r.want(s, &p.b)
}

func (b *bitpacked) need(from, to uint64, out []datafile.Span) []datafile.Span {
	if s, _, ok := b.part(from, to); ok && s.Size > 0 {
		out = append(out, s)
	}
	return out
}

type bitpackedPart struct {
	of  *bitpacked
	b   []byte
	bit int
}

func (p *bitpackedPart) raw() ([]byte, int, bool, bool) { return nil, 0, false, false }

func (p *bitpackedPart) unpack(dst []byte) error {
	w, all := p.of.w, int(p.of.all/8)
	n := len(dst) / all
	if uint64(p.bit)+uint64(n)*w > uint64(len(p.b))*8 {
		return corrupt("%d values of %d bits in %d bytes", n, w, len(p.b))
	}
	c := cutter{w: w, mask: ^uint64(0) >> (64 - w), pos: uint64(p.bit)}
	if p.of.signed {
		c.sign = 1 << (w - 1)
	}
	// All but the last values can be read as whole words.
	sure := 0
	if free := uint64(len(p.b)) * 8; free >= 72+c.pos {
		sure = int(min(uint64(n), (free-72-c.pos)/w))
	}
	c.cut(dst[:sure*all], p.b, all)
	var edge [16]byte
	for i := sure; i < n; i++ {
		at := c.pos / 8
		edge = [16]byte{}
		copy(edge[:], p.b[at:])
		one := c
		one.pos %= 8
		one.cut(dst[i*all:(i+1)*all], edge[:], all)
		c.pos += w
	}
	return nil
}

// cutter cuts values of w bits out of bytes.
type cutter struct {
	w, mask, sign uint64
	// pos is the bit at which the next value begins.
	pos uint64
}

// next value, of which 9 bytes can be read; the sign bit is carried up, and does nothing when it is 0.
func (c *cutter) next(b []byte) uint64 {
	bit := c.pos % 8
	b = b[c.pos/8:]
	v := binary.LittleEndian.Uint64(b) >> bit
	if c.w > 56 {
		v |= uint64(b[8]) << (64 - bit) // nothing when bit is 0
	}
	c.pos += c.w
	return (v&c.mask ^ c.sign) - c.sign
}

// cut writes values of some bytes each.
func (c *cutter) cut(dst, b []byte, bytes int) {
	le := binary.LittleEndian
	switch bytes {
	case 1:
		for i := range dst {
			dst[i] = byte(c.next(b))
		}
	case 2:
		for ; len(dst) >= 2; dst = dst[2:] {
			le.PutUint16(dst, uint16(c.next(b)))
		}
	case 4:
		for ; len(dst) >= 4; dst = dst[4:] {
			le.PutUint32(dst, uint32(c.next(b)))
		}
	default:
		for ; len(dst) >= 8; dst = dst[8:] {
			le.PutUint64(dst, c.next(b))
		}
	}
}

// block of values that are packed together.
const block = 1024

// transposed values are stored with w bits each in blocks of 1024, the last one padded.
type transposed struct {
	span   datafile.Span
	w, all uint64
}

func (c *compiler) transposed(m *pb.ArrayEncoding_BitpackedForNonNeg) (fixed, error) {
	t := &transposed{w: m.GetCompressedBitsPerValue(), all: m.GetUncompressedBitsPerValue()}
	if err := widths(t.w, t.all); err != nil {
		return nil, err
	}
	var err error
	t.span, err = c.buffer(m.GetBuffer())
	return t, err
}

func (t *transposed) bits() uint64 { return t.all }

func (t *transposed) part(from, to uint64) (datafile.Span, bool) {
	size := block / 8 * t.w
	pos, end := from/block*size, times((to+block-1)/block, size)
	if end > t.span.Size || to+block < to {
		return datafile.Span{}, false
	}
	return datafile.Span{Pos: t.span.Pos + pos, Size: end - pos}, true
}

func (t *transposed) load(r *read, from, to uint64) (fixedPart, error) {
	if from == to {
		return &transposedPart{of: t}, nil
	}
	s, ok := t.part(from, to)
	if !ok {
		return nil, corrupt("%d values of %d bits, in blocks of %d, in a buffer of %d bytes", to, t.w, block, t.span.Size)
	}
	p := &transposedPart{of: t, skip: int(from % block)}
	return p, r.want(s, &p.b)
}

func (t *transposed) need(from, to uint64, out []datafile.Span) []datafile.Span {
	if s, ok := t.part(from, to); ok && from < to {
		out = append(out, s)
	}
	return out
}

type transposedPart struct {
	of   *transposed
	b    []byte
	skip int
}

func (p *transposedPart) raw() ([]byte, int, bool, bool) { return nil, 0, false, false }

func (p *transposedPart) unpack(dst []byte) error {
	all := int(p.of.all / 8)
	size := int(block / 8 * p.of.w)
	var tmp [block * 8]byte
	for at := 0; len(dst) > 0; at += size {
		if len(p.b)-at < size {
			return corrupt("block of %d bits per value in %d bytes", p.of.w, len(p.b)-at)
		}
		in := p.b[at:][:size]
		if p.skip == 0 && len(dst) >= block*all {
			if err := bitpack.Unpack(dst[:block*all], in, int(p.of.all), int(p.of.w)); err != nil {
				return err
			}
			dst = dst[block*all:]
			continue
		}
		if err := bitpack.Unpack(tmp[:block*all], in, int(p.of.all), int(p.of.w)); err != nil {
			return err
		}
		dst = dst[copy(dst, tmp[p.skip*all:block*all]):]
		p.skip = 0
	}
	return nil
}
