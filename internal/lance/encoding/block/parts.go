package block

import (
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/slab"
)

const (
	// leastPart and fullPart are how much room, in bytes, the first and the later of Parts have unless what
	// is appended at once needs more.
	leastPart = 4 << 10
	fullPart  = 512 << 10
)

// Parts collects values in several blocks, so that nothing has to be moved while they become more. Their memory is
// borrowed.
type Parts struct {
	shape *Values
	parts []*Values
	n     int
	held  int64
}

// NewParts collects values of the shape of an empty block.
func NewParts(shape *Values) *Parts { return &Parts{shape: shape} }

// N is how many values there are.
func (p *Parts) N() int { return p.n }

// Held is how much memory they take.
func (p *Parts) Held() int64 { return p.held }

// AppendArray is that of Values.
func (p *Parts) AppendArray(a arrow.Array, from, to int) error {
	if from < 0 || from > to || to > a.Len() {
		return fmt.Errorf("values %d to %d of an array of %d", from, to, a.Len())
	}
	if from == to {
		return nil
	}
	n, text := to-from, textBytes(a, from, to)
	if k := len(p.parts); k == 0 || !p.parts[k-1].fits(n, text) {
		v := p.shape.empty(p.shape.Limit)
		need := max((p.shape.width()*int64(n)+7)/8+text, 1)
		// What comes is likely to be like this.
		times := max(min(max(p.held, leastPart), fullPart)/need, 1)
		v.borrow(n*int(times), text*times)
		p.held += v.capacity()
		if bytes := p.shape.Bits / 8; k > 0 && v.repeats() {
			last := p.parts[k-1].Data
			v.before = last[len(last)-bytes:]
		}
		p.parts = append(p.parts, v)
	}
	p.n += n
	return p.parts[len(p.parts)-1].AppendArray(a, from, to)
}

// Whole is all of them as one block, good until Free is called or the arena freed. None can be added before Free.
func (p *Parts) Whole(mem *slab.Arena) *Values {
	if len(p.parts) == 1 {
		return p.parts[0]
	}
	whole := joined(p.shape, p.parts, mem)
	clear(p.parts)
	p.parts = p.parts[:0]
	return whole
}

// Free gives back all memory, and leaves no values.
func (p *Parts) Free() {
	for i, v := range p.parts {
		v.giveBack()
		p.parts[i] = nil
	}
	p.parts, p.n, p.held = p.parts[:0], 0, 0
}

// textBytes is how many bytes values of varying length have in a range of an array that is not empty.
func textBytes(a arrow.Array, from, to int) int64 {
	for {
		e, ok := a.(array.ExtensionArray)
		if !ok {
			break
		}
		a = e.Storage()
	}
	b, ok := a.(array.BinaryLike)
	if !ok {
		return 0
	}
	return max(b.ValueOffset64(to-1)+int64(b.ValueLen(to-1))-b.ValueOffset64(from), 0)
}

// fits tells whether n more values, with so many bytes of text, go into the memory that is there.
func (v *Values) fits(n int, text int64) bool {
	switch v.Kind {
	case Fixed:
		return (int64(v.N)+int64(n))*int64(v.Bits) <= 8*int64(cap(v.Data))
	case Variable:
		return int64(len(v.Data))+text <= int64(cap(v.Data)) && len(v.Offsets)+n <= cap(v.Offsets)
	case List:
		return v.Items.fits(n*v.Dim, 0)
	}
	for _, f := range v.Fields {
		if !f.fits(n, 0) {
			return false
		}
	}
	return true
}

// borrow gives an empty block memory for n values with so many bytes of text.
func (v *Values) borrow(n int, text int64) {
	switch v.Kind {
	case Fixed:
		// A word more, so that bits can be written by words.
		if bytes := (int64(n)*int64(v.Bits)+7)/8 + 8; bytes < math.MaxInt32 {
			v.Data = slab.Get[byte](int(bytes))
		}
	case Variable:
		if text < math.MaxInt32 {
			v.Data = slab.Get[byte](int(text))
		}
		v.Offsets = append(slab.Get[int64](n+1), 0)
	case List:
		v.Items.borrow(n*v.Dim, 0)
	}
	for _, f := range v.Fields {
		f.borrow(n, 0)
	}
}

// giveBack ends the use of a block whose memory nobody else uses.
func (v *Values) giveBack() {
	slab.Put(v.Data)
	slab.Put(v.Offsets)
	v.Data, v.Offsets = nil, nil
	if v.Items != nil {
		v.Items.giveBack()
	}
	for _, f := range v.Fields {
		f.giveBack()
	}
}

// capacity is the memory of all buffers.
func (v *Values) capacity() int64 {
	n := int64(cap(v.Data)) + 8*int64(cap(v.Offsets)) + int64(cap(v.Valid))
	if v.Items != nil {
		n += v.Items.capacity()
	}
	for _, f := range v.Fields {
		n += f.capacity()
	}
	return n
}

// joined copies blocks of one shape into one, and gives them back.
func joined(shape *Values, parts []*Values, mem *slab.Arena) *Values {
	out := &Values{Kind: shape.Kind, Bits: shape.Bits, Dim: shape.Dim, Limit: shape.Limit}
	bytes, bitmaps := 0, false
	for _, p := range parts {
		out.N += p.N
		bytes += len(p.Data)
		bitmaps = bitmaps || p.Valid != nil
	}
	switch out.Kind {
	case Fixed:
		out.Data = mem.Bytes(bytes + 8)
		at := 0
		for _, p := range parts {
			if out.Bits == 1 {
				out.Data = appendBits(out.Data, at, p.Data, 0, p.N)
			} else {
				out.Data = append(out.Data, p.Data...)
			}
			at += p.N
			p.giveBack()
		}
	case Variable:
		out.Data, out.Offsets = mem.Bytes(bytes), mem.Offsets(out.N+1)
		out.Offsets[0] = 0
		ends := out.Offsets[1:]
		for _, p := range parts {
			base := int64(len(out.Data))
			for i, o := range p.Offsets[1:] {
				ends[i] = base + o
			}
			ends = ends[p.N:]
			out.Data = append(out.Data, p.Data...)
			p.giveBack()
		}
	case List:
		if bitmaps {
			at := 0
			for _, p := range parts {
				n := p.N * p.Dim
				if p.Valid == nil {
					out.Valid = appendBit(out.Valid, at, n, true)
				} else {
					out.Valid = appendBits(out.Valid, at, p.Valid, 0, n)
				}
				at += n
			}
		}
	}
	of := make([]*Values, len(parts))
	if shape.Items != nil {
		for i, p := range parts {
			of[i] = p.Items
		}
		out.Items = joined(shape.Items, of, mem)
	}
	for k, f := range shape.Fields {
		for i, p := range parts {
			of[i] = p.Fields[k]
		}
		out.Fields = append(out.Fields, joined(f, of, mem))
	}
	return out
}
