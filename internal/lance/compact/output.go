package compact

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
)

// output is a new data file that is being written. Pages come in any order, and are put in that of their rows at the end.
type output struct {
	*inputs
	pieces []piece
	rows   uint64
	// stretches of each top-level field; nil where the file does not have it.
	stretches [][]stretch
	// encoders of those that are not copied whole.
	encoders []*encoder
	// fields and columns are in the order of the schema.
	fields  []int32
	schema  *pb.Schema
	columns []*outColumn
	blobs   *blobMover
	// done is told, by one goroutine at a time, how many bytes of the sources are done with.
	done func(bytes int64)
	// ended is the error of what the file is written for, once that is over: what is encoded has no other way to hear of it.
	ended func() error

	// mu is for the file and its columns' pages.
	mu sync.Mutex
	w  *datafile.Writer
}

// outColumn is a column of a new file.
type outColumn struct {
	encoding *pb.Encoding
	pages    []placedPage
}

// placedPage is a page with the row at which it begins, or one before it that nobody else's page has.
type placedPage struct {
	row  uint64
	page *pb.ColumnMetadata_Page
}

// newOutput prepares a file of pieces of the inputs.
func newOutput(in *inputs, pieces []piece, w *datafile.Writer, done func(int64)) (*output, error) {
	o := &output{inputs: in, pieces: pieces, w: w, done: done, stretches: make([][]stretch, len(in.shape.fields)), encoders: make([]*encoder, len(in.shape.fields))}
	for _, p := range pieces {
		o.rows += p.live
	}
	plain, err := encoding.PlainColumn()
	if err != nil {
		return nil, err
	}
	has, anew := make(map[int32]bool), make([]bool, len(in.shape.fields))
	held := make([]*holding, len(in.held))
	for i := range in.shape.fields {
		f := &in.shape.fields[i]
		for k := range held {
			held[k] = &in.held[k][i]
		}
		o.stretches[i], anew[i] = stretchesOf(f, string(plain.GetDirect().GetEncoding()), pieces, in.stored, held, in.limits.join)
		ids := f.ids
		if !anew[i] && o.stretches[i] != nil {
			ids = idsOf(held[pieces[0].frag].ids)
		}
		for _, id := range ids {
			has[id] = o.stretches[i] != nil
		}
	}
	for _, field := range in.t.Manifest().GetFields() {
		if id := field.GetId(); has[id] {
			c := new(outColumn)
			if anew[in.shape.top[id]] {
				if c.encoding, err = in.shape.encodingOf(id, plain); err != nil {
					return nil, err
				}
			}
			o.fields, o.columns = append(o.fields, id), append(o.columns, c)
		}
	}
	for i := range in.shape.fields {
		if anew[i] {
			if o.encoders[i], err = newEncoder(o, i); err != nil {
				return nil, err
			}
		}
	}
	o.schema = &pb.Schema{Fields: schemaOf(in.t.Manifest().GetFields(), has), Metadata: in.t.Manifest().GetSchemaMetadata()}
	return o, nil
}

// write writes all pages. An error about one of the fragments is a fragmentError.
func (o *output) write(ctx context.Context) error {
	o.ended = ctx.Err
	// What is encoded in any case is, while the rest is copied.
	var now, later []int
	for i, all := range o.stretches {
		if slices.ContainsFunc(all, func(s stretch) bool { return s.way == pruned }) {
			later = append(later, i)
		} else {
			now = append(now, i)
		}
	}
	groups := o.groups(now)
	g, inner := errgroup.WithContext(ctx)
	g.Go(func() error { return o.encodeAll(inner, groups) })
	g.Go(func() error { return o.copyAll(inner) })
	if err := g.Wait(); err != nil {
		return err
	}
	return o.encodeAll(ctx, o.groups(later))
}

// place gives a page its place in a column.
func (o *output) place(column int, row uint64, p *pb.ColumnMetadata_Page) {
	c := o.columns[column]
	c.pages = append(c.pages, placedPage{row, p})
}

// metadata of the columns, with the pages in the order of their rows. Those of a struct's own column of 2.0 become one: it says
// how many structs there are and nothing else, and readers want it said in one page.
func (o *output) metadata() []*pb.ColumnMetadata {
	var out []*pb.ColumnMetadata
	for _, c := range o.columns {
		slices.SortStableFunc(c.pages, func(a, b placedPage) int { return cmp.Compare(a.row, b.row) })
		m := &pb.ColumnMetadata{Encoding: c.encoding}
		header := false // the last page is one
		for _, p := range c.pages {
			was := header
			kind, err := structHeader(p.page.GetEncoding())
			header = err == nil && kind && len(p.page.GetBufferOffsets()) == 0
			if n := len(m.Pages); header && was && proto.Equal(m.Pages[n-1].GetEncoding(), p.page.GetEncoding()) {
				m.Pages[n-1].Length += p.page.GetLength()
				continue
			}
			m.Pages = append(m.Pages, p.page)
		}
		out = append(out, m)
	}
	return out
}

// whole makes sure that the pages of columns have all rows, as far as they count rows: those beneath lists of 2.0 count items, and
// fixed-size lists of structs these. What is copied whole is as it was.
func (o *output) whole(columns []*pb.ColumnMetadata) error {
	for i, c := range columns {
		at := o.shape.top[o.fields[i]]
		if o.encoders[at] == nil {
			continue
		}
		f := &o.shape.fields[at]
		items := f.lists && o.shape.version == table.V2_0
		for _, x := range f.flat {
			items = items || strings.HasPrefix(x.GetLogicalType(), "fixed_size_list:struct")
		}
		rows := uint64(0)
		for _, p := range c.GetPages() {
			rows += p.GetLength()
		}
		if rows != o.rows && !items {
			return fmt.Errorf("column %d, of field %q, got pages of %d rows, not %d", i, f.name, rows, o.rows)
		}
	}
	return nil
}

// finish publishes the file and makes its entry for a fragment; columns are what was written of it.
func (o *output) finish(ctx context.Context, name string) (d *pb.DataFile, columns []*pb.ColumnMetadata, err error) {
	columns = o.metadata()
	if err := o.whole(columns); err != nil {
		return nil, nil, err
	}
	major, minor := encoding.Footer(o.shape.version)
	e, err := o.w.Finish(ctx, major, minor, &pb.FileDescriptor{Schema: o.schema, Length: o.rows}, columns)
	if err != nil {
		return nil, nil, err
	}
	v := o.t.FileVersion()
	d = &pb.DataFile{
		Path: name, Fields: o.fields,
		FileMajorVersion: v.Major, FileMinorVersion: v.Minor,
		FileSizeBytes: uint64(e.Size),
	}
	for i := range o.fields {
		d.ColumnIndices = append(d.ColumnIndices, int32(i))
	}
	return d, columns, nil
}
