package compact

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/lance/scan"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
)

// Bounds of the memory that encoding takes, beside three pages for what is being encoded.
const (
	encodeHeld      = 32 << 20 // rows that wait for their page to be full
	encodeBatch     = 4 << 20  // rows that are being decoded
	encodeReadAhead = 16 << 20
)

// encoder writes the rows of one top-level field that are not copied.
type encoder struct {
	o *output
	w column.Writer
	// columns of the file by those of the writer.
	columns []int
	// mark is the priority of pages of 2.0, which the writer leaves to others: a row at or before the first
	// that is not written yet. paged: some were written since.
	mark  uint64
	paged bool
}

func newEncoder(o *output, f *topField) (*encoder, error) {
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
	e.w, err = encoding.NewFieldWriter(placed[0], o.shape.version, e, column.WriteOptions{})
	return e, err
}

// Page is column.Sink's.
func (e *encoder) Page(p column.Page) error {
	m := &pb.ColumnMetadata_Page{Length: p.Length, Priority: p.Priority, Encoding: p.Encoding}
	if e.o.shape.version == table.V2_0 {
		m.Priority = e.mark
	}
	e.paged = true
	start := e.o.w.Pos()
	if err := e.o.w.Page(m, p.Buffers); err != nil {
		return err
	}
	e.o.copied(int64(e.o.w.Pos() - start))
	return appendPage(e.o.columns[e.columns[p.Column]], m)
}

// Blob is column.Sink's.
func (e *encoder) Blob([]byte) (uint64, error) {
	return 0, fmt.Errorf("%w: encoding the bytes of blobs", column.ErrUnsupported)
}

// append takes the rows of an array, which lie in the file from row on.
func (e *encoder) append(a arrow.Array, row uint64) error {
	e.paged = false
	err := e.w.Append(a, 0, a.Len())
	if e.paged {
		e.mark = row
	}
	return err
}

// flush writes all rows before row.
func (e *encoder) flush(row uint64) error {
	err := e.w.Flush()
	e.mark = row
	return err
}

// skip tells that pages with the rows from row on are copied.
func (e *encoder) skip(row, rows uint64) error {
	if err := e.flush(row); err != nil {
		return err
	}
	e.mark = row + rows
	return e.w.Skip(rows)
}

// encode reads fields of fragments, without their deleted rows, and writes them anew as the rows from first on. An error
// about one of them is a fragmentError.
func (o *output) encode(ctx context.Context, t *table.Table, from []*pb.DataFragment, fields []int, first uint64) error {
	opts := scan.Options{StoredJSON: true, BatchBytes: encodeBatch, ReadAhead: encodeReadAhead}
	for _, i := range fields {
		opts.Columns = append(opts.Columns, o.shape.fields[i].name)
	}
	for _, f := range from {
		opts.Fragments = append(opts.Fragments, f.GetId())
	}
	s, err := scan.Open(ctx, t, opts)
	if err != nil {
		return err
	}
	defer s.Close()
	// No batch holds rows of two fragments, and an error comes behind all rows that are before it.
	at, end := first, first+liveRows(from[0])
	for {
		for at == end && len(from) > 1 {
			from = from[1:]
			end += liveRows(from[0])
		}
		b, err := s.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return &fragmentError{from[0].GetId(), err}
		}
		if at+uint64(b.NumRows()) > end {
			err = fmt.Errorf("%w: it has more rows than the manifest says", datafile.ErrCorrupt)
		}
		for k, i := range fields {
			if err != nil {
				break
			}
			if err = o.encoders[i].append(b.Column(k), at); err != nil {
				err = fmt.Errorf("encoding column %q: %w", o.shape.fields[i].name, err)
			}
		}
		at += uint64(b.NumRows())
		b.Release()
		if err == nil {
			err = o.shrink(fields, at)
		}
		if err != nil {
			return &fragmentError{from[0].GetId(), err}
		}
	}
	if at != end || len(from) > 1 {
		return &fragmentError{from[0].GetId(), fmt.Errorf("%w: it has fewer rows than the manifest says", datafile.ErrCorrupt)}
	}
	return nil
}

// shrink writes what the fullest of the fields that are being encoded hold until all encoders together hold no more
// than they may. All rows before row were given to these.
func (o *output) shrink(fields []int, row uint64) error {
	total := int64(0)
	for _, e := range o.encoders {
		if e != nil {
			total += e.w.Held()
		}
	}
	for total > encodeHeld {
		fullest, most := -1, int64(0)
		for _, i := range fields {
			if n := o.encoders[i].w.Held(); n > most {
				fullest, most = i, n
			}
		}
		if fullest < 0 {
			return nil
		}
		if err := o.encoders[fullest].flush(row); err != nil {
			return err
		}
		total -= most
	}
	return nil
}
