package array

import (
	"fmt"
	"sort"
	"strings"
	"sync/atomic"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// col is a column of the file.
type col struct {
	file   *datafile.File
	number int
	path   string
	meta   *pb.ColumnMetadata
	// typ is what its pages are decoded to; nil for the ends of lists and for structs.
	typ arrow.DataType
	// pages without the empty ones that some writers left.
	pages []page
	rows  uint64
	kept  kept
}

// page is a page of a column that has rows.
type page struct {
	of *col
	// index among the column's pages, slot among those that have rows; first is the
	// number of its first row in the column.
	index, slot int
	first, rows uint64
	meta        *pb.ColumnMetadata_Page
	// tree is what the page's encoding was compiled to, once that has happened.
	tree atomic.Pointer[encoding]
}

func openColumn(f *datafile.File, number int, path string, typ arrow.DataType) (*col, error) {
	if number < 0 || number >= len(f.Columns) {
		return nil, corrupt("%s: column %d of %d", path, number, len(f.Columns))
	}
	c := &col{file: f, number: number, path: path, meta: f.Columns[number], typ: typ}
	pages := c.meta.GetPages()
	c.pages = make([]page, 0, len(pages))
	for i, m := range pages {
		n := m.GetLength()
		if n == 0 {
			continue
		}
		if c.rows+n < c.rows {
			return nil, corrupt("%s: column %d: pages of more than 2^64 rows", path, number)
		}
		c.pages = append(c.pages, page{of: c, index: i, slot: len(c.pages), first: c.rows, rows: n, meta: m})
		c.rows += n
	}
	return c, nil
}

// wrap says where an error happened.
func (p *page) wrap(err error) error {
	if p == nil || err == nil {
		return err
	}
	text := "no encoding"
	if e, err := p.decode(); err == nil {
		text = describe(e)
	}
	return fmt.Errorf("%s: column %d, page %d (%s): %w", p.of.path, p.of.number, p.index, text, err)
}

// find is the index of the page that holds a row.
func (c *col) find(row uint64) int {
	return sort.Search(len(c.pages), func(i int) bool { p := &c.pages[i]; return p.first+p.rows > row })
}

// each calls f for the part of every page that lies in rows [from, to).
func (c *col) each(from, to uint64, f func(p *page, from, to uint64) error) error {
	if from >= to {
		return nil
	}
	if to > c.rows {
		return corrupt("%s: column %d has %d rows, row %d is needed", c.path, c.number, c.rows, to-1)
	}
	for i := c.find(from); i < len(c.pages) && c.pages[i].first < to; i++ {
		p := &c.pages[i]
		if err := f(p, max(from, p.first)-p.first, min(to-p.first, p.rows)); err != nil {
			return p.wrap(err)
		}
	}
	return nil
}

// decode reads the page's encoding message.
func (p *page) decode() (*pb.ArrayEncoding, error) {
	e := new(pb.ArrayEncoding)
	return e, unpack(p.meta.GetEncoding(), "ArrayEncoding", e)
}

// unpack reads an encoding message that is wrapped with its type's name.
func unpack(e *pb.Encoding, name string, into proto.Message) error {
	if _, ok := e.GetLocation().(*pb.Encoding_Indirect_); ok {
		return unsupported("encoding kept in a buffer of its own")
	}
	if e.GetDirect() == nil {
		return corrupt("no encoding")
	}
	var any anypb.Any
	if err := pb.Unmarshal(e.GetDirect().GetEncoding(), &any); err != nil {
		return corrupt("encoding: %v", err)
	}
	if got := any.GetTypeUrl(); got[strings.LastIndexByte(got, '.')+1:] != name {
		return unsupported("%s where 2.0 has %s", got, name)
	}
	if err := pb.Unmarshal(any.GetValue(), into); err != nil {
		return corrupt("%s: %v", name, err)
	}
	return nil
}

// encoding is the page's tree, compiled for the column's type.
func (p *page) encoding() (encoding, error) {
	if t := p.tree.Load(); t != nil {
		return *t, nil
	}
	e, err := p.decode()
	if err != nil {
		return nil, err
	}
	t, err := (&compiler{page: p}).values(p.of.typ, e, maxDepth)
	if err != nil {
		return nil, err
	}
	p.tree.Store(&t)
	return t, nil
}

// info describes the page.
func (c *col) info(i int, text string) column.PageInfo {
	m := c.meta.GetPages()[i]
	out := column.PageInfo{
		Column: c.number, Path: c.path, Page: i, Rows: m.GetLength(),
		Layout: "array", Encoding: text,
	}
	for _, n := range m.GetBufferSizes() {
		out.Bytes = plus(out.Bytes, n)
	}
	return out
}

// infos describes all pages, empty ones included.
func (c *col) infos() []column.PageInfo {
	out := make([]column.PageInfo, len(c.meta.GetPages()))
	for i := range out {
		p := page{of: c, index: i, meta: c.meta.GetPages()[i]}
		e, err := p.decode()
		if err != nil {
			out[i] = c.info(i, err.Error())
			continue
		}
		out[i] = c.info(i, describe(e))
	}
	return out
}
