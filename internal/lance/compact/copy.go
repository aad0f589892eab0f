package compact

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
)

// maxGap is how many bytes between two page buffers are copied along rather
// than skipped: a request or system call costs more than they do.
const maxGap = 4 << 10

// newDataFile makes a name as Lance does: 24 binary digits, which spread over an
// object store's partitions, and the rest of a UUID in hex.
func newDataFile() string {
	id := uuid.New()
	var b strings.Builder
	for _, x := range id[:3] {
		fmt.Fprintf(&b, "%08b", x)
	}
	return b.String() + hex.EncodeToString(id[3:]) + ".lance"
}

// output collects what a new data file holds while pages are copied into it.
type output struct {
	w *datafile.Writer
	// fields and columns are in the order of the schema.
	fields  []int32
	columns []*pb.ColumnMetadata
	rows    uint64
	schema  *pb.Schema
	footer  [2]uint16
	// agreed is what the pages of each field have to agree on.
	agreed map[int32]string
	// copied is told how many bytes were taken over.
	copied func(int64)
}

// newOutput prepares a file for the columns that the fragment holds.
func newOutput(t *table.Table, f *pb.DataFragment, w *datafile.Writer, copied func(int64)) *output {
	o := &output{w: w, copied: copied, agreed: make(map[int32]string)}
	held := make(map[int32]bool)
	for _, d := range f.GetFiles() {
		for _, id := range d.GetFields() {
			held[id] = true
		}
	}
	for _, field := range t.Manifest().GetFields() {
		if field.GetId() >= 0 && held[field.GetId()] {
			o.fields = append(o.fields, field.GetId())
			o.columns = append(o.columns, nil)
		}
	}
	o.schema = &pb.Schema{Fields: schemaOf(t.Manifest().GetFields(), held), Metadata: t.Manifest().GetSchemaMetadata()}
	v := t.FileVersion()
	o.footer = [2]uint16{uint16(v.Major), uint16(v.Minor)}
	if v == table.V2_0 {
		o.footer = [2]uint16{0, 3} // the spelling of Lance's own 2.0 writer
	}
	return o
}

// schemaOf leaves of a schema what belongs to the columns that are held: they
// themselves, what they are part of, and for a column that stands for a whole
// struct what is part of it.
func schemaOf(fields []*pb.Field, held map[int32]bool) []*pb.Field {
	byID := make(map[int32]*pb.Field, len(fields))
	for _, f := range fields {
		byID[f.GetId()] = f
	}
	keep := make(map[int32]bool)
	for _, f := range fields {
		// A malformed schema could have a cycle: no path is longer than the schema.
		path := []*pb.Field{}
		for p := f; p != nil && len(path) <= len(fields); p = byID[p.GetParentId()] {
			path = append(path, p)
		}
		if slices.ContainsFunc(path, func(p *pb.Field) bool { return held[p.GetId()] }) {
			keep[f.GetId()] = true
			if held[f.GetId()] {
				for _, p := range path {
					keep[p.GetId()] = true
				}
			}
		}
	}
	var out []*pb.Field
	for _, f := range fields {
		if keep[f.GetId()] {
			out = append(out, f)
		}
	}
	return out
}

// add copies a fragment's pages behind those that are already there.
func (o *output) add(ctx context.Context, t *table.Table, f *pb.DataFragment) error {
	live := liveFields(t)
	found := 0
	for _, d := range f.GetFiles() {
		if !slices.ContainsFunc(d.GetFields(), func(id int32) bool { return live[id] }) {
			continue
		}
		s, err := openSource(ctx, t, f, d, live)
		if err != nil {
			return err
		}
		err = o.addSource(ctx, s)
		found += len(s.columns)
		s.Close()
		if err != nil {
			return fmt.Errorf("copying %s: %w", table.DataName(d), err)
		}
	}
	if found != len(o.fields) {
		return fmt.Errorf("fragment %d: %w: %d columns where the others have %d", f.GetId(), errUncopyable, found, len(o.fields))
	}
	o.rows += f.GetPhysicalRows()
	return nil
}

func (o *output) addSource(ctx context.Context, s *source) error {
	m, err := o.copyBuffers(ctx, s)
	if err != nil {
		return err
	}
	for _, c := range s.columns {
		to := slices.Index(o.fields, c.field)
		if to < 0 {
			return fmt.Errorf("%w: column %d of field %d, which the others don't have", errUncopyable, c.index, c.field)
		}
		from := s.Columns[c.index]
		if c.agreed != "" && o.agreed[c.field] != "" && c.agreed != o.agreed[c.field] {
			return fmt.Errorf("%w: column %d differs from the other files' in which levels hold nulls", errUncopyable, c.index)
		}
		if c.agreed != "" {
			o.agreed[c.field] = c.agreed
		}
		if o.columns[to] == nil {
			o.columns[to] = &pb.ColumnMetadata{Encoding: from.GetEncoding()}
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

// appendPage adds a page to a column. A struct's own column of 2.0 says how many
// structs there are and nothing else, and readers want it said in one page.
func appendPage(c *pb.ColumnMetadata, p *pb.ColumnMetadata_Page) error {
	if n := len(c.Pages); n > 0 && len(p.GetBufferOffsets()) == 0 && proto.Equal(c.Pages[n-1].GetEncoding(), p.GetEncoding()) {
		header, err := structHeader(p.GetEncoding())
		if err != nil {
			return err
		}
		if header {
			c.Pages[n-1].Length += p.GetLength()
			return nil
		}
	}
	c.Pages = append(c.Pages, p)
	return nil
}

// copyBuffers copies the page buffers of the source's columns, in the order in
// which they lie there, many at a time where they are neighbours.
func (o *output) copyBuffers(ctx context.Context, s *source) (moves, error) {
	var spans []datafile.Span
	for _, c := range s.columns {
		for _, p := range s.Columns[c.index].GetPages() {
			for i, off := range p.GetBufferOffsets() {
				if n := p.GetBufferSizes()[i]; n > 0 {
					spans = append(spans, datafile.Span{Pos: off, Size: n})
				}
			}
		}
	}
	var m moves
	for _, r := range runs(spans) {
		pos, err := o.w.Copy(ctx, s.Reader, r)
		if err != nil {
			return nil, err
		}
		m = append(m, move{r, pos})
		o.copied(int64(r.Size))
	}
	return m, nil
}

// runs joins spans that are neighbours, or nearly so. Each run starts at a multiple of the
// alignment, so that copied to another one every buffer in it stays as aligned as it was.
func runs(spans []datafile.Span) []datafile.Span {
	slices.SortFunc(spans, func(a, b datafile.Span) int {
		switch {
		case a.Pos < b.Pos:
			return -1
		case a.Pos > b.Pos:
			return 1
		}
		return 0
	})
	var out []datafile.Span
	for _, s := range spans {
		start, end := s.Pos&^(datafile.Alignment-1), s.Pos+s.Size
		if n := len(out); n > 0 {
			last := &out[n-1]
			if lastEnd := last.Pos + last.Size; start <= lastEnd+maxGap {
				last.Size = max(lastEnd, end) - last.Pos
				continue
			}
		}
		out = append(out, datafile.Span{Pos: start, Size: end - start})
	}
	return out
}

// moves say where ranges of a source went, in ascending order.
type moves []move

type move struct {
	from datafile.Span
	to   uint64
}

// move returns where a buffer went. An empty one has no place; it keeps its
// entry, since encodings count buffers.
func (m moves) move(off, size uint64) uint64 {
	if size == 0 {
		return 0
	}
	i, found := slices.BinarySearchFunc(m, off, func(x move, off uint64) int {
		switch {
		case x.from.Pos < off:
			return -1
		case x.from.Pos > off:
			return 1
		}
		return 0
	})
	if !found {
		i--
	}
	return m[i].to + off - m[i].from.Pos
}

// finish publishes the file and makes its entry for a fragment.
func (o *output) finish(ctx context.Context, t *table.Table, name string) (*pb.DataFile, error) {
	e, err := o.w.Finish(ctx, o.footer[0], o.footer[1], &pb.FileDescriptor{Schema: o.schema, Length: o.rows}, o.columns)
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
