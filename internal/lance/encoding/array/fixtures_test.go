package array

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
	"github.com/seaweedfs/seaweed-lance/internal/objects/dirstore"
)

// enough is a limit that nothing here reaches.
const enough = 1 << 30

// source hands out bytes of memory, as much as one request of a store would be.
type source struct {
	b      []byte
	rounds int
	bytes  uint64
	spans  []datafile.Span
}

func (s *source) Fetch(_ context.Context, spans []datafile.Span) ([][]byte, error) {
	s.rounds++
	out := make([][]byte, len(spans))
	for i, p := range spans {
		if p.Pos > uint64(len(s.b)) || p.Size > uint64(len(s.b))-p.Pos {
			return nil, fmt.Errorf("span at %d of %d bytes beyond %d", p.Pos, p.Size, len(s.b))
		}
		out[i] = s.b[p.Pos:][:p.Size:p.Size]
		s.bytes += p.Size
	}
	s.spans = append(s.spans, spans...)
	return out, nil
}

// openBytes opens a data file that is in memory.
func openBytes(tb testing.TB, b []byte) *datafile.File {
	tb.Helper()
	f, err := tryBytes(tb, b)
	if err != nil {
		tb.Fatal(err)
	}
	return f
}

func tryBytes(tb testing.TB, b []byte) (*datafile.File, error) {
	tb.Helper()
	s, err := dirstore.New(tb.TempDir(), dirstore.Options{NoSync: true})
	if err != nil {
		tb.Fatal(err)
	}
	defer s.Close()
	if err := s.Publish(tb.Context(), "data/file.lance", b); err != nil {
		tb.Fatal(err)
	}
	f, err := datafile.Open(tb.Context(), objects.Store(s), "data/file.lance")
	if err == nil {
		f.Close() // its metadata is all that is used
	}
	return f, err
}

// fixture is a file of testdata with its rows.
type fixture struct {
	raw  []byte
	file *datafile.File
	rows arrow.Table
}

func readFixture(tb testing.TB, dir, name string) *fixture {
	tb.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", dir, name+".lance"))
	if err != nil {
		tb.Fatal(err)
	}
	want, err := os.ReadFile(filepath.Join("testdata", "14.0.2", name+".arrow"))
	if err != nil {
		tb.Fatal(err)
	}
	return &fixture{raw, openBytes(tb, raw), readArrow(tb, want)}
}

func readArrow(tb testing.TB, b []byte) arrow.Table {
	tb.Helper()
	r, err := ipc.NewFileReader(bytes.NewReader(b))
	if err != nil {
		tb.Fatal(err)
	}
	defer r.Close()
	var recs []arrow.RecordBatch
	for i := range r.NumRecords() {
		rec, err := r.RecordBatch(i)
		if err != nil {
			tb.Fatal(err)
		}
		rec.Retain()
		recs = append(recs, rec)
	}
	return array.NewTableFromRecords(r.Schema(), recs)
}

// column returns a column of the rows as one array.
func (f *fixture) column(tb testing.TB, i int) arrow.Array {
	tb.Helper()
	a, err := array.Concatenate(f.rows.Column(i).Data().Chunks(), memory.DefaultAllocator)
	if err != nil {
		tb.Fatal(err)
	}
	return a
}

// fields numbers the columns of a schema as 2.0 does.
func fields(s *arrow.Schema) []column.Field {
	next := 0
	out := make([]column.Field, s.NumFields())
	for i, f := range s.Fields() {
		out[i] = numbered(f, &next)
	}
	return out
}

func numbered(f arrow.Field, next *int) column.Field {
	out := column.Field{Name: f.Name, Type: f.Type, Nullable: f.Nullable, Column: *next, Metadata: f.Metadata}
	*next++
	if v, ok := f.Metadata.GetValue("packed"); ok && v == "true" {
		out.Packed = true
		return out
	}
	if v, ok := f.Metadata.GetValue("lance-encoding:blob"); ok && v == "true" {
		out.Blob = true
		out.Type = arrow.StructOf(
			arrow.Field{Name: "position", Type: arrow.PrimitiveTypes.Uint64},
			arrow.Field{Name: "size", Type: arrow.PrimitiveTypes.Uint64})
		return out
	}
	switch t := column.Storage(f.Type).(type) {
	case *arrow.ListType:
		out.Children = []column.Field{numbered(t.ElemField(), next)}
	case *arrow.LargeListType:
		out.Children = []column.Field{numbered(t.ElemField(), next)}
	case *arrow.StructType:
		for _, c := range t.Fields() {
			out.Children = append(out.Children, numbered(c, next))
		}
	}
	return out
}
