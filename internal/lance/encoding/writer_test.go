package encoding

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/lancetest"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// schema is of a file with a number, a text, and a list of structs.
var schema = &pb.Schema{Fields: []*pb.Field{
	{Id: 0, ParentId: -1, Name: "id", LogicalType: "int64"},
	{Id: 1, ParentId: -1, Name: "text", LogicalType: "string", Nullable: true},
	{Id: 2, ParentId: -1, Name: "list", LogicalType: "list", Nullable: true},
	{Id: 3, ParentId: 2, Name: "item", LogicalType: "struct", Nullable: true},
	{Id: 4, ParentId: 3, Name: "x", LogicalType: "int32", Nullable: true},
	{Id: 5, ParentId: 3, Name: "y", LogicalType: "fixed_size_list:float:4", Nullable: true},
}}

func batches(t testing.TB, from, n, each int) []arrow.RecordBatch {
	t.Helper()
	tree, err := table.FieldsOf(schema.GetFields())
	if err != nil {
		t.Fatal(err)
	}
	s := (&table.Schema{Fields: tree}).Arrow()
	var out []arrow.RecordBatch
	for at := from; at < from+n; at += each {
		b := array.NewRecordBuilder(memory.DefaultAllocator, s)
		for i := at; i < min(from+n, at+each); i++ {
			b.Field(0).(*array.Int64Builder).Append(int64(i) * 1_000_003)
			if i%7 == 0 {
				b.Field(1).AppendNull()
			} else {
				b.Field(1).(*array.StringBuilder).Append(strings.Repeat(fmt.Sprint(i), i%5))
			}
			l := b.Field(2).(*array.ListBuilder)
			l.Append(i%11 != 0)
			for j := range i % 4 {
				if i%11 == 0 {
					break
				}
				x := l.ValueBuilder().(*array.StructBuilder)
				x.Append(true)
				x.FieldBuilder(0).(*array.Int32Builder).Append(int32(i + j))
				v := x.FieldBuilder(1).(*array.FixedSizeListBuilder)
				v.Append(true)
				for k := range 4 {
					v.ValueBuilder().(*array.Float32Builder).Append(float32(i) / float32(k+1))
				}
			}
		}
		r := b.NewRecordBatch()
		t.Cleanup(r.Release)
		b.Release()
		out = append(out, r)
	}
	return out
}

func write(t testing.TB, v table.FileVersion, o WriterOptions, in []arrow.RecordBatch) (dir string) {
	t.Helper()
	store := lancetest.Dir(t, filepath.Join(t.TempDir(), "data"), nil)
	out, err := store.Create(t.Context(), "x.lance")
	if err != nil {
		t.Fatal(err)
	}
	defer out.Abort()
	w, err := NewWriter(datafile.NewWriter(out, nil), v, schema, o)
	if err != nil {
		t.Fatal(err)
	}
	if n := w.Columns(); n != 4 && v != table.V2_0 || n != 6 && v == table.V2_0 {
		t.Fatalf("%d columns", n)
	}
	want := "[0 1 4 5]"
	if v == table.V2_0 {
		want = "[0 1 2 3 4 5]"
	}
	if got := fmt.Sprint(w.ColumnFields()); got != want {
		t.Fatalf("columns of fields %s, want %s", got, want)
	}
	for _, b := range in {
		if err := w.Write(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		held := int64(0)
		for _, f := range w.fields {
			held += f.Held()
		}
		if o.HeldBytes > 0 && held > o.HeldBytes {
			t.Errorf("%d bytes held, may be %d", held, o.HeldBytes)
		}
	}
	e, err := w.Finish(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if s, err := os.Stat(filepath.Join(store.String(), "x.lance")); err != nil || s.Size() != e.Size {
		t.Fatalf("the file has %d bytes, not %d (%v)", s.Size(), e.Size, err)
	}
	return store.String()
}

type fileSource struct{ *datafile.File }

func (s fileSource) Fetch(ctx context.Context, spans []datafile.Span) ([][]byte, error) {
	out := make([][]byte, len(spans))
	for i, x := range spans {
		out[i] = make([]byte, x.Size)
		if err := s.Reader.ReadAt(ctx, out[i], int64(x.Pos)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func open(t testing.TB, dir string) (*datafile.File, []column.Reader) {
	t.Helper()
	f, err := datafile.Open(t.Context(), lancetest.Dir(t, dir, nil), "x.lance")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	tree, err := table.FieldsOf(f.Descriptor.GetSchema().GetFields())
	if err != nil {
		t.Fatal(err)
	}
	fields, _ := Place(tree, table.NormalVersion(f.Major, f.Minor))
	var out []column.Reader
	for _, x := range fields {
		r, err := Open(f, x)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	return f, out
}

// A file holds what was written to it, in however many batches and pages.
func TestWriter(t *testing.T) {
	for _, v := range []table.FileVersion{table.V2_0, table.V2_1, table.V2_2} {
		for _, n := range []int{0, 1, 5000} {
			for _, o := range []WriterOptions{{}, {WriteOptions: column.WriteOptions{PageBytes: 4096}}, {HeldBytes: 20_000}, {HeldBytes: 1}} {
				t.Run(fmt.Sprintf("%s %d %v", v, n, o), func(t *testing.T) {
					f, readers := open(t, write(t, v, o, batches(t, 0, n, 700)))
					if table.NormalVersion(f.Major, f.Minor) != v || f.Descriptor.GetLength() != uint64(n) {
						t.Fatalf("%d rows in a file of version %d.%d", f.Descriptor.GetLength(), f.Major, f.Minor)
					}
					want := batches(t, 0, n, max(n, 1))
					for i, r := range readers {
						got, err := r.Read(t.Context(), fileSource{f}, 0, uint64(n), 1<<30)
						if err != nil {
							t.Fatal(err)
						}
						if n > 0 && !array.Equal(want[0].Column(i), got) {
							t.Errorf("column %d differs", i)
						}
						got.Release()
						pages := len(r.Pages())
						none := 0
						if v == table.V2_0 && i == 2 {
							none = 1 // which says that there is no struct in any list
						}
						if n == 0 && pages != none || n == 1 && pages != len(f.Columns[i].Pages) && i < 2 || n == 5000 && (o.HeldBytes > 0 || o.PageBytes > 0) && pages < 3 {
							t.Errorf("column %d has %d pages", i, pages)
						}
					}
					for c, m := range f.Columns {
						if v == table.V2_0 {
							break // whose pages have no priority
						}
						row := uint64(0)
						for p, page := range m.GetPages() {
							if page.GetPriority() != row {
								t.Errorf("column %d, page %d: priority %d, its first row is %d", c, p, page.GetPriority(), row)
							}
							row += page.GetLength()
							for i, off := range page.GetBufferOffsets() {
								if off%datafile.Alignment != 0 {
									t.Errorf("column %d, page %d: buffer %d at %d", c, p, i, off)
								}
							}
						}
					}
				})
			}
		}
	}
}

// The bytes of a file follow from its rows, not from how they came.
func TestWriterDeterministic(t *testing.T) {
	read := func(dir string) []byte {
		b, err := os.ReadFile(filepath.Join(dir, "x.lance"))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	o := WriterOptions{}
	a := read(write(t, table.V2_2, o, batches(t, 0, 3000, 3000)))
	b := read(write(t, table.V2_2, o, batches(t, 0, 3000, 7)))
	if !bytes.Equal(a, b) {
		t.Errorf("%d and %d bytes that differ", len(a), len(b))
	}
	for _, o := range []WriterOptions{{WriteOptions: column.WriteOptions{PageBytes: 500}}, {HeldBytes: 9000}} {
		one := read(write(t, table.V2_1, o, batches(t, 0, 3000, 70)))
		for _, threads := range []int{2, 3, 9} {
			o.Threads = threads
			if many := read(write(t, table.V2_1, o, batches(t, 0, 3000, 70))); !bytes.Equal(one, many) {
				t.Errorf("%d threads write %d bytes, one writes %d that differ", threads, len(many), len(one))
			}
		}
	}
}

// full is an object that takes no more than some bytes.
type full struct {
	objects.Writer
	left int
}

var errFull = errors.New("disk full")

func (f *full) Write(p []byte) (int, error) {
	if f.left -= len(p); f.left < 0 {
		return 0, errFull
	}
	return len(p), nil
}

// An error of one column ends all, also those that wait for their turn.
func TestWriterFails(t *testing.T) {
	for _, threads := range []int{1, 2, 4} {
		for _, left := range []int{0, 100, 5000} {
			o := WriterOptions{Threads: threads, WriteOptions: column.WriteOptions{PageBytes: 500}}
			w, err := NewWriter(datafile.NewWriter(&full{left: left}, nil), table.V2_2, schema, o)
			if err != nil {
				t.Fatal(err)
			}
			for _, b := range batches(t, 0, 2000, 100) {
				if err = w.Write(t.Context(), b); err != nil {
					break
				}
			}
			if !errors.Is(err, errFull) {
				t.Errorf("%d threads, room for %d bytes: %v", threads, left, err)
			}
		}
	}
}

func TestWriterRefuses(t *testing.T) {
	w := datafile.NewWriter(nil, nil)
	for _, v := range []table.FileVersion{{Major: 0, Minor: 1}, {Major: 2, Minor: 3}} {
		if _, err := NewWriter(w, v, schema, WriterOptions{}); !errors.Is(err, column.ErrUnsupported) || !strings.Contains(err.Error(), v.String()) {
			t.Errorf("%s: %v", v, err)
		}
	}
	odd := &pb.Schema{Fields: []*pb.Field{{Id: 0, ParentId: -1, Name: "o", LogicalType: "odd"}}}
	if _, err := NewWriter(w, table.V2_2, odd, WriterOptions{}); err == nil || !strings.Contains(err.Error(), "odd") {
		t.Errorf("an unknown type: %v", err)
	}
	x, err := NewWriter(w, table.V2_2, schema, WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	one := batches(t, 0, 1, 1)[0]
	few := array.NewRecordBatch(arrow.NewSchema(one.Schema().Fields()[:1], nil), one.Columns()[:1], 1)
	if err := x.Write(t.Context(), few); err == nil {
		t.Error("a batch of too few columns was taken")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := x.Write(ctx, one); !errors.Is(err, context.Canceled) {
		t.Errorf("after a cancel: %v", err)
	}
}
