package compact

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
)

// output collects what a new data file holds while pages are written to it.
type output struct {
	w     *datafile.Writer
	shape *shape
	// ways of each top-level field, from each of the fragments; nil where the file does not have it.
	ways [][]way
	// encoders of those that are not copied from all.
	encoders []*encoder
	// fields and columns are in the order of the schema.
	fields  []int32
	columns []*pb.ColumnMetadata
	// order of the fragments in the manifest.
	order map[uint64]int
	// added is how many fragments were, and rows how many rows they gave.
	added  int
	rows   uint64
	schema *pb.Schema
	// agreed is what the pages of each field have to agree on.
	agreed map[int32]string
	// copied is told how many bytes were written.
	copied func(int64)
}

// newOutput prepares a file for what fragments hold of each top-level field.
func newOutput(t *table.Table, sh *shape, held [][]holding, w *datafile.Writer, copied func(int64)) (*output, error) {
	o := &output{w: w, shape: sh, copied: copied, agreed: make(map[int32]string), ways: make([][]way, len(sh.fields)), encoders: make([]*encoder, len(sh.fields)), order: make(map[uint64]int)}
	for i, f := range t.Fragments() {
		o.order[f.GetId()] = i
	}
	plain, err := column.Pack("/lance.encodings.ColumnEncoding", &pb.ColumnEncoding{Encoding: &pb.ColumnEncoding_Values{Values: new(emptypb.Empty)}})
	if err != nil {
		return nil, err
	}
	has, anew := make(map[int32]bool), make([]bool, len(sh.fields))
	for i := range sh.fields {
		f := &sh.fields[i]
		of := make([]holding, len(held))
		for k, h := range held {
			of[k] = h[i]
		}
		o.ways[i], anew[i] = waysOf(f, string(plain.GetDirect().GetEncoding()), of)
		switch {
		case anew[i]:
			for _, id := range f.ids {
				has[id] = true
			}
		case o.ways[i] != nil:
			for _, id := range idsOf(of[0].ids) {
				has[id] = true
			}
		}
	}
	for _, field := range t.Manifest().GetFields() {
		if id := field.GetId(); has[id] {
			c := new(pb.ColumnMetadata)
			if anew[sh.top[id]] {
				c.Encoding = plain
			}
			o.fields, o.columns = append(o.fields, id), append(o.columns, c)
		}
	}
	for i := range sh.fields {
		if anew[i] {
			if o.encoders[i], err = newEncoder(o, &sh.fields[i]); err != nil {
				return nil, err
			}
		}
	}
	o.schema = &pb.Schema{Fields: schemaOf(t.Manifest().GetFields(), has), Metadata: t.Manifest().GetSchemaMetadata()}
	return o, nil
}

// add puts the rows of fragments, which are all that newOutput was told of, one behind the other. An error about one
// of them is a fragmentError.
func (o *output) add(ctx context.Context, t *table.Table, from []*pb.DataFragment) error {
	for len(from) > 0 {
		anew := o.encodedOf(o.added)
		n := 1
		// A scan goes by the manifest's order, which need not be that of the ids.
		for n < len(from) && len(anew) > 0 && slices.Equal(o.encodedOf(o.added+n), anew) && o.order[from[n-1].GetId()] < o.order[from[n].GetId()] {
			n++
		}
		first := o.rows
		for _, f := range from[:n] {
			if err := o.copy(ctx, t, f); err != nil {
				return &fragmentError{f.GetId(), err}
			}
			o.rows += liveRows(f)
			o.added++
		}
		if len(anew) > 0 {
			if err := o.encode(ctx, t, from[:n], anew, first); err != nil {
				return err
			}
		}
		from = from[n:]
	}
	return nil
}

// encodedOf are the top-level fields that are encoded from the i-th fragment.
func (o *output) encodedOf(i int) (fields []int) {
	for f, ways := range o.ways {
		if ways != nil && ways[i] == encoded {
			fields = append(fields, f)
		}
	}
	return fields
}

// copy copies those columns of the next fragment whose pages are copied.
func (o *output) copy(ctx context.Context, t *table.Table, f *pb.DataFragment) error {
	want := make(map[int32]bool)
	for i, ways := range o.ways {
		if ways == nil || ways[o.added] == encoded {
			continue
		}
		if e := o.encoders[i]; e != nil {
			if err := e.skip(o.rows, liveRows(f)); err != nil {
				return err
			}
		}
		for _, id := range o.fields {
			want[id] = want[id] || o.shape.top[id] == i
		}
	}
	if !slices.Contains(slices.Collect(maps.Values(want)), true) {
		return nil
	}
	src, err := openSources(ctx, t, f, o.shape)
	if err != nil {
		return err
	}
	defer src.Close()
	for _, s := range src.files {
		if err := o.addSource(ctx, s, want); err != nil {
			return fmt.Errorf("copying %s: %w", table.DataName(s.entry), err)
		}
	}
	for id, missing := range want {
		if missing {
			return fmt.Errorf("%w: field %d is in none of its files, but in the others'", errUncopyable, id)
		}
	}
	return nil
}

// liveRows are the rows of a fragment that are kept.
func liveRows(f *pb.DataFragment) uint64 {
	return f.GetPhysicalRows() - min(f.GetDeletionFile().GetNumDeletedRows(), f.GetPhysicalRows())
}

// addSource copies the pages of the wanted columns that a file holds, and notes that they were there.
func (o *output) addSource(ctx context.Context, s *source, want map[int32]bool) error {
	var columns []sourceColumn
	for _, c := range s.columns {
		if want[c.field] {
			columns = append(columns, c)
		}
	}
	if len(columns) == 0 {
		return nil
	}
	if s.why != nil {
		return s.why
	}
	m, err := o.copyBuffers(ctx, s, columns)
	if err != nil {
		return err
	}
	for _, c := range columns {
		want[c.field] = false
		to := slices.Index(o.fields, c.field)
		from := s.Columns[c.index]
		if c.why != nil {
			return c.why
		}
		if c.agreed != "" && o.agreed[c.field] != "" && c.agreed != o.agreed[c.field] {
			return fmt.Errorf("%w: column %d differs from the other files' in which levels hold nulls", errUncopyable, c.index)
		}
		if c.agreed != "" {
			o.agreed[c.field] = c.agreed
		}
		if o.columns[to].Encoding == nil {
			o.columns[to].Encoding = from.GetEncoding()
		} else if !proto.Equal(o.columns[to].GetEncoding(), from.GetEncoding()) {
			return fmt.Errorf("%w: column %d is encoded otherwise than in the other files", errUncopyable, c.index)
		}
		for _, p := range from.GetPages() {
			q := proto.CloneOf(p)
			for i, off := range q.BufferOffsets {
				q.BufferOffsets[i] = m.move(off, q.BufferSizes[i])
			}
			q.Priority += o.rows
			if err := appendPage(o.columns[to], q); err != nil {
				return err
			}
		}
	}
	return nil
}

// finish publishes the file and makes its entry for a fragment.
func (o *output) finish(ctx context.Context, t *table.Table, name string) (*pb.DataFile, error) {
	for _, e := range o.encoders {
		if e == nil {
			continue
		}
		if err := e.flush(o.rows); err != nil {
			return nil, err
		}
	}
	major, minor := encoding.Footer(o.shape.version)
	e, err := o.w.Finish(ctx, major, minor, &pb.FileDescriptor{Schema: o.schema, Length: o.rows}, o.columns)
	if err != nil {
		return nil, err
	}
	v := t.FileVersion()
	d := &pb.DataFile{
		Path: name, Fields: o.fields,
		FileMajorVersion: v.Major, FileMinorVersion: v.Minor,
		FileSizeBytes: uint64(e.Size),
	}
	for i := range o.fields {
		d.ColumnIndices = append(d.ColumnIndices, int32(i))
	}
	return d, nil
}
