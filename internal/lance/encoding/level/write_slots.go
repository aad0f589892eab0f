package level

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// ended marks the level of a slot that has no entry in the nodes below the list at which it ended.
const ended = 1 << 15

// slots is a batch on its way down the path.
type slots struct {
	n        int
	rep, def []uint16 // nil: none yet, or all are 0
	spans    []Span   // of the array of the node
	ends     bool     // some slot is marked
	// Space: what is read and what is written change places at each list.
	spareRep, spareDef []uint16
	spareSpans         []Span
}

func (b *slots) begin(from, to int) {
	if b.rep != nil {
		b.spareRep = b.rep
	}
	if b.def != nil {
		b.spareDef = b.def
	}
	b.n, b.rep, b.def, b.ends = to-from, nil, nil, false
	b.spans = append(b.spans[:0], Span{from, to})
}

// define makes levels where all were 0.
func (b *slots) define() {
	if b.def == nil {
		b.def = slices.Grow(b.spareDef[:0], b.n)[:b.n]
		clear(b.def)
		b.spareDef = nil
		if b.def == nil {
			b.def = []uint16{}
		}
	}
}

// nulls puts the level of a node's nulls where nothing above it is null.
func (b *slots) nulls(a arrow.Array, level uint16) {
	if a.DataType().ID() == arrow.NULL {
		b.define()
		for i, d := range b.def {
			if d == 0 {
				b.def[i] = level
			}
		}
		return
	}
	if d, ok := a.(*array.Dictionary); ok && d.Dictionary().NullN() > 0 {
		words := d.Dictionary()
		b.each(level, func(i int) bool { return d.IsValid(i) && words.IsValid(d.GetValueIndex(i)) })
		return
	}
	valid := validity(a)
	if valid == nil {
		return
	}
	off := a.Data().Offset()
	if !b.ends {
		b.bitmap(level, valid, off)
		return
	}
	b.each(level, func(i int) bool { return valid[(i+off)>>3]>>((i+off)&7)&1 != 0 })
}

// bitmap is each for a bitmap from bit off on, where no slot has ended.
func (b *slots) bitmap(level uint16, valid []byte, off int) {
	at := 0
	for _, s := range b.spans {
		for i, end := s.From+off, s.To+off; i < end; i++ {
			if i&7 == 0 && end-i >= 8 && valid[i>>3] == 0xFF {
				i, at = i+7, at+8
				continue
			}
			if valid[i>>3]>>(i&7)&1 == 0 {
				b.define()
				if b.def[at] == 0 {
					b.def[at] = level
				}
			}
			at++
		}
	}
}

// each puts a level where an entry is not valid.
func (b *slots) each(level uint16, valid func(i int) bool) {
	at := 0
	for _, s := range b.spans {
		for i := s.From; i < s.To; i++ {
			if b.ends {
				for b.def[at]&ended != 0 {
					at++
				}
			}
			if !valid(i) {
				b.define()
				if b.def[at] == 0 {
					b.def[at] = level
				}
			}
			at++
		}
	}
}

// validity is the bitmap of an array that has nulls.
func validity(a arrow.Array) []byte {
	if a.NullN() == 0 {
		return nil
	}
	return a.NullBitmapBytes()
}

// multiply has each slot once for each item of a fixed-size list.
func (b *slots) multiply(f *array.FixedSizeList, dim int) {
	off := f.Data().Offset()
	for i, s := range b.spans {
		b.spans[i] = Span{(off + s.From) * dim, (off + s.To) * dim}
	}
	// Check has seen to it that no list lies above: there are no repetition levels, and no slot has ended.
	b.n *= dim
	if b.def == nil {
		return
	}
	out := slices.Grow(b.spareDef[:0], b.n)[:b.n]
	for i, d := range b.def {
		for j := range dim {
			out[i*dim+j] = d
		}
	}
	b.def, b.spareDef = out, b.def
}
