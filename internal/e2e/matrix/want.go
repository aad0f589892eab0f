package matrix

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"sort"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
)

// Want is a table in memory: what must be read.
type Want struct {
	Schema *arrow.Schema
	Rows   int64
	// columns are in pieces, as the stream had them; starts are the row numbers at which the pieces begin.
	columns map[string][]arrow.Array
	starts  []int64
}

// ReadFile reads a Want from an Arrow stream.
func ReadFile(name string) (*Want, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	w, err := Read(bufio.NewReaderSize(f, 1<<20))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	return w, nil
}

// Read reads a Want from an Arrow stream.
func Read(r io.Reader) (*Want, error) {
	s, err := ipc.NewReader(r)
	if err != nil {
		return nil, err
	}
	defer s.Release()
	w := &Want{Schema: s.Schema(), columns: map[string][]arrow.Array{}}
	for s.Next() {
		b := s.RecordBatch()
		w.starts = append(w.starts, w.Rows)
		w.Rows += b.NumRows()
		for i, f := range w.Schema.Fields() {
			c := b.Column(i)
			c.Retain()
			w.columns[f.Name] = append(w.columns[f.Name], c)
		}
	}
	return w, s.Err()
}

// Column tells whether there is one of that name.
func (w *Want) Column(name string) bool {
	_, ok := w.Schema.FieldsByName(name)
	return ok
}

// Diff compares an array with rows [from, from+len) of a column, or of the field
// below it that the path names. It says where the first difference is.
func (w *Want) Diff(path []string, from int64, got arrow.Array) error {
	pieces, ok := w.columns[path[0]]
	if !ok {
		if w.Rows == 0 && w.Column(path[0]) && got.Len() == 0 {
			return nil
		}
		return fmt.Errorf("column %s is not wanted", path[0])
	}
	if from+int64(got.Len()) > w.Rows {
		return fmt.Errorf("%d rows from %d on, but there are only %d", got.Len(), from, w.Rows)
	}
	for done := 0; done < got.Len(); {
		row := from + int64(done)
		// The last piece that begins at or before the row; empty ones may begin there too.
		p := sort.Search(len(w.starts), func(i int) bool { return w.starts[i] > row }) - 1
		at := int(row - w.starts[p])
		n := min(pieces[p].Len()-at, got.Len()-done)
		want := pieces[p]
		if err := diffPath(want, at, got, done, n, path[1:]); err != nil {
			return fmt.Errorf("column %s, in rows %d to %d: %w", path[0], row, row+int64(n), err)
		}
		done += n
	}
	return nil
}

// diffPath goes down structs on the wanted side: got is the field that the path names, or the
// structs around it with that field alone.
func diffPath(want arrow.Array, i int, got arrow.Array, j, n int, path []string) error {
	return diff(want, i, got, j, n, len(path) > 0)
}

// storage is the array without its extension type.
func storage(a arrow.Array) arrow.Array {
	for {
		e, ok := a.(array.ExtensionArray)
		if !ok {
			return a
		}
		a = e.Storage()
	}
}

// Each calls fn for each column of each piece, with the number of its first row.
func (w *Want) Each(fn func(column string, from int64, a arrow.Array) error) error {
	for _, f := range w.Schema.Fields() {
		for i, a := range w.columns[f.Name] {
			if err := fn(f.Name, w.starts[i], a); err != nil {
				return err
			}
		}
	}
	return nil
}
