package array

import (
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// writer writes a top-level field.
type writer struct {
	field column.Field
	root  writeNode
	sink  column.Sink
	// full is how many bits of values make a page.
	full int64
	err  error
}

var _ column.Writer = (*writer)(nil)

// writeNode is a field with its columns, being written.
type writeNode interface {
	// write appends the rows of a piece.
	write(p piece) error
	// flush ends the pages.
	flush() error
	// held is how much memory the rows take that are in no page yet; not 0 when there are any.
	held() int64
}

// NewWriter makes the writer of a field. All its nodes have columns (see Place), and the types of packed structs and of blobs
// are as for Open. column.ErrUnsupported when version 2.0 can't hold the type.
//
// Where pages end depends on the values alone, not on the arrays that they come in; dictionaries are kept as they are when all
// arrays of a page share one. A struct's own column gets a page, of no buffers, with each flush: readers want exactly one,
// which AppendPage makes of them.
//
// Of a column of blobs either the bytes are given, which the sink then places in the file, or the descriptors of bytes that are
// there already. ColumnEncoding says that it is one.
func NewWriter(field column.Field, to column.Sink, o column.WriteOptions) (column.Writer, error) {
	w := &writer{field: field, sink: to, full: o.PageBytes}
	if w.full <= 0 {
		w.full = column.PageBytes
	}
	w.full *= 8
	var err error
	if w.root, err = w.node(field, field.Name, maxDepth); err != nil {
		return nil, err
	}
	return w, nil
}

func (w *writer) Append(a arrow.Array, from, to int) error {
	if from < 0 || from > to || to > a.Len() {
		return fmt.Errorf("%s: rows %d to %d of an array of %d", w.field.Name, from, to, a.Len())
	}
	if w.err == nil {
		d := a.Data()
		p := piece{d, d.Offset() + from, to - from}
		if w.err = fits(w.field, w.field.Name, p); w.err == nil {
			w.err = w.root.write(p)
		}
	}
	return w.err
}

func (w *writer) Held() int64 { return w.root.held() }

func (w *writer) Flush() error {
	if w.err == nil {
		w.err = w.root.flush()
	}
	return w.err
}

// Skip has nothing to do: pages of version 2.0 don't say at which row they begin.
func (w *writer) Skip(uint64) error {
	if n := w.Held(); n > 0 && w.err == nil {
		w.err = fmt.Errorf("%s: rows are skipped while %d bytes of others are held", w.field.Name, n)
	}
	return w.err
}

// ColumnEncoding is the message of a column of a field.
func ColumnEncoding(f column.Field) (*pb.Encoding, error) {
	e := &pb.ColumnEncoding{Encoding: &pb.ColumnEncoding_Values{Values: &emptypb.Empty{}}}
	if f.Blob {
		e = &pb.ColumnEncoding{Encoding: &pb.ColumnEncoding_Blob_{Blob: &pb.ColumnEncoding_Blob{Inner: e}}}
	}
	return column.Pack("/lance.encodings.ColumnEncoding", e)
}

// Place gives a field and all below it the next columns of a file, as version 2.0 numbers them.
func Place(f column.Field, next *int) column.Field {
	f.Column = *next
	*next++
	if f.Packed || f.Blob {
		f.Children = nil
	}
	f.Children = slices.Clone(f.Children)
	for i, c := range f.Children {
		f.Children[i] = Place(c, next)
	}
	return f
}

// AppendPage adds a page to a column. Those of a struct's own column become one: Lance reads no more.
func AppendPage(c *pb.ColumnMetadata, p *pb.ColumnMetadata_Page) error {
	if n := len(c.Pages); n > 0 && len(p.GetBufferOffsets()) == 0 && proto.Equal(c.Pages[n-1].GetEncoding(), p.GetEncoding()) {
		var e pb.ArrayEncoding
		if err := unpack(p.GetEncoding(), "ArrayEncoding", &e); err != nil {
			return err
		}
		if e.GetStruct() != nil {
			c.Pages[n-1].Length += p.GetLength()
			return nil
		}
	}
	c.Pages = append(c.Pages, p)
	return nil
}

// page writes a page.
func (w *writer) page(number, rows int, e *pb.ArrayEncoding, buffers [][]byte) error {
	m, err := column.Pack("/lance.encodings.ArrayEncoding", e)
	if err != nil {
		return err
	}
	return w.sink.Page(column.Page{Column: number, Length: uint64(rows), Encoding: m, Buffers: buffers})
}

// node makes the writer of a field.
func (w *writer) node(f column.Field, path string, depth int) (writeNode, error) {
	if depth == 0 {
		return nil, unsupported("%s: more than %d fields within each other", path, maxDepth)
	}
	if f.Column < 0 {
		return nil, fmt.Errorf("%s has no column to be written to", path)
	}
	kid := func(c column.Field) (writeNode, error) { return w.node(c, path+"."+c.Name, depth-1) }
	switch t := column.Storage(f.Type).(type) {
	case *arrow.ListType, *arrow.LargeListType:
		if len(f.Children) != 1 {
			return nil, fmt.Errorf("%s: a list with %d children", path, len(f.Children))
		}
		items, err := kid(f.Children[0])
		if err != nil {
			return nil, err
		}
		return &listWriter{of: w, column: f.Column, items: items}, nil
	case *arrow.StructType:
		if f.Packed || f.Blob {
			break
		}
		if len(f.Children) != t.NumFields() {
			return nil, fmt.Errorf("%s: a struct of %d fields with %d children", path, t.NumFields(), len(f.Children))
		}
		s := &structWriter{of: w, column: f.Column, path: path, typ: f.Type}
		for _, c := range f.Children {
			k, err := kid(c)
			if err != nil {
				return nil, err
			}
			s.kids = append(s.kids, k)
		}
		return s, nil
	}
	if err := storable(f); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &leafWriter{of: w, field: f, path: path, wish: wishOf(f.Metadata)}, nil
}
