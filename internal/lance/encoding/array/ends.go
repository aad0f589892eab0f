package array

import (
	"encoding/binary"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// ends are u64 numbers that tell where each value ends, nulls with an adjustment added.
type ends struct {
	of     fixed
	adjust uint64
}

func (c *compiler) ends(e *pb.ArrayEncoding, adjust uint64, depth int) (ends, error) {
	of, err := c.fixed(e, depth)
	if err != nil {
		return ends{}, err
	}
	if of.bits() != 64 {
		return ends{}, corrupt("ends of %d bits", of.bits())
	}
	if adjust == 0 {
		return ends{}, corrupt("nulls have nothing added to their ends")
	}
	return ends{of, adjust}, nil
}

// endsPart are the ends of rows [from, to) and, unless from is 0, the one before.
type endsPart struct {
	of    ends
	n     int
	extra bool
	part  fixedPart
	raw   []byte
	// first is where the rows begin, last where they end; known after open.
	first, last uint64
}

func (e ends) load(r *read, from, to uint64) (*endsPart, error) {
	p := &endsPart{of: e, n: int(to - from), extra: from > 0}
	if p.extra {
		from--
	}
	var err error
	p.part, err = e.of.load(r, from, to)
	return p, err
}

func (e ends) need(from, to uint64, out []datafile.Span) []datafile.Span {
	return e.of.need(from-min(from, 1), to, out)
}

// open finds out where the rows begin and end.
func (p *endsPart) open(r *read) error {
	n := p.n
	if p.extra {
		n++
	}
	raw, _, _, ok := p.part.raw()
	if !ok {
		if err := r.borrow(uint64(n) * 8); err != nil {
			return err
		}
		raw = make([]byte, n*8)
		if err := p.part.unpack(raw); err != nil {
			return err
		}
	}
	if len(raw) < n*8 {
		return corrupt("%d bytes for %d ends", len(raw), n)
	}
	if n == 0 {
		return nil
	}
	at := func(i int) uint64 {
		v := binary.LittleEndian.Uint64(raw[i*8:])
		if v >= p.of.adjust {
			v -= p.of.adjust
		}
		return v
	}
	p.last = at(n - 1)
	if p.extra {
		p.first = at(0)
		raw = raw[8:]
	}
	p.raw = raw
	if p.last < p.first {
		return corrupt("ends fall from %d to %d", p.first, p.last)
	}
	return nil
}
