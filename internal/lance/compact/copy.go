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

// copyAll copies what is copied, and makes what could not lose its rows otherwise to be encoded.
func (o *output) copyAll(ctx context.Context) error {
	from := o.bySource()
	for _, p := range o.pieces {
		if err := ctx.Err(); err != nil {
			return err
		}
		if of := from[p.frag]; of != nil {
			if err := o.copyPiece(ctx, p.frag, of); err != nil {
				return &fragmentError{o.frags[p.frag].GetId(), err}
			}
		}
	}
	return nil
}

// fromSource are the stretches of a fragment that are not encoded, by top-level field.
type fromSource struct{ copied, pruned map[int][]*stretch }

// bySource sorts all such stretches by their fragments.
func (o *output) bySource() map[int]*fromSource {
	from := make(map[int]*fromSource)
	for i, all := range o.stretches {
		for k := range all {
			s := &all[k]
			if s.way == encoded {
				continue
			}
			of := from[s.frag]
			if of == nil {
				of = &fromSource{copied: make(map[int][]*stretch), pruned: make(map[int][]*stretch)}
				from[s.frag] = of
			}
			if s.way == copied {
				of.copied[i] = append(of.copied[i], s)
			} else {
				of.pruned[i] = append(of.pruned[i], s)
			}
		}
	}
	return from
}

// copyPiece copies what is copied of a fragment, and what is pruned.
func (o *output) copyPiece(ctx context.Context, frag int, of *fromSource) error {
	src, err := openSources(ctx, o.t, o.frags[frag], o.shape, o.files.open)
	if err != nil {
		return err
	}
	defer src.Close()
	for _, s := range src.files {
		if err := o.copySource(ctx, s, of.copied); err != nil {
			return fmt.Errorf("copying %s: %w", table.DataName(s.entry), err)
		}
	}
	for _, all := range of.copied {
		for _, s := range all {
			o.done(s.bytes)
		}
	}
	return o.pruneAll(ctx, src, of.pruned)
}

// copySource copies the pages of stretches that a file holds.
func (o *output) copySource(ctx context.Context, s *source, of map[int][]*stretch) error {
	var pages []copiedPage
	for _, c := range s.columns {
		to := slices.Index(o.fields, c.field)
		all := of[o.shape.top[c.field]]
		if len(all) == 0 || to < 0 {
			continue
		}
		if s.why != nil {
			return s.why
		}
		if c.why != nil {
			return c.why
		}
		from := s.Columns[c.index]
		if k := o.columns[to]; k.encoding == nil {
			k.encoding = from.GetEncoding()
		} else if !proto.Equal(k.encoding, from.GetEncoding()) {
			return fmt.Errorf("%w: column %d is encoded otherwise than in the other files", errUncopyable, c.index)
		}
		for _, x := range all {
			pages = append(pages, pagesOf(from, to, x, s.Descriptor.GetLength())...)
		}
	}
	m, err := o.copyBuffers(ctx, s, pages)
	if err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, p := range pages {
		for i, off := range p.page.BufferOffsets {
			p.page.BufferOffsets[i] = m.move(off, p.page.BufferSizes[i])
		}
		o.place(p.column, p.row, p.page)
	}
	return nil
}

// copiedPage is a page that goes to a column of the new file.
type copiedPage struct {
	column int
	row    uint64 // where its stretch begins
	page   *pb.ColumnMetadata_Page
}

// pagesOf are the pages of a column that lie in a stretch, as they are in the new file but for the places of their buffers.
func pagesOf(c *pb.ColumnMetadata, to int, x *stretch, rows uint64) (out []copiedPage) {
	whole := x.from == 0 && x.live == rows
	if !whole && isHeader(c) {
		p := proto.CloneOf(c.GetPages()[0])
		p.Length, p.Priority = x.live, x.row
		return []copiedPage{{to, x.row, p}}
	}
	at := uint64(0)
	for _, p := range c.GetPages() {
		from := at
		at += p.GetLength()
		if !whole && (from < x.from || from >= x.to || p.GetLength() == 0) {
			continue
		}
		q := proto.CloneOf(p)
		// In 2.0 a page may say that it begins at an earlier row than it does.
		q.Priority = x.row + max(q.Priority, x.from) - x.from
		out = append(out, copiedPage{to, x.row, q})
	}
	return out
}

// copyBuffers copies the buffers of pages, in the order in which they lie in the file, many at a time where they are neighbours.
func (o *output) copyBuffers(ctx context.Context, s *source, pages []copiedPage) (moves, error) {
	var spans []datafile.Span
	for _, p := range pages {
		for i, off := range p.page.GetBufferOffsets() {
			if n := p.page.GetBufferSizes()[i]; n > 0 {
				spans = append(spans, datafile.Span{Pos: off, Size: n})
			}
		}
	}
	var m moves
	for _, r := range runs(spans) {
		pos, err := o.copyRange(ctx, s.Reader, r)
		if err != nil {
			return nil, err
		}
		m = append(m, move{r, pos})
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
