package array

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// sink collects what writers write, as a file.
type sink struct {
	spec fileSpec
}

func (s *sink) Page(p column.Page) error {
	for len(s.spec.columns) <= p.Column {
		s.spec.columns = append(s.spec.columns, columnSpec{})
	}
	e, err := (&page{meta: &pb.ColumnMetadata_Page{Encoding: p.Encoding}}).decode()
	if err != nil {
		return err
	}
	out := pageSpec{rows: p.Length, enc: e}
	for _, b := range p.Buffers {
		out.buffers = append(out.buffers, slices.Clone(b))
	}
	c := &s.spec.columns[p.Column]
	if e.GetStruct() != nil && len(c.pages) > 0 {
		c.pages[0].rows += p.Length // as AppendPage
		return nil
	}
	c.pages = append(c.pages, out)
	return nil
}

// Blob appends a blob to the front of the file.
func (s *sink) Blob(v []byte) (uint64, error) {
	for len(s.spec.front)%64 != 0 {
		s.spec.front = append(s.spec.front, 0)
	}
	pos := len(s.spec.front)
	s.spec.front = append(s.spec.front, v...)
	return uint64(pos), nil
}

// add writes a field's columns out of arrays.
func (s *sink) add(tb testing.TB, f column.Field, pageBytes int64, arrays ...arrow.Array) {
	tb.Helper()
	w, err := NewWriter(f, s, column.WriteOptions{PageBytes: pageBytes})
	if err != nil {
		tb.Fatal(err)
	}
	for _, a := range arrays {
		if err := w.Append(a, 0, a.Len()); err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		tb.Fatal(err)
	}
	if n := w.Held(); n != 0 {
		tb.Errorf("%d bytes held behind a flush", n)
	}
	s.close(tb, f)
}

// close makes the columns of a field complete.
func (s *sink) close(tb testing.TB, f column.Field) {
	for len(s.spec.columns) <= f.Column { // columns in which nothing was written are there nevertheless
		s.spec.columns = append(s.spec.columns, columnSpec{})
	}
	m, err := ColumnEncoding(f)
	if err != nil {
		tb.Fatal(err)
	}
	s.spec.columns[f.Column].wrap = func(e *pb.ColumnEncoding) *pb.ColumnEncoding {
		if err := unpack(m, "ColumnEncoding", e); err != nil {
			tb.Fatal(err)
		}
		return e
	}
	for _, c := range f.Children {
		s.close(tb, c)
	}
}

func lastColumn(f column.Field) int {
	last := f.Column
	for _, c := range f.Children {
		last = max(last, lastColumn(c))
	}
	return last
}

// file is what was written.
func (s *sink) file(tb testing.TB, rows int) []byte {
	s.spec.rows = uint64(rows)
	if s.spec.schema == nil {
		s.spec.schema = schemaOf()
	}
	return s.spec.write(tb)
}

// cut slices an array at random.
func cut(rng *rand.Rand, a arrow.Array) []arrow.Array {
	var out []arrow.Array
	for at := 0; at < a.Len(); {
		n := 1 + rng.IntN(a.Len()-at)
		if rng.IntN(2) == 0 {
			n = min(n, 1+rng.IntN(20))
		}
		out = append(out, array.NewSlice(a, int64(at), int64(at+n)))
		at += n
	}
	return out
}

// TestWritesWhatLanceWrites writes the rows of the fixtures, page by page as Lance did, and gets the very same pages.
func TestWritesWhatLanceWrites(t *testing.T) {
	const rows = 110 // of a page
	pages := 0
	for _, kind := range []string{"fixed", "strings", "lists", "vectors"} {
		fx := readFixture(t, "14.0.2", kind)
		schema := fx.rows.Schema()
		for i, f := range fields(schema) {
			if f.Blob {
				continue // positions are others
			}
			t.Run(kind+"/"+f.Name, func(t *testing.T) {
				var s sink
				w, err := NewWriter(f, &s, column.WriteOptions{})
				if err != nil {
					t.Fatal(err)
				}
				all := fx.column(t, i)
				for at := 0; at < all.Len(); at += rows {
					for _, part := range [][2]int{{0, 30}, {30, 31}, {31, rows}} {
						if err := w.Append(all, at+part[0], at+part[1]); err != nil {
							t.Fatal(err)
						}
					}
					if err := w.Flush(); err != nil {
						t.Fatal(err)
					}
				}
				for c := f.Column; c <= lastColumn(f); c++ {
					var got []pageSpec
					if c < len(s.spec.columns) {
						got = s.spec.columns[c].pages
					}
					for k, m := range fx.file.Columns[c].GetPages() {
						if m.GetLength() == 0 {
							continue // some writers leave them
						}
						if len(got) == 0 {
							t.Fatalf("column %d: no page %d", c, k)
						}
						samePage(t, fmt.Sprintf("column %d, page %d", c, k), fx.raw, m, got[0])
						got = got[1:]
						pages++
					}
					if len(got) > 0 {
						t.Errorf("column %d: %d pages too many", c, len(got))
					}
				}
			})
		}
	}
	if pages < 290 {
		t.Errorf("only %d pages were compared", pages)
	}
}

// samePage compares a page with one of Lance: what is compressed, by its encoding alone.
func samePage(t *testing.T, what string, raw []byte, m *pb.ColumnMetadata_Page, got pageSpec) {
	t.Helper()
	e, err := (&page{meta: m}).decode()
	if err != nil {
		t.Fatal(err)
	}
	if got.rows != m.GetLength() {
		t.Errorf("%s: %d rows, want %d", what, got.rows, m.GetLength())
	}
	var size, lance int
	for i, b := range got.buffers {
		size += len(b)
		lance += int(m.GetBufferSizes()[i])
	}
	if c := e.GetBinary().GetBytes().GetFlat().GetCompression(); c != nil || e.GetFsst() != nil {
		if size > lance*103/100 {
			t.Errorf("%s: %d bytes of %s, Lance has %d of %s", what, size, describe(got.enc), lance, describe(e))
		}
		return
	}
	if !proto.Equal(got.enc, e) {
		t.Errorf("%s: %v, want %v", what, got.enc, e)
	}
	if len(got.buffers) != len(m.GetBufferSizes()) {
		t.Fatalf("%s: %d buffers, want %d", what, len(got.buffers), len(m.GetBufferSizes()))
	}
	for i, b := range got.buffers {
		want := raw[m.GetBufferOffsets()[i]:][:m.GetBufferSizes()[i]]
		if !slices.Equal(b, want) {
			t.Errorf("%s: buffer %d is %x, want %x", what, i, b, want)
		}
	}
}

// TestAppendPage makes one page of those of a struct's own column, and of no others.
func TestAppendPage(t *testing.T) {
	structs := &pb.ArrayEncoding{Encoding: &pb.ArrayEncoding_Struct_{Struct: &pb.ArrayEncoding_Struct{}}}
	add := func(c *pb.ColumnMetadata, rows uint64, e *pb.ArrayEncoding, buffers ...uint64) {
		t.Helper()
		p := &pb.ColumnMetadata_Page{Length: rows, Encoding: wrapped(t, "ArrayEncoding", e), BufferOffsets: buffers, BufferSizes: buffers}
		if err := AppendPage(c, p); err != nil {
			t.Fatal(err)
		}
	}
	header, leaf := new(pb.ColumnMetadata), new(pb.ColumnMetadata)
	for _, rows := range []uint64{0, 3, 4} {
		add(header, rows, structs)
		add(leaf, rows, allNulls())
		add(leaf, rows, noNulls(flatOf(8, 0)), 64)
	}
	if len(header.Pages) != 1 || header.Pages[0].Length != 7 {
		t.Errorf("pages of a struct: %v", header.Pages)
	}
	if len(leaf.Pages) != 6 || leaf.Pages[4].Length != 4 {
		t.Errorf("pages of a leaf: %v", leaf.Pages)
	}
}
