package array

import (
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
)

// list is a list whose column holds ends, page by page counted from 0, and
// whose items are in the columns of another node.
type list struct {
	col   *col
	typ   arrow.DataType
	width uint64 // of an offset in bytes
	items node
	// lists are the pages' encodings, as the column's pages.
	lists []listPage
}

// listPage is the encoding of a page of lists.
type listPage struct {
	ends ends
	// first is the item at which the page begins, count how many it has.
	first, count uint64
}

func openList(f *datafile.File, field column.Field, path string, items node) (*list, error) {
	c, err := openColumn(f, field.Column, path, nil)
	if err != nil {
		return nil, err
	}
	blob, err := c.kind()
	if err != nil {
		return nil, err
	}
	if blob {
		return nil, unsupported("%s: blobs in column %d as %s", path, field.Column, field.Type)
	}
	l := &list{col: c, typ: field.Type, items: items, lists: make([]listPage, len(c.pages))}
	l.width, _ = offsetBytes(column.Storage(field.Type))
	var first uint64
	for i := range c.pages {
		p := &c.pages[i]
		lp, err := listOf(p)
		if err != nil {
			return nil, p.wrap(err)
		}
		lp.first = first
		if first+lp.count < first {
			return nil, p.wrap(corrupt("%d items behind %d others", lp.count, first))
		}
		first += lp.count
		l.lists[i] = lp
	}
	if n, ok := items.rows(); ok && n != first {
		return nil, corrupt("%s: %d items, its lists in column %d have %d", path, n, field.Column, first)
	}
	return l, nil
}

// listOf compiles a page's encoding.
func listOf(p *page) (listPage, error) {
	e, err := p.decode()
	if err != nil {
		return listPage{}, err
	}
	m := e.GetList()
	if m == nil {
		return listPage{}, corrupt("a list is stored as something else")
	}
	ends, err := (&compiler{p}).ends(m.GetOffsets(), m.GetNullAdjustment(), maxDepth)
	return listPage{ends: ends, count: m.GetNumItems()}, err
}

func (l *list) rows() (uint64, bool) { return l.col.rows, true }

func (l *list) pages(out []column.PageInfo) []column.PageInfo {
	return l.items.pages(append(out, l.col.infos()...))
}

// need guesses at the items, unless whole pages are asked for.
func (l *list) need(from, to uint64, out []datafile.Span) []datafile.Span {
	_ = l.col.each(from, to, func(p *page, a, b uint64) error {
		lp := &l.lists[p.slot]
		out = lp.ends.need(a, b, out)
		if x, y := guess(a, b, p.rows, lp.count, 1<<10); x < y {
			out = l.items.need(lp.first+x, lp.first+y, out)
		}
		return nil
	})
	return out
}

type listLoading struct {
	of    *list
	n     int
	parts []listPart
	items loading
	// first item of the rows, and the one behind their last.
	first, last uint64
}

type listPart struct {
	page *page
	list *listPage
	ends *endsPart
	// whole tells that the last list of the page is among the rows.
	whole bool
}

func (l *list) load(r *read, from, to uint64) (loading, error) {
	n, err := count(from, to)
	if err != nil {
		return nil, err
	}
	if err := r.take(times(uint64(n)+1, l.width)); err != nil {
		return nil, err
	}
	out := &listLoading{of: l, n: n}
	err = l.col.each(from, to, func(p *page, a, b uint64) error {
		r.at = p
		defer func() { r.at = nil }()
		lp := &l.lists[p.slot]
		ends, err := lp.ends.load(r, a, b)
		out.parts = append(out.parts, listPart{p, lp, ends, b == p.rows})
		return err
	})
	if err != nil {
		return nil, err
	}
	r.then(func() error { return out.loadItems(r) })
	return out, nil
}

// loadItems goes on with the items, once the ends are there.
func (l *listLoading) loadItems(r *read) error {
	for i, p := range l.parts {
		if err := p.ends.open(r); err != nil {
			return p.page.wrap(err)
		}
		if p.ends.last > p.list.count || p.whole && p.ends.last != p.list.count {
			return p.page.wrap(corrupt("lists end at item %d of %d", p.ends.last, p.list.count))
		}
		if i == 0 {
			l.first = p.list.first + p.ends.first
		}
		l.last = p.list.first + p.ends.last
	}
	if l.of.width == 4 && l.last-l.first > math.MaxInt32 {
		return fmt.Errorf("%w: %d items of lists with offsets of 32 bits", column.ErrLimit, l.last-l.first)
	}
	var err error
	l.items, err = l.of.items.load(r, l.first, l.last)
	return err
}

func (l *listLoading) build(r *read) (arrow.ArrayData, error) {
	valid := bitmap{r: r, total: l.n}
	// Ends of lists and of strings are the same thing.
	t := text{r: r, total: l.n, wide: l.of.width == 8}
	for _, p := range l.parts {
		if err := t.ends(p.ends.raw, p.ends.n, p.ends.first, p.ends.of.adjust, t.n, &valid); err != nil {
			return nil, p.page.wrap(err)
		}
	}
	items, err := l.items.build(r)
	if err != nil {
		return nil, err
	}
	defer items.Release()
	offsets, _ := t.finish()
	bits, nulls := valid.buffer()
	return array.NewData(l.of.typ, l.n, []*memory.Buffer{bits, offsets}, []arrow.ArrayData{items}, nulls, 0), nil
}

// byteLists are strings stored as lists of bytes.
type byteLists struct {
	*list
	typ arrow.DataType
}

func openByteLists(f *datafile.File, field column.Field, path string) (node, error) {
	c, err := openColumn(f, field.Column+1, path, arrow.PrimitiveTypes.Uint8)
	if err != nil {
		return nil, err
	}
	var as arrow.DataType = arrow.ListOf(arrow.PrimitiveTypes.Uint8)
	if w, _ := offsetBytes(column.Storage(field.Type)); w == 8 {
		as = arrow.LargeListOf(arrow.PrimitiveTypes.Uint8)
	}
	of := field
	of.Type = as
	l, err := openList(f, of, path, leaf{c})
	return &byteLists{l, field.Type}, err
}

type byteListsLoading struct {
	loading
	typ arrow.DataType
}

func (b *byteLists) load(r *read, from, to uint64) (loading, error) {
	l, err := b.list.load(r, from, to)
	return &byteListsLoading{l, b.typ}, err
}

func (b *byteListsLoading) build(r *read) (arrow.ArrayData, error) {
	d, err := b.loading.build(r)
	if err != nil {
		return nil, err
	}
	defer d.Release()
	item := d.Children()[0]
	if item.NullN() > 0 {
		return nil, corrupt("a byte of a string is null")
	}
	buffers := []*memory.Buffer{d.Buffers()[0], d.Buffers()[1], item.Buffers()[1]}
	return array.NewData(b.typ, d.Len(), buffers, nil, d.NullN(), 0), nil
}
