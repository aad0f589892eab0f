package compact

import (
	"context"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/slab"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
)

// pruneAll takes rows out of the pages of stretches, and has those encoded where that can't be done.
func (o *output) pruneAll(ctx context.Context, src *sources, of map[int][]*stretch) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(o.limits.threads)
	var done []*stretch
	for field, all := range of {
		for _, x := range all {
			x.way = encoded
			s := src.holds(field, o.shape)
			if s == nil || x.bytes > o.limits.whole || o.shape.version == table.V2_0 && o.shape.fields[field].lists {
				continue
			}
			done = append(done, x)
			g.Go(func() error {
				if err := o.prune(ctx, s, field, x); err != nil {
					return fmt.Errorf("%s: column %q: %w", table.DataName(s.entry), o.shape.fields[field].name, err)
				}
				return nil
			})
		}
	}
	if err := g.Wait(); err != nil {
		return err
	}
	for _, x := range done {
		if x.way == pruned {
			o.done(x.bytes)
		}
	}
	return nil
}

// holds is the file that has a field's columns; nil when none or several have.
func (s *sources) holds(field int, sh *shape) (in *source) {
	for _, x := range s.files {
		if !slices.ContainsFunc(x.columns, func(c sourceColumn) bool { return sh.top[c.field] == field }) {
			continue
		}
		if in != nil || x.why != nil {
			return nil
		}
		in = x
	}
	return in
}

// prune takes rows out of the pages of a stretch. Its way tells whether that could be done.
func (o *output) prune(ctx context.Context, s *source, field int, x *stretch) error {
	var made []copiedPage
	var buffers [][][]byte
	var mem slab.Arena
	defer mem.Free()
	for _, c := range s.columns {
		to := slices.Index(o.fields, c.field)
		if o.shape.top[c.field] != field {
			continue
		}
		meta := s.Columns[c.index]
		if isHeader(meta) {
			made, buffers = append(made, pagesOf(meta, to, x, s.Descriptor.GetLength())...), append(buffers, nil)
			continue
		}
		if _, ok := endsOf(meta, s.Descriptor.GetLength()); !ok || to < 0 || c.why != nil {
			return nil
		}
		row, at := x.row, uint64(0)
		for _, p := range meta.GetPages() {
			from := at
			at += p.GetLength()
			keep := o.stored[x.frag].kept(max(from, x.from), min(at, x.to), from)
			if len(keep) == 0 {
				continue
			}
			pages, ok, err := o.keep(ctx, s, p, keep, &mem)
			if err != nil || !ok {
				return err
			}
			for _, q := range pages {
				made = append(made, copiedPage{to, row, &pb.ColumnMetadata_Page{Length: q.Length, Priority: row, Encoding: q.Encoding}})
				buffers = append(buffers, q.Buffers)
				row += q.Length
			}
		}
		if row != x.row+x.live {
			return fmt.Errorf("%w: %d rows are left of a range of which %d should be", datafile.ErrCorrupt, row-x.row, x.live)
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	x.way = pruned
	for i, p := range made {
		if err := o.w.Page(p.page, buffers[i]); err != nil {
			return err
		}
		o.place(p.column, p.row, p.page)
	}
	return nil
}

// keep reads a page and takes rows out of it, all in the memory of mem.
func (o *output) keep(ctx context.Context, s *source, p *pb.ColumnMetadata_Page, keep []column.Range, mem *slab.Arena) ([]column.Page, bool, error) {
	if pageBytes(p) > o.limits.whole {
		return nil, false, nil
	}
	var spans []datafile.Span
	buffers := make([][]byte, len(p.GetBufferOffsets()))
	for i, off := range p.GetBufferOffsets() {
		if n := p.GetBufferSizes()[i]; n > 0 {
			spans = append(spans, datafile.Span{Pos: off, Size: n})
		}
	}
	for _, r := range runs(spans) {
		b := mem.Bytes(int(r.Size))[:r.Size]
		if err := s.Reader.ReadAt(ctx, b, int64(r.Pos)); err != nil {
			return nil, false, err
		}
		for i, off := range p.GetBufferOffsets() {
			if n := p.GetBufferSizes()[i]; n > 0 && off >= r.Pos && off+n <= r.Pos+r.Size {
				buffers[i] = b[off-r.Pos:][:n:n]
			}
		}
	}
	return encoding.Keep(o.shape.version, p, buffers, keep, o.limits.whole, mem)
}

// kept are the ranges of [from, to) without deleted rows, counted from first on.
func (s stored) kept(from, to, first uint64) (out []column.Range) {
	if from >= to {
		return nil
	}
	if s.deleted == nil {
		return []column.Range{{From: from - first, To: to - first}}
	}
	it := s.deleted.Iterator()
	it.AdvanceIfNeeded(uint32(from))
	for at := from; at < to; {
		next := to
		if it.HasNext() {
			next = min(uint64(it.Next()), to)
		}
		if next > at {
			out = append(out, column.Range{From: at - first, To: next - first})
		}
		at = next + 1
	}
	return out
}
