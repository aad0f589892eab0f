package array

import (
	"context"
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
)

// node is a field with its columns.
type node interface {
	// rows is how many there are; false when any number will do.
	rows() (uint64, bool)
	// load asks for what rows [from, to) need.
	load(r *read, from, to uint64) (loading, error)
	need(from, to uint64, out []datafile.Span) []datafile.Span
	pages(out []column.PageInfo) []column.PageInfo
}

// loading is some rows of a node whose bytes are being fetched.
type loading interface {
	// build makes the array, once all rounds have run.
	build(r *read) (arrow.ArrayData, error)
}

// reader reads a top-level field.
type reader struct {
	name string
	root node
	n    uint64
}

var _ column.Reader = (*reader)(nil)

// Open returns the reader of a field of a file of version 2.0. The types of packed structs
// must name all fields that are packed. An encoding that is not understood is
// found when its page is read.
func Open(f *datafile.File, field column.Field) (column.Reader, error) {
	if !(f.Major == 0 && f.Minor == 3 || f.Major == 2 && f.Minor == 0) {
		return nil, unsupported("file of version %d.%d as one of 2.0", f.Major, f.Minor)
	}
	root, err := open(f, field, field.Name, maxDepth)
	if err != nil {
		return nil, err
	}
	r := &reader{field.Name, root, f.Descriptor.GetLength()}
	if n, ok := root.rows(); ok && n != r.n {
		return nil, corrupt("%s has %d rows in a file of %d", field.Name, n, r.n)
	}
	return r, nil
}

// open makes the node of a field.
func open(f *datafile.File, field column.Field, path string, depth int) (node, error) {
	if depth == 0 {
		return nil, corrupt("%s: more than %d fields within each other", path, maxDepth)
	}
	typ := column.Storage(field.Type)
	if absent(field) {
		return &missing{field.Type}, nil
	}
	switch t := typ.(type) {
	case *arrow.ListType, *arrow.LargeListType:
		if len(field.Children) != 1 {
			return nil, corrupt("%s: a list with %d children", path, len(field.Children))
		}
		item := field.Children[0]
		items, err := open(f, item, path+"."+item.Name, depth-1)
		if err != nil {
			return nil, err
		}
		return openList(f, field, path, items)
	case *arrow.StructType:
		if field.Packed || field.Blob {
			break
		}
		if len(field.Children) != t.NumFields() {
			return nil, corrupt("%s: a struct of %d fields with %d children", path, t.NumFields(), len(field.Children))
		}
		s := &structure{typ: field.Type}
		if field.Column != column.Absent {
			var err error
			if s.col, err = openColumn(f, field.Column, path, nil); err != nil {
				return nil, err
			}
		}
		for _, c := range field.Children {
			k, err := open(f, c, path+"."+c.Name, depth-1)
			if err != nil {
				return nil, err
			}
			s.kids = append(s.kids, k)
		}
		return s, s.check(path)
	}
	return openLeaf(f, field, path)
}

// absent tells whether nothing of a field is in the file.
func absent(f column.Field) bool {
	if f.Column != column.Absent {
		return false
	}
	for _, c := range f.Children {
		if !absent(c) {
			return false
		}
	}
	return true
}

func (r *reader) Rows() uint64 { return r.n }

func (r *reader) Need(from, to uint64) []datafile.Span {
	if to = min(to, r.n); from >= to {
		return nil
	}
	return r.root.need(from, to, nil)
}

func (r *reader) Pages() []column.PageInfo { return r.root.pages(nil) }

func (r *reader) Read(ctx context.Context, src column.Source, from, to uint64, limit int64) (arrow.Array, error) {
	if from > to || to > r.n {
		return nil, fmt.Errorf("%s: rows %d to %d of %d", r.name, from, to, r.n)
	}
	rd := newRead(ctx, src, limit)
	l, err := r.root.load(rd, from, to)
	if err != nil {
		return nil, err
	}
	if err := rd.run(); err != nil {
		return nil, err
	}
	data, err := l.build(rd)
	if err != nil {
		return nil, err
	}
	defer data.Release()
	return array.MakeFromData(data), nil
}

// count is a number of rows that an array may have.
func count(from, to uint64) (int, error) {
	if to-from > math.MaxInt32 {
		return 0, fmt.Errorf("%w: %d rows", column.ErrLimit, to-from)
	}
	return int(to - from), nil
}
