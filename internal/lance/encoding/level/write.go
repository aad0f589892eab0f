package level

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/slab"
)

// Step is a node on the way of a Writer.
type Step struct {
	Node
	// Child of a struct that the way goes on with.
	Child int
	// Always says that the node's layer is one with nulls in every page, also where none
	// is.
	Always bool
	// Within says that it is one with nulls wherever a struct around the node is null.
	Within bool
}

// Span is a range of entries of an array.
type Span struct{ From, To int }

// Writer makes levels of Arrow arrays: it is the reverse of a Builder. It collects slots until Take makes
// the levels of a page of them. It is not safe for concurrent use.
//
// While they are collected, levels have the widest meaning that the path allows: a level for the null of
// each node and one for each empty list, whether they occur or not. Take then leaves those out that did not occur.
type Writer struct {
	steps   []Step
	path    Path
	null    []uint16 // widest level of a null of each node; that of an empty list is one more
	widest  uint16
	lists   uint16
	visible uint16 // highest widest level of a slot with a place among the values

	rep, def []uint16 // slabs; def is nil as long as all are 0
	spare    []uint16 // the slab of definition levels of the page before
	slots    int
	starts   int
	batch    slots
}

// NewWriter makes a writer of a path that passed Check.
func NewWriter(steps []Step) *Writer {
	w := &Writer{steps: steps, null: make([]uint16, len(steps))}
	for _, s := range steps {
		w.path = append(w.path, s.Node)
	}
	first := true
	for at := len(steps) - 1; at >= 0; at-- {
		if steps[at].Kind == List {
			if first {
				w.visible, first = w.widest, false
			}
			w.lists++
			w.null[at] = w.widest + 1
			w.widest += 2
			continue
		}
		w.widest++
		w.null[at] = w.widest
	}
	if first {
		w.visible = w.widest
	}
	return w
}

// Slots is how many are collected.
func (w *Writer) Slots() int { return w.slots }

// Starts is how many of them start something in the outermost node: rows, but for fixed-size lists.
func (w *Writer) Starts() int { return w.starts }

// Bytes is how many bytes they take.
func (w *Writer) Bytes() int64 { return 2 * int64(len(w.rep)+len(w.def)) }

// Held is the memory that is taken, in use or kept for what comes.
func (w *Writer) Held() int64 {
	b := &w.batch
	return 2 * int64(cap(w.rep)+cap(w.def)+cap(w.spare)+cap(b.rep)+cap(b.def)+cap(b.spareRep)+cap(b.spareDef))
}

// Append takes rows [from, to) of an array of the outermost node. It returns the array of the values, and which
// of its entries have a place among them, in order; both are good until the next call.
func (w *Writer) Append(a arrow.Array, from, to int) (leaf arrow.Array, spans []Span, err error) {
	b := &w.batch
	b.begin(from, to)
	if from == to {
		b.spans = b.spans[:0]
	}
	list := w.lists
	for at, s := range w.steps {
		a = plain(a)
		switch s.Kind {
		case List:
			if a, err = b.list(a, list, w.null[at]); err != nil {
				return nil, nil, err
			}
			list--
			continue
		case FixedSizeList:
			f, ok := a.(*array.FixedSizeList)
			if !ok {
				return nil, nil, fmt.Errorf("%w: a %s where fixed-size lists are", column.ErrUnsupported, a.DataType())
			}
			b.nulls(a, w.null[at])
			b.multiply(f, s.Dim)
			a = f.ListValues()
			continue
		}
		b.nulls(a, w.null[at])
		if at == len(w.steps)-1 {
			break
		}
		f, ok := a.(*array.Struct)
		if !ok || s.Child >= f.NumField() {
			return nil, nil, fmt.Errorf("%w: a %s where a struct of %d fields or more is", column.ErrUnsupported, a.DataType(), s.Child+1)
		}
		a = f.Field(s.Child)
	}
	w.take(b, (to-from)*w.path.RowStride())
	return a, b.spans, nil
}

// take adds a batch to what is collected.
func (w *Writer) take(b *slots, starts int) {
	if b.def != nil && w.def == nil {
		w.def, w.spare = more(w.spare[:0], w.slots+b.n)[:w.slots], nil
		clear(w.def)
	}
	if b.rep != nil {
		w.rep = append(more(w.rep, len(b.rep)), b.rep...)
	}
	switch had := len(w.def); {
	case b.def != nil:
		w.def = append(more(w.def, b.n), b.def...)
		if !b.ends {
			break
		}
		for i, d := range w.def[had:] {
			w.def[had+i] = d &^ ended
		}
	case w.def != nil:
		w.def = more(w.def, b.n)[:had+b.n]
		clear(w.def[had:])
	}
	w.slots += b.n
	w.starts += starts
}

// more makes room for n more levels, in steps of twice the size.
func more(b []uint16, n int) []uint16 {
	if n > cap(b)-len(b) {
		b = slab.Grow(b, max(n, len(b)))
	}
	return b
}

// Free gives memory back. The writer is of no use afterwards, and neither are the levels that it made.
func (w *Writer) Free() {
	slab.Put(w.rep)
	slab.Put(w.def)
	slab.Put(w.spare)
	w.rep, w.def, w.spare = nil, nil, nil
}

// plain is an array without its extension types.
func plain(a arrow.Array) arrow.Array {
	for {
		e, ok := a.(array.ExtensionArray)
		if !ok {
			return a
		}
		a = e.Storage()
	}
}
