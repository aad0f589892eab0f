package layout

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/objects/dirstore"
)

// fieldOf makes the field that a file has for a field of the expected values. next is the
// next column of the file.
func fieldOf(f arrow.Field, next *int) column.Field {
	out := column.Field{Name: f.Name, Type: f.Type, Nullable: f.Nullable, Column: *next}
	has := func(key string) bool {
		i := f.Metadata.FindKey(key)
		return i >= 0
	}
	out.Packed = has("packed") || has("lance-encoding:packed")
	out.Blob = has("lance-encoding:blob") || strings.HasPrefix(f.Name, "blob")
	var children []arrow.Field
	switch t := f.Type.(type) {
	case *arrow.StructType:
		children = t.Fields()
	case *arrow.FixedSizeListType:
		if t.Elem().ID() == arrow.STRUCT {
			children = []arrow.Field{t.ElemField()}
		}
	case *arrow.ListType:
		children = []arrow.Field{t.ElemField()}
	case *arrow.LargeListType:
		children = []arrow.Field{t.ElemField()}
	case *arrow.MapType:
		children = []arrow.Field{t.ElemField()}
	}
	if out.Packed || out.Blob || len(children) == 0 {
		*next++
		return out
	}
	for _, c := range children {
		out.Children = append(out.Children, fieldOf(c, next))
	}
	return out
}

// fileSource reads spans as they are asked for.
type fileSource struct{ f *datafile.File }

func (s fileSource) Fetch(ctx context.Context, spans []datafile.Span) ([][]byte, error) {
	out := make([][]byte, len(spans))
	for i, sp := range spans {
		out[i] = make([]byte, sp.Size)
		if err := s.f.Reader.ReadAt(ctx, out[i], int64(sp.Pos)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// render is a value as bytes: equal ones are equal bit by bit.
func render(b []byte, a arrow.Array, i int) []byte {
	if e, ok := a.(array.ExtensionArray); ok {
		a = e.Storage()
	}
	if a.IsNull(i) {
		return append(b, 'n')
	}
	b = append(b, 'v')
	switch a := a.(type) {
	case *array.Struct:
		for f := range a.NumField() {
			b = render(b, a.Field(f), i)
		}
	case array.ListLike: // lists of all kinds, and maps
		from, to := a.ValueOffsets(i)
		b = append(b, '[')
		for j := from; j < to; j++ {
			b = render(b, a.ListValues(), int(j))
		}
		b = append(b, ']')
	case *array.Dictionary:
		return render(b, a.Dictionary(), a.GetValueIndex(i))
	case *array.Null:
	case *array.Boolean:
		return fmt.Appendf(b, "%v", a.Value(i))
	case array.BinaryLike:
		n := a.ValueLen(i)
		b = fmt.Appendf(b, "%d:", n)
		return append(b, a.ValueBytes()[a.ValueOffset64(i)-a.ValueOffset64(0):][:n]...)
	default:
		w := a.DataType().(arrow.FixedWidthDataType).BitWidth() / 8
		data := a.Data()
		b = append(b, data.Buffers()[1].Bytes()[(data.Offset()+i)*w:][:w]...)
	}
	return b
}

func check(t *testing.T, what string, want, got arrow.Array, from int) {
	t.Helper()
	for i := range got.Len() {
		w, g := render(nil, want, from+i), render(nil, got, i)
		if !bytes.Equal(w, g) {
			t.Fatalf("%s: row %d (%d): %q, want %q", what, i, from+i, clip(g), clip(w))
		}
	}
}

func clip(b []byte) []byte { return b[:min(len(b), 300)] }

// realDir is where files and expected values are; more can be tested from elsewhere.
func realDir() string {
	if d := os.Getenv("LAYOUT_FILES"); d != "" {
		return d
	}
	return "testdata"
}

type realFile struct {
	name string
	file *datafile.File
	want arrow.RecordBatch
}

func realFiles(t testing.TB) []realFile {
	t.Helper()
	store, err := dirstore.New(realDir(), dirstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob(filepath.Join(realDir(), "*.lance"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no files in %s: %v", realDir(), err)
	}
	var out []realFile
	for _, n := range names {
		base := filepath.Base(n)
		f, err := datafile.Open(t.Context(), store, base)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		b, err := os.ReadFile(strings.TrimSuffix(n, ".lance") + ".arrow")
		if err != nil {
			t.Fatal(err)
		}
		r, err := ipc.NewFileReader(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		rec, err := r.RecordBatchAt(0)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, realFile{base, f, rec})
	}
	return out
}

func TestRealFiles(t *testing.T) {
	for _, rf := range realFiles(t) {
		t.Run(rf.name, func(t *testing.T) {
			next := 0
			rnd := rand.New(rand.NewPCG(1, 2))
			for i, f := range rf.want.Schema().Fields() {
				r, err := Open(rf.file, fieldOf(f, &next))
				if err != nil {
					t.Fatal(err)
				}
				want := rf.want.Column(i)
				n := want.Len()
				if r.Rows() != uint64(n) {
					t.Fatalf("%d rows, want %d", r.Rows(), n)
				}
				read := func(from, to int) {
					t.Helper()
					r.Need(uint64(from), uint64(to))
					a, err := r.Read(t.Context(), fileSource{rf.file}, uint64(from), uint64(to), 1<<30)
					if err != nil {
						t.Fatalf("%s, rows %d to %d: %v", f.Name, from, to, err)
					}
					defer a.Release()
					if a.Len() != to-from {
						t.Fatalf("%s, rows %d to %d: %d rows", f.Name, from, to, a.Len())
					}
					if !arrow.TypeEqual(a.DataType(), f.Type) {
						t.Fatalf("%s: %v, want %v", f.Name, a.DataType(), f.Type)
					}
					check(t, fmt.Sprintf("%s, rows %d to %d", f.Name, from, to), want, a, from)
				}
				read(0, n)
				read(0, 0)
				for range 40 {
					from := rnd.IntN(n + 1)
					read(from, from+rnd.IntN(n-from+1))
					if n > 0 {
						from = rnd.IntN(n)
						read(from, from+rnd.IntN(min(4, n-from)+1))
					}
				}
				// Too small a limit is refused, or the result fits.
				if a, err := r.Read(t.Context(), fileSource{rf.file}, 0, uint64(n), 64); err == nil {
					if sizeOf(a) > 64 {
						t.Fatalf("%s: %d bytes with a limit of 64", f.Name, sizeOf(a))
					}
					a.Release()
				} else if !errors.Is(err, column.ErrLimit) {
					t.Fatalf("%s: with a limit of 64 bytes: %v", f.Name, err)
				}
			}
			if next != len(rf.file.Columns) {
				t.Fatalf("%d columns read, the file has %d", next, len(rf.file.Columns))
			}
		})
	}
}
