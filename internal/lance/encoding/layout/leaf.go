package layout

import (
	"fmt"
	"slices"
	"sort"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/level"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// leaf is a column and the way to it.
type leaf struct {
	column int
	name   string
	path   level.Path
	stride uint64
	typ    arrow.DataType
	// types are those of the nodes of the path, each with this leaf only.
	types []arrow.DataType
	meta  []*pb.ColumnMetadata_Page
	// starts are the first rows of the pages, and of one more.
	starts []uint64
	// places and leads are those of its pages' frames.
	places, leads bool
}

// walk is the way from the top to a node.
type walk struct {
	name   string
	path   level.Path
	fields []column.Field
	// leads: what comes next is the first that the file has of a struct.
	leads bool
}

func (w walk) step(f column.Field, n level.Node) walk {
	if w.name != "" {
		w.name += "."
	}
	w.name += f.Name
	w.path = append(slices.Clip(w.path), n)
	w.fields = append(slices.Clip(w.fields), f)
	return w
}

// maxNesting bounds the depth of a schema.
const maxNesting = 256

// isLeaf tells whether a field has a column of its own in these versions.
func isLeaf(f column.Field) bool { return f.Packed || f.Blob || len(f.Children) == 0 }

// add adds the leaves of a field.
func (r *reader) add(f *datafile.File, w walk, field column.Field) error {
	if len(w.path) >= maxNesting {
		return unsupported("%d levels of nesting", len(w.path))
	}
	if isLeaf(field) {
		if field.Column == column.Absent {
			return nil
		}
		return r.addLeaf(f, w.step(field, level.Node{Kind: level.Item}), field)
	}
	n, err := nodeOf(field)
	if err != nil {
		return err
	}
	w = w.step(field, n)
	before := len(r.leaves)
	for _, c := range field.Children {
		w.leads = len(r.leaves) == before
		if err := r.add(f, w, c); err != nil {
			return err
		}
	}
	return nil
}

// nodeOf is the node of a field that has children.
func nodeOf(field column.Field) (n level.Node, err error) {
	switch dt := column.Storage(field.Type).(type) {
	case *arrow.StructType:
		n.Kind = level.Item
		if len(field.Children) != dt.NumFields() {
			return n, fmt.Errorf("field %s: %d children for %v", field.Name, len(field.Children), dt)
		}
	case *arrow.FixedSizeListType:
		n = level.Node{Kind: level.FixedSizeList, Dim: int(dt.Len())}
	case *arrow.LargeListType:
		n = level.Node{Kind: level.List, Large: true}
	case *arrow.ListType, *arrow.MapType:
		n.Kind = level.List
	default:
		return n, unsupported("field %s: children of %v", field.Name, dt)
	}
	if n.Kind != level.Item && len(field.Children) != 1 {
		return n, fmt.Errorf("field %s: %d children of a list", field.Name, len(field.Children))
	}
	return n, nil
}

func (r *reader) addLeaf(f *datafile.File, w walk, field column.Field) error {
	l := &leaf{column: field.Column, name: w.name, path: w.path, typ: field.Type, places: field.Blob && !isDescriptorV1(field.Type), leads: w.leads}
	fail := func(err error) error { return fmt.Errorf("column %d (%s): %w", l.column, l.name, err) }
	if err := l.path.Check(); err != nil {
		return fail(err)
	}
	if l.column < 0 || l.column >= len(f.Columns) {
		return fail(corrupt("the file has %d columns", len(f.Columns)))
	}
	l.stride = uint64(l.path.RowStride())
	l.types = alone(w.fields)
	l.meta = f.Columns[l.column].GetPages()
	l.starts = make([]uint64, len(l.meta)+1)
	for i, p := range l.meta {
		rows := p.GetLength() / l.stride
		if rows*l.stride != p.GetLength() || rows > r.rows-l.starts[i] {
			return fail(corrupt("page %d has %d values after %d rows, the file %d", i, p.GetLength(), l.starts[i], r.rows))
		}
		l.starts[i+1] = l.starts[i] + rows
	}
	if got := l.starts[len(l.meta)]; got != r.rows {
		return fail(corrupt("%d rows in its pages, %d in the file", got, r.rows))
	}
	r.leaves = append(r.leaves, l)
	return nil
}

// alone is the types of a path's nodes when there is nothing beside it.
func alone(fields []column.Field) []arrow.DataType {
	out := make([]arrow.DataType, len(fields))
	out[len(fields)-1] = fields[len(fields)-1].Type
	for i := len(fields) - 2; i >= 0; i-- {
		c := fields[i+1]
		child := arrow.Field{Name: c.Name, Type: out[i+1], Nullable: c.Nullable}
		switch dt := column.Storage(fields[i].Type).(type) {
		case *arrow.FixedSizeListType:
			out[i] = arrow.FixedSizeListOfField(dt.Len(), child)
		case *arrow.LargeListType:
			out[i] = arrow.LargeListOfField(child)
		case *arrow.ListType, *arrow.MapType:
			// A map with one of its two fields is none.
			out[i] = arrow.ListOfField(child)
		default:
			out[i] = arrow.StructOf(child)
		}
	}
	return out
}

// find is the page that a row lies in.
func (l *leaf) find(row uint64) int {
	return sort.Search(len(l.meta), func(p int) bool { return l.starts[p+1] > row })
}

// fault says where an error is.
func (l *leaf) fault(page int, err error) error {
	return fmt.Errorf("column %d (%s), page %d: %w", l.column, l.name, page, err)
}

// open decodes the layout of a page.
func (l *leaf) open(p int) (page, error) {
	m, err := layoutOf(l.meta[p])
	if err != nil {
		return nil, l.fault(p, err)
	}
	f := frame{path: l.path, buffers: spansOf(l.meta[p]), starts: l.meta[p].GetLength(), stride: l.stride, places: l.places, leads: l.leads}
	made, err := newPage(f, m)
	if err != nil {
		return nil, l.fault(p, fmt.Errorf("%s: %w", kind(m), err))
	}
	return made, nil
}

// read decodes pages, in order.
func (l *leaf) read(wants []want, rows int, limit int64) (arrow.Array, error) {
	s, release, err := newSink(l, rows, limit)
	if err != nil {
		return nil, fmt.Errorf("column %d (%s): %w", l.column, l.name, err)
	}
	defer release()
	for _, w := range wants {
		had := s.levels.Rows()
		if err := w.p.read(w.from, w.to, w.bufs, s); err != nil {
			return nil, l.fault(w.page, err)
		}
		if got := s.levels.Rows() - had; uint64(got) != w.to-w.from {
			return nil, l.fault(w.page, corrupt("%d rows where there should be %d", got, w.to-w.from))
		}
	}
	arr, err := s.finish(l)
	if err != nil {
		return nil, fmt.Errorf("column %d (%s): %w", l.column, l.name, err)
	}
	return arr, nil
}
