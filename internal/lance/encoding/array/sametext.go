package array

import (
	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// sameText is one string for all rows.
type sameText []byte

func (s sameText) load(_ *read, from, to uint64) (part, error) {
	return &evenPart{of: (*constantPart)(&constant{s}), n: to - from, w: uint64(len(s))}, nil
}

func (s sameText) need(_, _ uint64, out []datafile.Span) []datafile.Span { return out }

// evenText are strings of one length.
type evenText struct {
	bytes fixed
	w     uint64
}

func (c *compiler) fixedSizeBinary(m *pb.ArrayEncoding_FixedSizeBinary, depth int) (encoding, error) {
	b, err := c.fixed(m.GetBytes(), depth)
	if err != nil {
		return nil, err
	}
	w := uint64(m.GetByteWidth())
	// Writers count the bytes as values, or the whole strings.
	if b.bits() != 8 && b.bits() != 8*w {
		return nil, corrupt("strings of %d bytes in values of %d bits", w, b.bits())
	}
	return &evenText{b, w}, nil
}

// values are the numbers of the stored values that hold some rows.
func (e *evenText) values(from, to uint64) (uint64, uint64) {
	if e.bytes.bits() == 8 {
		return times(from, e.w), times(to, e.w)
	}
	return from, to
}

func (e *evenText) load(r *read, from, to uint64) (part, error) {
	a, b := e.values(from, to)
	p, err := e.bytes.load(r, a, b)
	return &evenPart{of: p, n: to - from, w: e.w}, err
}

func (e *evenText) need(from, to uint64, out []datafile.Span) []datafile.Span {
	a, b := e.values(from, to)
	return e.bytes.need(a, b, out)
}

type evenPart struct {
	of   fixedPart
	n, w uint64
}

func (p *evenPart) prepare(r *read) (uint64, error) {
	size := times(p.n, p.w)
	return size, r.take(size)
}

func (p *evenPart) appendTo(b *builder) error {
	size := p.n * p.w
	if err := b.text.fits(size); err != nil {
		return err
	}
	raw, _, kept, ok := p.of.raw()
	if !ok {
		b.text.reserve()
		at := len(b.text.bytes)
		b.text.bytes = append(b.text.bytes, make([]byte, size)...)
		if err := p.of.unpack(b.text.bytes[at:]); err != nil {
			return err
		}
	} else {
		if uint64(len(raw)) != size {
			return corrupt("%d bytes for %d strings of %d", len(raw), p.n, p.w)
		}
		b.text.add(raw, kept)
	}
	b.text.lengths(int(p.n), int(p.w))
	b.n += int(p.n)
	return nil
}
