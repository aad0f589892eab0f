package array

import (
	"math"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// leaf is a field whose values are in one column.
type leaf struct{ *col }

func openLeaf(f *datafile.File, field column.Field, path string) (node, error) {
	c, err := openColumn(f, field.Column, path, field.Type)
	if err != nil {
		return nil, err
	}
	blob, err := c.kind()
	if err != nil {
		return nil, err
	}
	if blob != field.Blob && column.Storage(field.Type).ID() != arrow.STRUCT {
		return nil, unsupported("%s: blobs in column %d as %s", path, field.Column, field.Type)
	}
	if isVariable(column.Storage(field.Type)) && len(c.pages) > 0 {
		// Early writers kept strings as lists of bytes, in two columns.
		if e, err := c.pages[0].decode(); err == nil && e.GetList() != nil {
			return openByteLists(f, field, path)
		}
	}
	return leaf{c}, nil
}

// kind tells whether the column holds descriptors of blobs.
func (c *col) kind() (blob bool, err error) {
	if c.meta.GetEncoding() == nil {
		return false, nil
	}
	e := new(pb.ColumnEncoding)
	if err := unpack(c.meta.GetEncoding(), "ColumnEncoding", e); err != nil {
		return false, err
	}
	for range maxDepth {
		switch t := e.GetEncoding().(type) {
		case *pb.ColumnEncoding_Values:
			return blob, nil
		case *pb.ColumnEncoding_ZoneIndex_:
			e = t.ZoneIndex.GetInner()
		case *pb.ColumnEncoding_Blob_:
			blob, e = true, t.Blob.GetInner()
		default:
			return false, unsupported("%s: column %d has an encoding that is unknown", c.path, c.number)
		}
	}
	return false, corrupt("%s: column %d has more than %d encodings within each other", c.path, c.number, maxDepth)
}

func (l leaf) rows() (uint64, bool) { return l.col.rows, true }

func (l leaf) pages(out []column.PageInfo) []column.PageInfo { return append(out, l.infos()...) }

func (l leaf) need(from, to uint64, out []datafile.Span) []datafile.Span {
	// An error is for the Read to report.
	_ = l.each(from, to, func(p *page, from, to uint64) error {
		e, err := p.encoding()
		if err != nil {
			return err
		}
		out = e.need(from, to, out)
		return nil
	})
	return out
}

// leafLoading is some rows of a leaf, in parts of pages.
type leafLoading struct {
	of    *col
	n     int
	parts []leafPart
}

type leafPart struct {
	page *page
	part part
}

func (l leaf) load(r *read, from, to uint64) (loading, error) {
	n, err := count(from, to)
	if err != nil {
		return nil, err
	}
	if err := r.take(leastBytes(l.typ, uint64(n))); err != nil {
		return nil, err
	}
	out := &leafLoading{of: l.col, n: n}
	err = l.each(from, to, func(p *page, from, to uint64) error {
		r.at = p
		defer func() { r.at = nil }()
		e, err := p.encoding()
		if err != nil {
			return err
		}
		part, err := e.load(r, from, to)
		out.parts = append(out.parts, leafPart{p, part})
		return err
	})
	return out, err
}

func (l *leafLoading) build(r *read) (arrow.ArrayData, error) {
	b, err := newBuilder(r, l.of.typ, l.n)
	if err != nil {
		return nil, err
	}
	for _, p := range l.parts {
		n, err := p.part.prepare(r)
		if err != nil {
			return nil, p.page.wrap(err)
		}
		if b.text != nil {
			b.text.expect = plus(b.text.expect, n)
		}
	}
	for _, p := range l.parts {
		if err := p.part.appendTo(b); err != nil {
			return nil, p.page.wrap(err)
		}
	}
	return b.finish()
}

// missing is a field that the file does not hold: all is null.
type missing struct{ typ arrow.DataType }

func (m *missing) rows() (uint64, bool) { return 0, false }

func (m *missing) need(_, _ uint64, out []datafile.Span) []datafile.Span { return out }

func (m *missing) pages(out []column.PageInfo) []column.PageInfo { return out }

func (m *missing) load(r *read, from, to uint64) (loading, error) {
	n, err := count(from, to)
	if err != nil {
		return nil, err
	}
	bitmap := times(uint64(n+7)/8, uint64(buffersOf(m.typ)))
	return &missingLoading{m.typ, n}, r.take(plus(leastBytes(m.typ, uint64(n)), bitmap))
}

// buffersOf a type counts its bitmaps.
func buffersOf(t arrow.DataType) int {
	n := 1
	if t, ok := column.Storage(t).(arrow.NestedType); ok {
		for _, f := range t.Fields() {
			n += buffersOf(f.Type)
		}
	}
	return n
}

type missingLoading struct {
	typ arrow.DataType
	n   int
}

func (m *missingLoading) build(*read) (arrow.ArrayData, error) {
	var z column.Zeros
	return z.Nulls(m.typ, m.n, math.MaxInt64) // what it takes was asked for
}
