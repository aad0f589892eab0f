package layout

import (
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/block"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/level"
)

// writer writes one field: each of its leaves on its own, so that their pages end at different rows.
type writer struct{ leaves []*leafWriter }

// NewWriter makes the writer of a field of a file of version 2.minor. The field and all below it have the
// columns that the file gives them.
//
// Pages have levels only for what occurs in them, with one exception: where a list lies beneath a struct, all pages of a
// column have a level for a null struct if the schema allows one, since readers up to Lance 14 fail on columns of which
// some pages have it and some have not.
func NewWriter(field column.Field, minor int, to column.Sink, o column.WriteOptions) (column.Writer, error) {
	if minor != 1 && minor != 2 {
		return nil, unsupported("writing files of version 2.%d", minor)
	}
	if o.PageBytes <= 0 {
		o.PageBytes = column.PageBytes
	}
	w := new(writer)
	return w, w.add(way{}, field, minor, to, o)
}

// way is the way from the top to a node.
type way struct {
	name  string
	steps []level.Step
}

func (w way) step(f column.Field, s level.Step) way {
	if w.name != "" {
		w.name += "."
	}
	w.name += f.Name
	s.Always = f.Nullable
	w.steps = append(slices.Clip(w.steps), s)
	return w
}

// child is the way on to a child of the last node.
func (w way) child(i int) way {
	w.steps = slices.Clone(w.steps)
	w.steps[len(w.steps)-1].Child = i
	return w
}

// add adds the leaves of a field.
func (w *writer) add(to way, field column.Field, minor int, sink column.Sink, o column.WriteOptions) error {
	if len(to.steps) >= maxNesting {
		return unsupported("%d levels of nesting", len(to.steps))
	}
	if isLeaf(field) {
		l, err := newLeafWriter(to.step(field, level.Step{Node: level.Node{Kind: level.Item}}), field, minor, sink, o)
		if err == nil {
			w.leaves = append(w.leaves, l)
		}
		return err
	}
	n, err := nodeOf(field)
	if err != nil {
		return err
	}
	to = to.step(field, level.Step{Node: n})
	for i, c := range field.Children {
		if err := w.add(to.child(i), c, minor, sink, o); err != nil {
			return err
		}
	}
	return nil
}

// onlyNeeded leaves Always to the nodes for which pages have to agree.
func onlyNeeded(steps []level.Step) {
	list := 0 // one more than the position of the last list
	for i, s := range steps {
		if s.Kind == level.List {
			list = i + 1
		}
	}
	structs := false
	for i, s := range steps {
		structs = structs || i < list && s.Kind == level.Item
	}
	for i := range steps {
		s := &steps[i]
		s.Always = s.Always && structs && s.Kind != level.List && i < len(steps)-1
	}
}

func (w *writer) Append(a arrow.Array, from, to int) error {
	if from < 0 || from > to || to > a.Len() {
		return fmt.Errorf("rows %d to %d of an array of %d", from, to, a.Len())
	}
	for _, l := range w.leaves {
		if err := l.append(a, from, to); err != nil {
			return l.fault(err)
		}
	}
	return nil
}

func (w *writer) Held() int64 {
	n := int64(0)
	for _, l := range w.leaves {
		n += l.held()
	}
	return n
}

func (w *writer) Flush() error {
	for _, l := range w.leaves {
		err := l.flush()
		if err == nil {
			err = l.release()
		}
		if err != nil {
			return l.fault(err)
		}
	}
	return nil
}

func (w *writer) Skip(rows uint64) error {
	for _, l := range w.leaves {
		if l.rows > 0 {
			return fmt.Errorf("column %d (%s): %d rows are not written yet", l.column, l.name, l.rows)
		}
		l.first += rows
	}
	return nil
}

// capacity is the memory of a block.
func capacity(v *block.Values) int64 {
	if v == nil {
		return 0
	}
	n := int64(cap(v.Data)) + int64(cap(v.Valid)) + capacity(v.Items)
	if len(v.Offsets) > 1 || cap(v.Offsets) > 1 {
		n += 8 * int64(cap(v.Offsets))
	}
	for _, f := range v.Fields {
		n += capacity(f)
	}
	return n
}

// reset empties a block but for its memory.
func reset(v *block.Values) {
	if v == nil {
		return
	}
	v.N, v.Data = 0, v.Data[:0]
	if v.Kind == block.Variable {
		v.Offsets = append(v.Offsets[:0], 0)
	}
	v.Valid = nil
	reset(v.Items)
	for _, f := range v.Fields {
		reset(f)
	}
}
