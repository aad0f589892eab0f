package layout

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

func named(t testing.TB, name string) (realFile, memorySource) {
	t.Helper()
	for _, rf := range realFiles(t) {
		if rf.name == name {
			data, err := os.ReadFile(filepath.Join(realDir(), rf.name))
			if err != nil {
				t.Fatal(err)
			}
			return rf, data
		}
	}
	if os.Getenv("LAYOUT_FILES") == "" {
		t.Fatalf("%s is not in testdata", name)
	}
	t.Skipf("the files of LAYOUT_FILES have no %s", name)
	return realFile{}, nil
}

// without makes the leaves of the given names absent.
func without(f column.Field, names ...string) column.Field {
	children := make([]column.Field, len(f.Children))
	for i, c := range f.Children {
		children[i] = without(c, names...)
	}
	f.Children = children
	for _, n := range names {
		if f.Name == n || n == "*" {
			f.Column = column.Absent
		}
	}
	return f
}

func TestAbsentLeaves(t *testing.T) {
	rf, src := named(t, "nested_nulls_22.lance")
	next := 0
	for i, f := range rf.want.Schema().Fields() {
		full := fieldOf(f, &next)
		want := rf.want.Column(i)
		read := func(f column.Field) arrow.Array {
			t.Helper()
			r, err := Open(rf.file, f)
			if err != nil {
				t.Fatal(err)
			}
			a, err := r.Read(t.Context(), src, 3, 50, 1<<20)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(a.Release)
			if !arrow.TypeEqual(a.DataType(), f.Type) || a.Len() != 47 {
				t.Fatalf("%d of %v, want %v", a.Len(), a.DataType(), f.Type)
			}
			return a
		}
		if a := read(without(full, "*")); a.NullN() != 47 {
			t.Errorf("%s: %d of 47 values are null though no leaf is there", f.Name, a.NullN())
		}
		switch f.Name {
		case "struct": // a, b.c, b.d
			a := read(without(full, "a", "c")).(*array.Struct)
			w := want.(*array.Struct)
			if n := a.Field(0).NullN(); n != 47 {
				t.Errorf("%d of 47 values are null of a leaf that is not there", n)
			}
			b, wb := a.Field(1).(*array.Struct), w.Field(1).(*array.Struct)
			if n := b.Field(0).NullN(); n != 47 {
				t.Errorf("%d of 47 values are null of a nested leaf that is not there", n)
			}
			for i := range 47 {
				if a.IsNull(i) != w.IsNull(i+3) {
					t.Fatalf("struct %d null: %v", i, a.IsNull(i))
				}
			}
			check(t, "d", wb.Field(1), b.Field(1), 3)
		case "structs": // list of x, y
			l := read(without(full, "x")).(*array.List)
			items := l.ListValues().(*array.Struct)
			if n := items.Field(0).NullN(); n != items.Len() {
				t.Errorf("%d of %d items are null of a leaf that is not there", n, items.Len())
			}
			for i := range 47 {
				from, to := l.ValueOffsets(i)
				wf, wt := want.(*array.List).ValueOffsets(i + 3)
				if l.IsNull(i) != want.IsNull(i+3) || l.IsValid(i) && to-from != wt-wf {
					t.Fatalf("list %d of %d items, want %d", i, to-from, wt-wf)
				}
			}
		}
	}
}

// ofOnePage makes a file of one page with a layout.
func ofOnePage(rows uint64, url string, layout []byte, buffers ...uint64) *datafile.File {
	b, _ := proto.Marshal(&anypb.Any{TypeUrl: url, Value: layout})
	p := &pb.ColumnMetadata_Page{Length: rows, Encoding: &pb.Encoding{Location: &pb.Encoding_Direct_{Direct: &pb.Encoding_Direct{Encoding: b}}}}
	for _, n := range buffers {
		p.BufferOffsets, p.BufferSizes = append(p.BufferOffsets, 0), append(p.BufferSizes, n)
	}
	return &datafile.File{Major: 2, Minor: 2, Descriptor: &pb.FileDescriptor{Length: rows}, Columns: []*pb.ColumnMetadata{{Pages: []*pb.ColumnMetadata_Page{p}}}}
}

func TestRefusedByName(t *testing.T) {
	sparse := protowire.AppendBytes(protowire.AppendTag(nil, 5, protowire.BytesType), []byte{8, 1})
	deltas := protowire.AppendBytes(protowire.AppendTag(nil, 15, protowire.BytesType), nil)
	layout := func(l *pb.PageLayout) []byte {
		b, err := proto.Marshal(l)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	delta := new(pb.CompressiveEncoding)
	delta.ProtoReflect().SetUnknown(deltas)
	outside := ofOnePage(1, layoutType, nil)
	outside.Columns[0].Pages[0].Encoding = &pb.Encoding{Location: &pb.Encoding_Indirect_{Indirect: &pb.Encoding_Indirect{BufferLength: 8}}}
	for name, c := range map[string]struct {
		file *datafile.File
		err  error
		text string
	}{
		"sparse layout":   {ofOnePage(1, "/"+layoutType, sparse), column.ErrUnsupported, "sparse layout"},
		"a later layout":  {ofOnePage(1, "/"+layoutType, protowire.AppendBytes(protowire.AppendTag(nil, 77, protowire.BytesType), nil)), column.ErrUnsupported, "page layout 77"},
		"no layout":       {ofOnePage(1, "/"+layoutType, nil), column.ErrUnsupported, "a page without a layout"},
		"other message":   {ofOnePage(1, "/lance.encodings.ArrayEncoding", nil), column.ErrUnsupported, "ArrayEncoding"},
		"outside":         {outside, column.ErrUnsupported, "outside of the column's metadata"},
		"not a message":   {ofOnePage(1, "/"+layoutType, []byte{0xFF}), column.ErrCorrupt, "page layout"},
		"later encoding":  {ofOnePage(1, "/"+layoutType, layout(&pb.PageLayout{Layout: &pb.PageLayout_MiniBlock_{MiniBlock: &pb.PageLayout_MiniBlock{Layers: []pb.PageLayout_Layer{1}, ValueCompression: delta, NumBuffers: 1}}}), 4, 8), column.ErrUnsupported, "mini-block"},
		"other layers":    {ofOnePage(1, "/"+layoutType, layout(&pb.PageLayout{Layout: &pb.PageLayout_Constant_{Constant: &pb.PageLayout_Constant{}}})), column.ErrCorrupt, "0 layers"},
		"blobs in blobs":  {ofOnePage(1, "/"+layoutType, layout(&pb.PageLayout{Layout: &pb.PageLayout_Blob_{Blob: &pb.PageLayout_Blob{Layers: []pb.PageLayout_Layer{1}, Inner: &pb.PageLayout{Layout: &pb.PageLayout_Blob_{}}}}})), column.ErrCorrupt, "blobs within blobs"},
		"sparse in blobs": {ofOnePage(1, "/"+layoutType, layout(&pb.PageLayout{Layout: &pb.PageLayout_Blob_{Blob: &pb.PageLayout_Blob{Layers: []pb.PageLayout_Layer{1}}}})), column.ErrUnsupported, "descriptors of blobs"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := Open(c.file, column.Field{Name: "x", Type: i32})
			if err != nil {
				t.Fatal(err)
			}
			r.Need(0, 1)
			if len(r.Pages()) != 1 {
				t.Fatal("no description")
			}
			_, err = r.Read(t.Context(), memorySource(make([]byte, 64)), 0, 1, 1<<20)
			if !errors.Is(err, c.err) || !strings.Contains(err.Error(), c.text) || !strings.Contains(err.Error(), "column 0 (x), page 0: ") {
				t.Fatal(err)
			}
		})
	}
}

func TestOpenRefuses(t *testing.T) {
	file := ofOnePage(7, layoutType, nil)
	more := ofOnePage(7, layoutType, nil)
	more.Descriptor.Length = 8
	fsl := arrow.FixedSizeListOf(2, arrow.StructOf(field("a", i32)))
	nested := column.Field{Name: "f", Type: fsl, Children: []column.Field{{Name: "item", Type: fsl.Elem(), Children: []column.Field{{Name: "a", Type: i32}}}}}
	for name, c := range map[string]struct {
		file  *datafile.File
		field column.Field
		err   error
	}{
		"fewer rows in the pages":            {more, column.Field{Type: i32}, column.ErrCorrupt},
		"a column that is not there":         {file, column.Field{Type: i32, Column: 1}, column.ErrCorrupt},
		"a negative one":                     {file, column.Field{Type: i32, Column: -7}, column.ErrCorrupt},
		"half a row":                         {file, nested, column.ErrCorrupt},
		"fixed-size lists of structs in one": {file, column.Field{Type: arrow.ListOf(fsl), Children: []column.Field{nested}}, column.ErrUnsupported},
		"children of no type":                {file, column.Field{Type: i32, Children: []column.Field{nested}}, column.ErrUnsupported},
	} {
		if _, err := Open(c.file, c.field); !errors.Is(err, c.err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestExtensionTypes(t *testing.T) {
	rf, src := named(t, "flat_nulls_22.lance")
	json, err := extensions.NewJSONType(str)
	if err != nil {
		t.Fatal(err)
	}
	next := 0
	for i, f := range rf.want.Schema().Fields() {
		c := fieldOf(f, &next)
		if f.Name != "few" {
			continue
		}
		c.Type = json
		r, err := Open(rf.file, c)
		if err != nil {
			t.Fatal(err)
		}
		a, err := r.Read(t.Context(), src, 0, r.Rows(), 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Release()
		if _, ok := a.(array.ExtensionArray); !ok || !arrow.TypeEqual(a.DataType(), json) {
			t.Fatalf("%v", a.DataType())
		}
		check(t, "few", rf.want.Column(i), a, 0)
		return
	}
	t.Fatal("no such column")
}

// Values that don't fit the type of the field are no values.
func TestOtherTypes(t *testing.T) {
	rf, src := named(t, "flat_valid_22.lance")
	types := []arrow.DataType{
		arrow.FixedWidthTypes.Boolean, i32, arrow.PrimitiveTypes.Int64, str, arrow.Null, arrow.BinaryTypes.LargeBinary, arrow.FixedSizeListOf(2, i32),
		arrow.StructOf(), &arrow.DictionaryType{IndexType: i32, ValueType: str}, &arrow.FixedSizeBinaryType{ByteWidth: 3},
	}
	refused := 0
	next := 0
	for _, f := range rf.want.Schema().Fields() {
		c := fieldOf(f, &next)
		for _, dt := range types {
			c.Type = dt
			r, err := Open(rf.file, c)
			if err != nil {
				t.Fatal(err)
			}
			a, err := r.Read(t.Context(), src, 0, r.Rows(), 1<<20)
			if err != nil {
				if !errors.Is(err, column.ErrCorrupt) && !errors.Is(err, column.ErrUnsupported) {
					t.Errorf("%s as %v: %v", f.Name, dt, err)
				}
				refused++
				continue
			}
			if !arrow.TypeEqual(a.DataType(), dt) {
				t.Errorf("%s as %v: %v", f.Name, dt, a.DataType())
			}
			for i := range a.Len() {
				render(nil, a, i)
			}
			a.Release()
		}
	}
	if refused < 50 {
		t.Errorf("only %d reads as other types were refused", refused)
	}
}

// Leaves share the limit of their field.
func TestLimitOfAllLeaves(t *testing.T) {
	rf, src := named(t, "nested_valid_22.lance")
	next := 0
	for _, f := range rf.want.Schema().Fields() {
		r, err := Open(rf.file, fieldOf(f, &next))
		if err != nil {
			t.Fatal(err)
		}
		a, err := r.Read(t.Context(), src, 0, r.Rows(), 1<<30)
		if err != nil {
			t.Fatal(err)
		}
		size := sizeOf(a)
		a.Release()
		for _, limit := range []int64{-1, 0, 1, size / 4, size / 2, size - 1} {
			if a, err := r.Read(t.Context(), src, 0, r.Rows(), limit); !errors.Is(err, column.ErrLimit) {
				t.Errorf("%s: %d bytes with a limit of %d: %v", f.Name, size, limit, err)
				if err == nil {
					a.Release()
				}
			}
		}
	}
}
