package array

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
)

// structure is a struct with a column for each field, and one of its own with
// nothing in it.
type structure struct {
	typ  arrow.DataType
	col  *col // nil when unknown
	kids []node
}

// check makes sure that all fields have as many rows.
func (s *structure) check(path string) error {
	n, ok := s.rows()
	for i, k := range s.kids {
		if m, known := k.rows(); known && ok && m != n {
			return corrupt("%s: field %d has %d rows, another has %d", path, i, m, n)
		}
	}
	return nil
}

func (s *structure) rows() (uint64, bool) {
	for _, k := range s.kids {
		if n, ok := k.rows(); ok {
			return n, true
		}
	}
	if s.col != nil && len(s.col.pages) > 0 {
		return s.col.rows, true
	}
	return 0, false
}

func (s *structure) need(from, to uint64, out []datafile.Span) []datafile.Span {
	for _, k := range s.kids {
		out = k.need(from, to, out)
	}
	return out
}

func (s *structure) pages(out []column.PageInfo) []column.PageInfo {
	if s.col != nil {
		out = append(out, s.col.infos()...)
	}
	for _, k := range s.kids {
		out = k.pages(out)
	}
	return out
}

type structLoading struct {
	of   *structure
	n    int
	kids []loading
}

func (s *structure) load(r *read, from, to uint64) (loading, error) {
	n, err := count(from, to)
	if err != nil {
		return nil, err
	}
	l := &structLoading{of: s, n: n, kids: make([]loading, len(s.kids))}
	for i, k := range s.kids {
		if l.kids[i], err = k.load(r, from, to); err != nil {
			return nil, err
		}
	}
	return l, nil
}

func (l *structLoading) build(r *read) (arrow.ArrayData, error) {
	kids := make([]arrow.ArrayData, 0, len(l.kids))
	defer func() {
		for _, k := range kids {
			k.Release()
		}
	}()
	for _, k := range l.kids {
		d, err := k.build(r)
		if err != nil {
			return nil, err
		}
		kids = append(kids, d)
	}
	return array.NewData(l.of.typ, l.n, []*memory.Buffer{nil}, kids, 0, 0), nil
}
