package level

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
)

// list goes from the slots of lists to those of their items. level is the repetition level of a
// list that is not the first of the one around it. null is the level of a null list; that of an empty one is one more.
func (b *slots) list(a arrow.Array, level, null uint16) (items arrow.Array, err error) {
	switch a := a.(type) {
	case *array.List:
		expand(b, a, a.Offsets(), level, null)
		return a.ListValues(), nil
	case *array.Map:
		expand(b, a, a.Offsets(), level, null)
		return a.ListValues(), nil
	case *array.LargeList:
		expand(b, a, a.Offsets(), level, null)
		return a.ListValues(), nil
	}
	return nil, fmt.Errorf("%w: a %s where lists are", column.ErrUnsupported, a.DataType())
}

func expand[T int32 | int64](b *slots, a arrow.Array, offsets []T, level, null uint16) {
	valid := validity(a)
	off := a.Data().Offset()
	rep, def, spans := b.spareRep[:0], b.spareDef[:0], b.spareSpans[:0]
	defined, at := b.def != nil, 0
	// end adds a slot that has no items.
	end := func(r, d uint16) {
		if !defined {
			defined = true
			def = append(def[:0], make([]uint16, len(rep))...)
		}
		rep, def = append(rep, r), append(def, d|ended)
		b.ends = true
	}
	start := func() (r, d uint16) {
		r = level
		if b.rep != nil && b.rep[at] != 0 {
			r = b.rep[at]
		}
		if b.def != nil {
			d = b.def[at]
		}
		at++
		return r, d
	}
	ends := b.ends
	for _, s := range b.spans {
		for i := s.From + off; i < s.To+off; i++ {
			r, d := start()
			for ends && d&ended != 0 {
				end(r, d)
				r, d = start()
			}
			lo, hi := int(offsets[i]), int(offsets[i+1])
			switch {
			case d != 0: // something above is null
				end(r, d)
				continue
			case valid != nil && valid[i>>3]>>(i&7)&1 == 0:
				end(r, null)
				continue
			case lo == hi:
				end(r, null+1)
				continue
			}
			rep = append(rep, r)
			rep = zeros(rep, hi-lo-1)
			if defined {
				def = zeros(def, hi-lo)
			}
			if n := len(spans); n > 0 && spans[n-1].To == lo {
				spans[n-1].To = hi
			} else {
				spans = append(spans, Span{lo, hi})
			}
		}
	}
	for at < b.n { // slots that ended above, behind the last list
		r, d := start()
		end(r, d)
	}
	if !defined {
		b.spareDef = def
		def = nil
	} else {
		b.spareDef = b.def
	}
	b.spareRep, b.spareSpans = b.rep, b.spans
	if rep == nil {
		rep = []uint16{}
	}
	b.n, b.rep, b.def, b.spans = len(rep), rep, def, spans
}

// zeros appends n zeros.
func zeros(b []uint16, n int) []uint16 {
	const some = 64
	var z [some]uint16
	for ; n > some; n -= some {
		b = append(b, z[:]...)
	}
	return append(b, z[:n]...)
}
