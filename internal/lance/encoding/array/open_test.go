package array

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/extensions"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
)

// fieldOf is a field of a fixture with its number among the columns.
func fieldOf(t *testing.T, fx *fixture, name string) (column.Field, arrow.Array) {
	t.Helper()
	all := fields(fx.rows.Schema())
	i := slices.IndexFunc(all, func(f column.Field) bool { return f.Name == name })
	if i < 0 {
		t.Fatalf("no field %s", name)
	}
	return all[i], fx.column(t, i)
}

func readRows(t *testing.T, fx *fixture, f column.Field, from, to uint64) arrow.Array {
	t.Helper()
	r, err := Open(fx.file, f)
	if err != nil {
		t.Fatal(err)
	}
	a, err := r.Read(t.Context(), &source{b: fx.raw}, from, to, enough)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestFewerFields reads a struct with only some of its fields, one of them in no file.
func TestFewerFields(t *testing.T) {
	fx := readFixture(t, "14.0.2", "lists")
	deep, want := fieldOf(t, fx, "deep")
	d := deep.Children[1]
	later := column.Field{Name: "later", Type: arrow.ListOf(arrow.BinaryTypes.String), Column: column.Absent,
		Children: []column.Field{{Name: "item", Type: arrow.BinaryTypes.String, Column: column.Absent}}}
	d.Type = arrow.StructOf(
		arrow.Field{Name: "later", Type: later.Type, Nullable: true},
		arrow.Field{Name: "y", Type: arrow.BinaryTypes.String, Nullable: true})
	d.Children = []column.Field{later, d.Children[1]}
	deep.Type = arrow.StructOf(arrow.Field{Name: "d", Type: d.Type, Nullable: true})
	deep.Children = []column.Field{d}
	got := readRows(t, fx, deep, 100, 300)
	if err := array.ValidateFull(got); err != nil {
		t.Fatal(err)
	}
	inner := got.(*array.Struct).Field(0).(*array.Struct)
	if n := inner.Field(0).NullN(); n != 200 {
		t.Errorf("%d of 200 lists are null", n)
	}
	check(t, "y", inner.Field(1), cells(want.(*array.Struct).Field(1).(*array.Struct).Field(1))[100:300])
}

// TestAbsent reads fields that the file does not hold.
func TestAbsent(t *testing.T) {
	fx := readFixture(t, "14.0.2", "lists")
	for _, typ := range []arrow.DataType{
		arrow.PrimitiveTypes.Int64, arrow.BinaryTypes.String, arrow.Null,
		arrow.FixedSizeListOf(3, arrow.PrimitiveTypes.Float32), arrow.ListOf(arrow.PrimitiveTypes.Int8),
		arrow.StructOf(arrow.Field{Name: "a", Type: arrow.PrimitiveTypes.Int8, Nullable: true}),
		&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String},
		extensions.NewUUIDType(),
	} {
		f := column.Field{Name: "x", Type: typ, Column: column.Absent}
		r, err := Open(fx.file, f)
		if err != nil {
			t.Fatal(err)
		}
		if r.Rows() != fx.file.Descriptor.GetLength() || r.Need(0, 9) != nil || len(r.Pages()) != 0 {
			t.Errorf("%s: %d rows, need %v, pages %v", typ, r.Rows(), r.Need(0, 9), r.Pages())
		}
		a := readRows(t, fx, f, 5, 25)
		if a.Len() != 20 || a.NullN() != 20 || !arrow.TypeEqual(a.DataType(), typ) {
			t.Errorf("%s: %d of %d rows are null, type %s", typ, a.NullN(), a.Len(), a.DataType())
		}
		if err := array.ValidateFull(a); err != nil {
			t.Errorf("%s: %v", typ, err)
		}
		if _, err := r.Read(t.Context(), &source{}, 0, 100, 4); typ.ID() != arrow.NULL && !errors.Is(err, column.ErrLimit) {
			t.Errorf("%s: %v", typ, err)
		}
	}
}

// TestExtension keeps extension types, at the top and within others.
func TestExtension(t *testing.T) {
	const rows = 20
	ids := randomBytes(rows * 2 * 16)
	spec := &fileSpec{schema: schemaOf(), rows: rows, columns: []columnSpec{
		{pages: []pageSpec{{rows, noNulls(flatOf(128, 0)), [][]byte{ids[:rows*16]}}}},
		{pages: []pageSpec{{rows, noNulls(fslOf(2, noNulls(flatOf(128, 0)))), [][]byte{ids}}}},
	}}
	raw := spec.write(t)
	file := openBytes(t, raw)
	for i, typ := range []arrow.DataType{extensions.NewUUIDType(), arrow.FixedSizeListOf(2, extensions.NewUUIDType())} {
		r, err := Open(file, column.Field{Name: "id", Type: typ, Column: i})
		if err != nil {
			t.Fatal(err)
		}
		a, err := r.Read(t.Context(), &source{b: raw}, 3, 7, enough)
		if err != nil {
			t.Fatal(err)
		}
		if !arrow.TypeEqual(a.DataType(), typ) {
			t.Fatalf("type %s, want %s", a.DataType(), typ)
		}
		if l, ok := a.(*array.FixedSizeList); ok {
			a = l.ListValues()
		}
		if _, ok := a.(*extensions.UUIDArray); !ok {
			t.Fatalf("an array of Go type %T", a)
		}
	}
}

// TestKept reads a compressed page and a dictionary batch by batch: their buffers are
// fetched once.
func TestKept(t *testing.T) {
	fx := readFixture(t, "14.0.2", "strings")
	for _, name := range []string{"zstd", "lz4", "few"} {
		f, want := fieldOf(t, fx, name)
		r, err := Open(fx.file, f)
		if err != nil {
			t.Fatal(err)
		}
		text := cells(want)
		src := &source{b: fx.raw}
		seen := map[datafile.Span]int{}
		for from := uint64(0); from < 100; from += 10 {
			src.spans = nil
			a, err := r.Read(t.Context(), src, from, from+10, 1<<20)
			if err != nil {
				t.Fatal(err)
			}
			check(t, name, a, text[from:from+10])
			for _, s := range src.spans {
				seen[s]++
			}
		}
		for s, n := range seen {
			if n > 1 {
				t.Errorf("%s: %d bytes at %d were fetched %d times", name, s.Size, s.Pos, n)
			}
		}
		// Nothing is kept that is larger than the limit.
		small, err := Open(fx.file, f)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := small.Read(t.Context(), src, 1, 2, 64); err != nil {
			t.Fatal(err)
		}
		if l := small.(*reader).root.(leaf); len(l.kept.items) > 0 {
			t.Errorf("%s: %d bytes kept", name, l.kept.size)
		}
	}
}

// TestTogether reads the same reader from many goroutines.
func TestTogether(t *testing.T) {
	for _, name := range []string{"zstd", "few", "text", "fsst"} {
		fx := readFixture(t, "14.0.2", "strings")
		f, want := fieldOf(t, fx, name)
		r, err := Open(fx.file, f)
		if err != nil {
			t.Fatal(err)
		}
		text := cells(want)
		var wg sync.WaitGroup
		for g := range 8 {
			wg.Go(func() {
				for from := g; from+50 < len(text); from += 13 {
					a, err := r.Read(t.Context(), &source{b: fx.raw}, uint64(from), uint64(from+50), enough)
					if err != nil {
						t.Error(err)
						return
					}
					if got := cells(a); !slices.Equal(got, text[from:from+50]) {
						t.Errorf("%s: rows from %d differ", name, from)
					}
				}
			})
		}
		wg.Wait()
	}
}

// broken is a source that fails, or does not bring what was asked for.
type broken struct {
	got [][]byte
	err error
}

func (b *broken) Fetch(context.Context, []datafile.Span) ([][]byte, error) { return b.got, b.err }

func TestSource(t *testing.T) {
	fx := readFixture(t, "14.0.2", "fixed")
	f, _ := fieldOf(t, fx, "u8")
	r, err := Open(fx.file, f)
	if err != nil {
		t.Fatal(err)
	}
	failed := errors.New("no such store")
	if _, err := r.Read(t.Context(), &broken{err: failed}, 0, 9, enough); !errors.Is(err, failed) {
		t.Errorf("%v", err)
	}
	for _, got := range [][][]byte{nil, {{1}}, {{1}, {2}}} {
		if _, err := r.Read(t.Context(), &broken{got: got}, 0, 9, enough); err == nil {
			t.Errorf("%v was enough", got)
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(failed)
	if _, err := r.Read(ctx, &source{b: fx.raw}, 0, 9, enough); !errors.Is(err, failed) {
		t.Errorf("cancelled: %v", err)
	}
	for _, x := range [][2]uint64{{3, 2}, {0, r.Rows() + 1}, {1 << 60, 1 << 61}} {
		if _, err := r.Read(t.Context(), &source{b: fx.raw}, x[0], x[1], enough); err == nil {
			t.Errorf("rows %d to %d were read", x[0], x[1])
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	fx := readFixture(t, "14.0.2", "vectors")
	int64s := arrow.PrimitiveTypes.Int64
	for _, c := range []struct {
		name  string
		file  datafile.File
		field column.Field
		want  error
	}{
		{"another version", datafile.File{Major: 2, Minor: 1}, column.Field{Type: int64s}, column.ErrUnsupported},
		{"no such column", *fx.file, column.Field{Type: int64s, Column: 99}, column.ErrCorrupt},
		{"negative column", *fx.file, column.Field{Type: int64s, Column: -2}, column.ErrCorrupt},
		{"blob as bytes", *fx.file, column.Field{Type: arrow.BinaryTypes.LargeBinary, Column: 6}, column.ErrUnsupported},
		{"list without items", *fx.file, column.Field{Type: arrow.ListOf(int64s)}, column.ErrCorrupt},
		{"struct without fields", *fx.file, column.Field{Type: arrow.StructOf(arrow.Field{Name: "a", Type: int64s})}, column.ErrCorrupt},
	} {
		if _, err := Open(&c.file, c.field); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
}
