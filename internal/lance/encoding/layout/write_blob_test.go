package layout

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
)

func blobField(nullable bool) arrow.Field {
	return arrow.Field{Name: "blob", Nullable: nullable, Metadata: arrow.MetadataFrom(map[string]string{"lance-encoding:blob": "true"}),
		Type: arrow.StructOf(arrow.Field{Name: "position", Type: arrow.PrimitiveTypes.Uint64, Nullable: true},
			arrow.Field{Name: "size", Type: arrow.PrimitiveTypes.Uint64, Nullable: true})}
}

// Bytes of blobs lie in the file, their pages say where.
func TestWriteBlobs(t *testing.T) {
	b := array.NewBinaryBuilder(memory.DefaultAllocator, arrow.BinaryTypes.LargeBinary)
	defer b.Release()
	for i := range 500 {
		switch i % 5 {
		case 0:
			b.AppendNull()
		case 1:
			b.Append(nil)
		default:
			b.Append(bytes.Repeat([]byte{byte(i)}, i*7))
		}
	}
	bytesOf := b.NewLargeBinaryArray()
	defer bytesOf.Release()
	for _, minor := range []int{1, 2} {
		r, file := written(t, blobField(true), bytesOf, minor, column.WriteOptions{PageBytes: 3000}, 4)
		if l := layoutsOf(r); l[0] != "blob" || len(l) < 2 {
			t.Errorf("pages %v", l)
		}
		read := func(r column.Reader, file *memoryFile) *array.Struct {
			got, err := r.Read(t.Context(), memorySource(file.data), 0, r.Rows(), 1<<30)
			if err != nil {
				t.Fatal(err)
			}
			return got.(*array.Struct)
		}
		descriptors := read(r, file)
		pos, size := descriptors.Field(0).(*array.Uint64), descriptors.Field(1).(*array.Uint64)
		for i := range bytesOf.Len() {
			if descriptors.IsNull(i) != bytesOf.IsNull(i) {
				t.Fatalf("blob %d: null is %v", i, descriptors.IsNull(i))
			}
			if bytesOf.IsValid(i) && !bytes.Equal(file.data[pos.Value(i):pos.Value(i)+size.Value(i)], bytesOf.Value(i)) {
				t.Fatalf("blob %d differs", i)
			}
		}
		// Descriptors are taken as they are.
		r2, file2 := written(t, blobField(true), descriptors, minor, column.WriteOptions{}, 3)
		again := read(r2, file2)
		if !array.Equal(descriptors, again) {
			t.Error("descriptors differ after they were written again")
		}
		descriptors.Release()
		again.Release()
	}
}

func TestWriteBlobsNested(t *testing.T) {
	inner := arrow.Field{Name: "blob", Type: arrow.BinaryTypes.LargeBinary, Nullable: true}
	a, _, err := array.FromJSON(memory.DefaultAllocator, arrow.StructOf(inner), strings.NewReader(`[{"blob": "YQ=="}, null, {"blob": null}]`))
	if err != nil {
		t.Fatal(err)
	}
	f := arrow.Field{Name: "s", Nullable: true, Type: arrow.StructOf(blobField(true))}
	r, file := written(t, f, a, 1, column.WriteOptions{}, 1)
	got, err := r.Read(t.Context(), memorySource(file.data), 0, 3, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	s := got.(*array.Struct)
	if s.IsNull(0) || !s.IsNull(1) || s.IsNull(2) || !s.Field(0).IsNull(2) {
		t.Errorf("%v", got)
	}
	list := arrow.Field{Name: "l", Nullable: true, Type: arrow.ListOfField(blobField(true))}
	lists, _, err := array.FromJSON(memory.DefaultAllocator, arrow.ListOfField(inner), strings.NewReader(`[["YQ=="]]`))
	if err != nil {
		t.Fatal(err)
	}
	next := 0
	w, err := NewWriter(fieldOf(list, &next), 1, new(memoryFile), column.WriteOptions{})
	if err == nil {
		if err = w.Append(lists, 0, 1); err == nil {
			err = w.Flush()
		}
	}
	if !errors.Is(err, column.ErrUnsupported) || !strings.Contains(err.Error(), "column 0 (l.blob") {
		t.Errorf("blobs in lists: %v", err)
	}
}
