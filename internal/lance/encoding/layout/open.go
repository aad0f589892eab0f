package layout

import (
	"context"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
)

// reader reads one field: its leaves, and how they go together.
type reader struct {
	rows   uint64
	typ    arrow.DataType
	leaves []*leaf // those that the file has
	pages  cache
}

// Open makes the reader of a field. The file must outlive it.
func Open(f *datafile.File, field column.Field) (column.Reader, error) {
	r := &reader{rows: f.Descriptor.GetLength(), typ: field.Type}
	if r.rows > 1<<48 {
		return nil, corrupt("a file of %d rows", r.rows)
	}
	if err := r.add(f, walk{}, field); err != nil {
		return nil, err
	}
	return r, nil
}

func (r *reader) Rows() uint64 { return r.rows }

// want is what a read takes of one page.
type want struct {
	leaf, page int
	from, to   uint64 // rows of the page
	p          page
	index      []datafile.Span
	spans      []datafile.Span
	bufs       [][]byte
}

// wants lists the pages that rows [from, to) of all leaves lie in.
func (r *reader) wants(from, to uint64) []want {
	var out []want
	for i, l := range r.leaves {
		for p := l.find(from); p < len(l.meta) && l.starts[p] < to; p++ {
			w := want{leaf: i, page: p, from: max(from, l.starts[p]) - l.starts[p], to: min(to, l.starts[p+1]) - l.starts[p]}
			if w.from < w.to {
				w.p = r.pages.get(pageKey{i, p})
				out = append(out, w)
			}
		}
	}
	return out
}

// smallPage is the size up to which a page of which nothing is known yet is read ahead
// as a whole.
const smallPage = 1 << 20

func (r *reader) Need(from, to uint64) []datafile.Span {
	to = min(to, r.rows)
	var out []datafile.Span
	for _, w := range r.wants(from, to) {
		l := r.leaves[w.leaf]
		if w.p == nil {
			p, err := l.open(w.page)
			if err != nil {
				continue // Read tells
			}
			out = append(out, p.meta()...)
			all := spansOf(l.meta[w.page])
			total := uint64(0)
			for _, s := range all {
				total += s.Size
			}
			if total <= smallPage || w.to-w.from == l.starts[w.page+1]-l.starts[w.page] {
				out = append(out, all...)
			}
			continue
		}
		if index := w.p.index(w.from, w.to); len(index) > 0 {
			out = append(out, index...)
		} else if data, err := w.p.data(w.from, w.to, nil); err == nil {
			out = append(out, data...)
		}
	}
	return out
}

func (r *reader) Read(ctx context.Context, src column.Source, from, to uint64, limit int64) (arrow.Array, error) {
	if from > to || to > r.rows {
		return nil, fmt.Errorf("rows %d to %d of a file of %d", from, to, r.rows)
	}
	if to-from > 1<<31-1 {
		return nil, overLimit("%d rows in one array", to-from)
	}
	wants := r.wants(from, to)
	if err := r.load(ctx, src, wants, limit); err != nil {
		return nil, err
	}
	if err := r.fetch(ctx, src, wants); err != nil {
		return nil, err
	}
	var parts []arrow.Array
	defer func() {
		for _, p := range parts {
			p.Release()
		}
	}()
	for i, l := range r.leaves {
		n := 0
		for n < len(wants) && wants[n].leaf == i {
			n++
		}
		part, err := l.read(wants[:n], int(to-from), limit)
		if err != nil {
			return nil, err
		}
		wants = wants[n:]
		parts = append(parts, part)
		if limit -= sizeOf(part); limit < 0 {
			return nil, overLimit("%d bytes too many in %d of %d columns", -limit, i+1, len(r.leaves))
		}
	}
	return Merge(r.typ, int(to-from), parts, limit)
}

// load loads the pages that are not in memory, with one request.
func (r *reader) load(ctx context.Context, src column.Source, wants []want, limit int64) error {
	var spans []datafile.Span
	for i := range wants {
		w := &wants[i]
		if w.p != nil {
			continue
		}
		p, err := r.leaves[w.leaf].open(w.page)
		if err != nil {
			return err
		}
		w.p, w.spans = p, p.meta()
		if w.spans == nil {
			w.spans = []datafile.Span{}
		}
		spans = append(spans, w.spans...)
	}
	bufs, err := fetch(ctx, src, spans)
	if err != nil {
		return err
	}
	for i := range wants {
		w := &wants[i]
		if w.spans == nil {
			continue
		}
		n := len(w.spans)
		if err := w.p.load(bufs[:n], limit); err != nil {
			return r.leaves[w.leaf].fault(w.page, err)
		}
		bufs, w.spans = bufs[n:], nil
		r.pages.put(pageKey{w.leaf, w.page}, w.p)
	}
	return nil
}

// fetch gets the bytes of the wanted rows: one request, or two where positions have to
// be looked up first.
func (r *reader) fetch(ctx context.Context, src column.Source, wants []want) error {
	var spans []datafile.Span
	for i := range wants {
		w := &wants[i]
		w.index = w.p.index(w.from, w.to)
		spans = append(spans, w.index...)
	}
	index, err := fetch(ctx, src, spans)
	if err != nil {
		return err
	}
	spans = spans[:0]
	for i := range wants {
		w := &wants[i]
		n := len(w.index)
		if w.spans, err = w.p.data(w.from, w.to, index[:n]); err != nil {
			return r.leaves[w.leaf].fault(w.page, err)
		}
		index = index[n:]
		spans = append(spans, w.spans...)
	}
	bufs, err := fetch(ctx, src, spans)
	if err != nil {
		return err
	}
	for i := range wants {
		n := len(wants[i].spans)
		wants[i].bufs, bufs = bufs[:n], bufs[n:]
	}
	return nil
}

// fetch asks for bytes and checks that they came.
func fetch(ctx context.Context, src column.Source, spans []datafile.Span) ([][]byte, error) {
	if len(spans) == 0 {
		return nil, ctx.Err()
	}
	bufs, err := src.Fetch(ctx, spans)
	if err != nil {
		return nil, err
	}
	if len(bufs) != len(spans) {
		return nil, fmt.Errorf("%d spans were asked for, %d came", len(spans), len(bufs))
	}
	for i, b := range bufs {
		if uint64(len(b)) != spans[i].Size {
			return nil, fmt.Errorf("%d bytes at %d were asked for, %d came", spans[i].Size, spans[i].Pos, len(b))
		}
	}
	return bufs, nil
}
