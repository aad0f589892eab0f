package array

import (
	"github.com/apache/arrow-go/v18/arrow"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// variable compiles an encoding of strings.
func (c *compiler) variable(typ arrow.DataType, e *pb.ArrayEncoding, depth int) (encoding, error) {
	switch t := e.GetEncoding().(type) {
	case *pb.ArrayEncoding_Binary_:
		return c.binary(t.Binary, depth)
	case *pb.ArrayEncoding_Fsst:
		return c.fsst(t.Fsst, depth)
	case *pb.ArrayEncoding_FixedSizeBinary_:
		return c.fixedSizeBinary(t.FixedSizeBinary, depth)
	case *pb.ArrayEncoding_Constant_:
		return sameText(t.Constant.GetValue()), nil
	}
	return nil, corrupt("%s is stored as %s", typ, describe(e))
}

// binaryValues are ends and the bytes themselves.
type binaryValues struct {
	ends  ends
	bytes fixed
}

func (c *compiler) binary(m *pb.ArrayEncoding_Binary, depth int) (*binaryValues, error) {
	e, err := c.ends(m.GetEnds(), m.GetNullAdjustment(), depth)
	if err != nil {
		return nil, err
	}
	b, err := c.fixed(m.GetBytes(), depth)
	if err != nil {
		return nil, err
	}
	if b.bits() != 8 {
		return nil, corrupt("bytes of %d bits", b.bits())
	}
	return &binaryValues{e, b}, nil
}

func (s *binaryValues) load(r *read, from, to uint64) (part, error) { return s.start(r, from, to) }

func (s *binaryValues) start(r *read, from, to uint64) (*binaryPart, error) {
	e, err := s.ends.load(r, from, to)
	if err != nil {
		return nil, err
	}
	p := &binaryPart{ends: e}
	r.then(func() (err error) {
		if err := e.open(r); err != nil {
			return err
		}
		p.bytes, err = s.bytes.load(r, e.first, e.last)
		return err
	})
	return p, nil
}

func (s *binaryValues) need(from, to uint64, out []datafile.Span) []datafile.Span {
	out = s.ends.need(from, to, out)
	ends, ok := s.ends.of.(*flat)
	bytes, fine := s.bytes.(*flat)
	switch {
	case !ok || !fine || ends.packed || from >= to:
		return out
	case bytes.packed:
		return bytes.need(from, to, out)
	}
	from, to = guess(from, to, ends.span.Size/8, bytes.span.Size, 8<<10)
	return bytes.need(from, to, out)
}

// guess is where values [from, to) of n probably lie among size units, if they are of
// about one length. A few units more are named on each side.
func guess(from, to, n, size, few uint64) (uint64, uint64) {
	if n == 0 {
		return 0, 0
	}
	place := func(i uint64) uint64 { return uint64(float64(size) * (float64(i) / float64(n))) }
	lo, hi := place(min(from, n)), place(min(to, n))
	few += (hi - lo) / 16
	if lo -= min(few, lo); from == 0 {
		lo = 0
	}
	if hi = min(plus(hi, few), size); to >= n {
		hi = size
	}
	return min(lo, hi), hi
}

type binaryPart struct {
	ends  *endsPart
	bytes fixedPart
}

func (p *binaryPart) prepare(r *read) (uint64, error) {
	n := p.ends.last - p.ends.first
	return n, r.take(n)
}

// raw returns the bytes of the rows.
func (p *binaryPart) raw(r *read) (b []byte, kept bool, err error) {
	b, _, kept, ok := p.bytes.raw()
	if !ok {
		n := p.ends.last - p.ends.first
		if err := r.borrow(n); err != nil {
			return nil, false, err
		}
		b = make([]byte, n)
		return b, false, p.bytes.unpack(b)
	}
	return b, kept, nil
}

func (p *binaryPart) appendTo(b *builder) error {
	if err := b.text.fits(p.ends.last - p.ends.first); err != nil {
		return err
	}
	raw, kept, err := p.raw(b.r)
	if err != nil {
		return err
	}
	if err := b.text.ends(p.ends.raw, p.ends.n, p.ends.first, p.ends.of.adjust, b.n, &b.valid); err != nil {
		return err
	}
	b.text.add(raw, kept)
	b.n += p.ends.n
	return nil
}
