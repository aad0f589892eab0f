package level

import (
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// Levels are those of a page.
type Levels struct {
	// Layers of the page, from the innermost outwards.
	Layers []pb.PageLayout_Layer
	// Rep is nil without lists, Def where no level is above 0. Both have Slots levels.
	Rep, Def []uint16
	MaxRep   uint16
	MaxDef   uint16
	// MaxVisible is the highest definition level of a slot that has a place among the values.
	MaxVisible uint16
	Slots      int
	// Starts of the outermost node: the rows, but for fixed-size lists.
	Starts int
	// Visible slots, and those of them that are not null.
	Visible, Valid int
}

// none is above all levels.
const none = 1<<16 - 1

// Take makes the levels of a page of what was collected, and begins another one. They are good until
// the next call of Append.
func (w *Writer) Take() *Levels {
	l := &Levels{Rep: w.rep, Def: w.def, MaxRep: w.lists, Slots: w.slots, Starts: w.starts, Visible: w.slots, Valid: w.slots}
	counts := make([]int, w.widest+1)
	if w.def != nil {
		for _, d := range w.def {
			counts[d]++
		}
		l.Valid, l.Visible = counts[0], 0
		for _, n := range counts[:w.visible+1] {
			l.Visible += n
		}
	}
	narrow := make([]uint16, w.widest+1) // what each widest level becomes
	l.MaxVisible = none                  // as long as there is no list
	inner := w.nullable(counts)
	for at := len(w.steps) - 1; at >= 0; at-- {
		s, null := w.steps[at], w.null[at]
		if s.Kind == List && l.MaxVisible == none {
			l.MaxVisible = l.MaxDef
		}
		nullable := inner[at]
		if nullable {
			l.MaxDef++
			narrow[null] = l.MaxDef
		}
		if s.Kind != List {
			l.Layers = append(l.Layers, itemLayer(nullable))
			continue
		}
		emptyable := counts[null+1] > 0
		if emptyable {
			l.MaxDef++
			narrow[null+1] = l.MaxDef
		}
		l.Layers = append(l.Layers, listLayer(nullable, emptyable))
	}
	l.MaxVisible = min(l.MaxVisible, l.MaxDef)
	if l.MaxDef == 0 {
		l.Def = nil
	} else {
		if l.Def == nil { // none of the levels that are always there
			l.Def = make([]uint16, w.slots)
		}
		for i, d := range l.Def {
			l.Def[i] = narrow[d]
		}
	}
	if w.lists == 0 {
		l.Rep = nil
	} else if l.Rep == nil {
		l.Rep = []uint16{}
	}
	if w.def != nil {
		w.spare = w.def
	}
	w.rep, w.def, w.slots, w.starts = w.rep[:0], nil, 0, 0
	return l
}

// nullable tells of each node whether its layer is one with nulls. The layer of a list is also where there is
// none, when a struct around it may be null: readers up to Lance 14 don't count a list without levels of its own
// when they look for the list at which the levels above it end, and take a null struct for an item.
func (w *Writer) nullable(counts []int) []bool {
	out := make([]bool, len(w.steps))
	around, within := false, false // something around may be null; since the last list
	for at, s := range w.steps {
		out[at] = s.Always || counts[w.null[at]] > 0
		if s.Kind == List {
			out[at] = out[at] || around
			within = false
			continue
		}
		out[at] = out[at] || s.Within && within
		around, within = around || out[at], within || out[at]
	}
	return out
}

func itemLayer(nullable bool) pb.PageLayout_Layer {
	if nullable {
		return pb.PageLayout_NULLABLE_ITEM
	}
	return pb.PageLayout_ALL_VALID_ITEM
}

func listLayer(nullable, emptyable bool) pb.PageLayout_Layer {
	switch {
	case nullable && emptyable:
		return pb.PageLayout_NULL_AND_EMPTY_LIST
	case nullable:
		return pb.PageLayout_NULLABLE_LIST
	case emptyable:
		return pb.PageLayout_EMPTYABLE_LIST
	}
	return pb.PageLayout_ALL_VALID_LIST
}
