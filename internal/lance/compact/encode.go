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

// group are fields of which the same rows are encoded.
type group struct {
	fields    []int
	stretches []stretch
	bytes     int64
	rows      uint64
}

// groups puts those of some fields together that can be decoded together.
func (o *output) groups(fields []int) (all []*group) {
	by := make(map[string]*group)
	for _, i := range fields {
		stretches := o.stretches[i]
		var anew []stretch
		var bytes int64
		key := ""
		for _, s := range stretches {
			if s.way == encoded {
				anew, bytes = append(anew, s), bytes+s.bytes
				key += fmt.Sprintf("%d:%d-%d ", s.frag, s.from, s.to)
			}
		}
		if len(anew) == 0 {
			continue
		}
		g := by[key]
		if g == nil {
			g = &group{stretches: anew}
			for _, s := range anew {
				g.rows += s.live
			}
			by[key], all = g, append(all, g)
		}
		g.fields, g.bytes = append(g.fields, i), g.bytes+bytes
	}
	return all
}

// encodeAll reads groups of fields, without deleted rows, and writes them anew.
func (o *output) encodeAll(ctx context.Context, groups []*group) error {
	for _, g := range apart(groups, o.limits.threads) {
		lanes := o.newLanes(ctx, g.fields)
		err := o.encode(ctx, g, lanes)
		if wrong := lanes.close(err != nil); wrong != nil {
			err = wrong // which is why nothing more could be given to them
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// apart divides groups into such of as many fields as are encoded at a time: then no more than these wait with pages that
// are not full. What a fragment holds of a field is too little for that when it would be read for less than it costs to ask for it.
func apart(groups []*group, at int) (out []*group) {
	const worthReading = 4 << 10
	for _, g := range groups {
		n, reads := len(g.fields), int64(max(len(g.stretches), 1))
		if n <= at || g.bytes/(int64(n)*reads) < worthReading {
			out = append(out, g)
			continue
		}
		for fields := range slices.Chunk(g.fields, at) {
			part := *g
			part.fields, part.bytes = fields, g.bytes*int64(len(fields))/int64(n)
			out = append(out, &part)
		}
	}
	return out
}

// encode hands the rows of a group to its fields' lanes.
func (o *output) encode(ctx context.Context, g *group, l *lanes) error {
	for all := g.stretches; len(all) > 0; {
		// A scan goes by the manifest's order, which need not be that of the ids.
		n := 1
		for n < len(all) && o.rank(all[n-1]) <= o.rank(all[n]) {
			n++
		}
		if err := o.encodeSome(ctx, g, all[:n], l); err != nil {
			return err
		}
		all = all[n:]
	}
	return nil
}

// rank is where a stretch's fragment stands in the manifest.
func (o *output) rank(s stretch) int { return o.order[o.frags[s.frag].GetId()] }

func (o *output) encodeSome(ctx context.Context, g *group, all []stretch, l *lanes) error {
	opts := scan.Options{StoredJSON: true, BatchBytes: o.limits.batch, ReadAhead: o.limits.ahead, Threads: o.limits.threads,
		Rows: make(map[uint64][]scan.Range), Deleted: o.deletions(), Files: o.files.open}
	for _, i := range g.fields {
		opts.Columns = append(opts.Columns, o.shape.fields[i].name)
	}
	for _, s := range all {
		id := o.frags[s.frag].GetId()
		opts.Rows[id] = append(opts.Rows[id], scan.Range{From: s.from, To: s.to})
	}
	s, err := scan.Open(ctx, o.t, opts)
	if err != nil {
		return err
	}
	defer s.Close()
	// No batch holds rows of two ranges, and an error comes behind all rows that are before it.
	at, credited := uint64(0), int64(0)
	for {
		for len(all) > 1 && at == all[0].live {
			all, at = all[1:], 0
		}
		frag := o.frags[all[0].frag].GetId()
		b, err := s.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return &fragmentError{frag, err}
		}
		n := uint64(b.NumRows())
		if at+n > all[0].live {
			err = fmt.Errorf("%w: it has more rows than the manifest says", datafile.ErrCorrupt)
		}
		if err == nil {
			var columns []arrow.Array
			if columns, err = o.moveBlobs(ctx, o.frags[all[0].frag], g.fields, b); err == nil {
				err = l.give(ctx, columns, all[0].row+at, frag)
			}
		}
		at += n
		b.Release()
		if err != nil {
			return &fragmentError{frag, err}
		}
		credit := share64(g.bytes, n, g.rows)
		credited += credit
		o.done(credit)
	}
	if at != all[0].live || len(all) > 1 {
		return &fragmentError{o.frags[all[0].frag].GetId(), fmt.Errorf("%w: it has fewer rows than the manifest says", datafile.ErrCorrupt)}
	}
	return nil
}
