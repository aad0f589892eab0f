package encoding

import (
	"context"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/array"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/layout"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// WriterOptions are those of a Writer.
type WriterOptions struct {
	column.WriteOptions
	// HeldBytes is how much memory all columns together may hold between batches before the fullest of them are written
	// with less than a page's worth; 0 is no bound but that of each page. What is being encoded takes up to three
	// pages beside it, on each thread.
	HeldBytes int64
	// Threads that encode; 0 is one. The file is the same for any number.
	Threads int
}

// Writer writes a data file of record batches. It is not safe for concurrent use.
type Writer struct {
	w       *datafile.Writer
	version table.FileVersion
	tree    []*table.Field
	desc    *pb.FileDescriptor
	fields  []column.Writer
	columns []*pb.ColumnMetadata
	o       WriterOptions
	turns   turns
}

// NewWriter starts a data file of a version with the columns of a schema, which becomes the file's own. The batches have a
// column for each of the schema's top-level fields, in that order, of the type that table.FieldsOf gives it.
//
// A blob of the first kind may be given as its bytes (large binary) or as the descriptor of bytes that the caller put
// into this file; one of the second kind is a descriptor.
func NewWriter(w *datafile.Writer, version table.FileVersion, schema *pb.Schema, o WriterOptions) (*Writer, error) {
	tree, err := table.FieldsOf(schema.GetFields())
	if err != nil {
		return nil, err
	}
	x := &Writer{w: w, version: version, tree: tree, o: o, desc: &pb.FileDescriptor{Schema: schema}}
	fields, n := Place(tree, version)
	if x.columns, err = newColumns(fields, n, version); err != nil {
		return nil, err
	}
	for i, f := range fields {
		y, err := NewFieldWriter(f, version, fieldSink{x, i}, o.WriteOptions)
		if err != nil {
			return nil, fmt.Errorf("field %q: %w", f.Name, err)
		}
		x.fields = append(x.fields, y)
	}
	return x, nil
}

// NewFieldWriter makes the writer of one field of a file, which has the columns that Place gives it.
func NewFieldWriter(f column.Field, version table.FileVersion, to column.Sink, o column.WriteOptions) (column.Writer, error) {
	switch version {
	case table.V2_0:
		return array.NewWriter(f, to, o)
	case table.V2_1, table.V2_2:
		return layout.NewWriter(f, int(version.Minor), to, o)
	}
	return nil, fmt.Errorf("%w: writing data files of version %s", column.ErrUnsupported, version)
}

// Write takes a batch, which may be released afterwards. After an error the file is of no use.
func (w *Writer) Write(ctx context.Context, b arrow.RecordBatch) error {
	if int(b.NumCols()) != len(w.fields) {
		return fmt.Errorf("a batch of %d columns for a file of %d fields", b.NumCols(), len(w.fields))
	}
	err := w.each(ctx, func(i int) error { return w.fields[i].Append(b.Column(i), 0, int(b.NumRows())) })
	if err != nil {
		return err
	}
	w.desc.Length += uint64(b.NumRows())
	return w.shrink()
}

// shrink writes what the fullest fields hold until all together hold no more than they may.
func (w *Writer) shrink() error {
	if w.o.HeldBytes <= 0 {
		return nil
	}
	total := int64(0)
	for _, f := range w.fields {
		total += f.Held()
	}
	for total > w.o.HeldBytes {
		fullest, most := -1, int64(0)
		for i, f := range w.fields {
			if n := f.Held(); n > most {
				fullest, most = i, n
			}
		}
		if fullest < 0 {
			return nil
		}
		w.turns.begin(fullest)
		if err := w.fields[fullest].Flush(); err != nil {
			return err
		}
		total -= most
	}
	return nil
}

// Rows is how many were taken.
func (w *Writer) Rows() uint64 { return w.desc.GetLength() }

// Columns is how many columns the file has; see Place.
func (w *Writer) Columns() int { return len(w.columns) }

// ColumnFields are the ids of the fields that the columns are of.
func (w *Writer) ColumnFields() []int32 { return ColumnFields(w.tree, w.version) }

// Finish writes what is left, and publishes the file.
func (w *Writer) Finish(ctx context.Context) (objects.Entry, error) {
	if err := w.each(ctx, func(i int) error { return w.fields[i].Flush() }); err != nil {
		return objects.Entry{}, err
	}
	major, minor := Footer(w.version)
	return w.w.Finish(ctx, major, minor, w.desc, w.columns)
}
