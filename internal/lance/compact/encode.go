package compact

import (
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
)

// encoder writes the rows of one top-level field that are not copied.
type encoder struct {
	o *output
	w column.Writer
	// columns of the file by those of the writer.
	columns []int
	// next is the row behind those that were written or skipped.
	next uint64
	// mark is a row at or before the first that is not written yet, and behind all those that others write before it. It is
	// the priority of pages of 2.0, which the writer leaves to others. paged: some were written since.
	mark  uint64
	paged bool
	// whole: all rows have to be in one page.
	whole bool
}

func newEncoder(o *output, field int) (*encoder, error) {
	f := &o.shape.fields[field]
	if f.unwritable != nil {
		return nil, fmt.Errorf("column %q: %w: %w", f.name, errUncopyable, f.unwritable)
	}
	tree, err := table.FieldsOf(f.flat)
	if err != nil {
		return nil, err
	}
	e := &encoder{o: o}
	for _, id := range encoding.ColumnFields(tree, o.shape.version) {
		e.columns = append(e.columns, slices.Index(o.fields, id))
	}
	placed, _ := encoding.Place(tree, o.shape.version)
	opts := column.WriteOptions{PageBytes: o.limits.page, MostBytes: o.limits.page}
	if e.whole = f.keys != nil || f.single; e.whole {
		opts.PageBytes = 1 << 40
	} else if o.shape.version != table.V2_0 {
		opts.PageBytes, opts.PageRows = o.limits.page/4, o.worthPage(field)
	}
	e.w, err = encoding.NewFieldWriter(placed[0], o.shape.version, e, opts)
	return e, err
}

// worthPage is how many rows make a page that does not have to be joined with others, by the room that rows of a field take in
// the sources.
func (o *output) worthPage(field int) uint64 {
	var rows uint64
	var bytes int64
	for _, s := range o.stretches[field] {
		rows, bytes = rows+s.live, bytes+s.least
	}
	if bytes < joinBelow {
		return rows
	}
	return uint64(float64(rows) * 1.25 * joinBelow / float64(bytes))
}

// Page is column.Sink's.
func (e *encoder) Page(p column.Page) error {
	if err := e.o.ended(); err != nil {
		return err
	}
	m := &pb.ColumnMetadata_Page{Length: p.Length, Priority: p.Priority, Encoding: p.Encoding}
	if e.o.shape.version == table.V2_0 {
		m.Priority = e.mark
	}
	e.paged = true
	e.o.mu.Lock()
	defer e.o.mu.Unlock()
	if err := e.o.w.Page(m, p.Buffers); err != nil {
		return err
	}
	e.o.place(e.columns[p.Column], e.mark, m)
	return nil
}

// Blob is column.Sink's.
func (e *encoder) Blob([]byte) (uint64, error) {
	return 0, fmt.Errorf("%w: encoding the bytes of blobs", column.ErrUnsupported)
}

// append takes the rows of an array, which lie in the file from row on. Those between them and the rows before are others'.
func (e *encoder) append(a arrow.Array, row uint64) error {
	if row > e.next {
		if err := e.flush(); err != nil {
			return err
		}
		if err := e.w.Skip(row - e.next); err != nil {
			return err
		}
		e.mark = row
	}
	e.next = row + uint64(a.Len())
	e.paged = false
	err := e.w.Append(a, 0, a.Len())
	if e.paged {
		e.mark = row
	}
	return err
}

// flush writes all rows that were taken.
func (e *encoder) flush() error {
	err := e.w.Flush()
	e.mark = e.next
	return err
}
