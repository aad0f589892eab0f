package table

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"google.golang.org/protobuf/proto"

	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// deletionFiles are all of testdata, with the kind that their entries say.
func deletionFiles(tb testing.TB, visit func(tab *Table, f *pb.DataFragment, raw []byte)) {
	tb.Helper()
	for _, f := range fixtures(tb) {
		tab := f.open(tb)
		for _, frag := range tab.Fragments() {
			if d := frag.GetDeletionFile(); d != nil && d.BaseId == nil {
				visit(tab, frag, read(tb, tab.Store(), DeletionName(frag.GetId(), d)))
			}
		}
	}
}

func TestDeletionsOfFixtures(t *testing.T) {
	kinds := make(map[pb.DeletionFile_Type]int)
	deletionFiles(t, func(tab *Table, f *pb.DataFragment, raw []byte) {
		v, err := ReadDeletions(t.Context(), tab.Store(), f)
		if err != nil {
			t.Errorf("%s, fragment %d: %v", tab.Ref().Name, f.GetId(), err)
			return
		}
		kinds[f.GetDeletionFile().GetFileType()]++
		if n := v.GetCardinality(); n == 0 || n != f.GetDeletionFile().GetNumDeletedRows() {
			t.Errorf("%s, fragment %d: %d rows", tab.Ref().Name, f.GetId(), n)
		}
		// What this build would write says the same, in the form that Lance chose.
		kind, b, err := EncodeDeletions(v)
		if err != nil || kind != f.GetDeletionFile().GetFileType() {
			t.Errorf("fragment %d: written as %s, error %v", f.GetId(), kind, err)
		}
		if again, err := DecodeDeletions(kind, b); err != nil || !again.Equals(v) {
			t.Errorf("fragment %d: written and read again: %v, error %v", f.GetId(), again, err)
		}
		// No strict prefix passes for the whole, and neither does the other kind.
		step := max(1, len(raw)/300)
		for n := 0; n < len(raw); n += step {
			if _, err := DecodeDeletions(kind, raw[:n]); !errors.Is(err, ErrCorrupt) {
				t.Errorf("%s, first %d of %d bytes: error %v", kind, n, len(raw), err)
			}
		}
		if _, err := DecodeDeletions(1-kind, raw); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s read as the other kind: error %v", kind, err)
		}
	})
	if len(kinds) != 2 {
		t.Errorf("testdata has deletion files %v: not of both kinds", kinds)
	}
}

func TestDeletionsRoundTrip(t *testing.T) {
	tests := map[string]*roaring.Bitmap{"none": roaring.New(), "one": roaring.BitmapOf(0), "last": roaring.BitmapOf(1<<32 - 1)}
	for _, n := range []uint64{bitmapAbove - 1, bitmapAbove, bitmapAbove + 1, 70000} {
		v := roaring.New()
		v.AddRange(7, 7+n)
		tests[fmt.Sprintf("%d in a row", n)] = v
		w := roaring.New()
		for i := range n {
			w.Add(uint32(i * i * 3))
		}
		tests[fmt.Sprintf("%d scattered", n)] = w
	}
	for name, v := range tests {
		kind, b, err := EncodeDeletions(v)
		if err != nil || (kind == pb.DeletionFile_BITMAP) != (v.GetCardinality() > bitmapAbove) {
			t.Errorf("%s: %s, error %v", name, kind, err)
		}
		if got, err := DecodeDeletions(kind, b); err != nil || !got.Equals(v) {
			t.Errorf("%s: read again, error %v", name, err)
		}
	}
}

// ipcFile makes an Arrow file of any schema.
func ipcFile(t *testing.T, typ arrow.DataType, columns int, build func(array.Builder)) []byte {
	t.Helper()
	var fields []arrow.Field
	for i := range columns {
		fields = append(fields, arrow.Field{Name: fmt.Sprint(i), Type: typ, Nullable: true})
	}
	schema := arrow.NewSchema(fields, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	for i := range columns {
		build(b.Field(i))
	}
	rec := b.NewRecordBatch()
	defer rec.Release()
	var out bytes.Buffer
	w, err := ipc.NewFileWriter(&out, ipc.WithSchema(schema))
	if err == nil {
		err = errors.Join(w.Write(rec), w.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestDeletionsThatAreNone(t *testing.T) {
	u32 := func(b array.Builder) { b.(*array.Uint32Builder).AppendValues([]uint32{1, 2}, nil) }
	for name, b := range map[string][]byte{
		"two columns": ipcFile(t, arrow.PrimitiveTypes.Uint32, 2, u32),
		"no column":   ipcFile(t, arrow.PrimitiveTypes.Uint32, 0, nil),
		"64 bits":     ipcFile(t, arrow.PrimitiveTypes.Uint64, 1, func(b array.Builder) { b.(*array.Uint64Builder).Append(1) }),
		"a null":      ipcFile(t, arrow.PrimitiveTypes.Uint32, 1, func(b array.Builder) { b.AppendNull() }),
		"no bytes":    nil,
		"text":        []byte("hello"),
	} {
		if _, err := DecodeDeletions(pb.DeletionFile_ARROW_ARRAY, b); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	// The footer is what says how many batches there are.
	whole := ipcFile(t, arrow.PrimitiveTypes.Uint32, 1, u32)
	tail := len(whole) - arrowTail
	footer := int(binary.LittleEndian.Uint32(whole[tail:]))
	clear(whole[tail-footer : tail])
	if _, err := DecodeDeletions(pb.DeletionFile_ARROW_ARRAY, whole); !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), "footer") {
		t.Errorf("a footer of zeros: error %v", err)
	}
	v := roaring.New()
	v.AddRange(0, 6000)
	_, raw, err := EncodeDeletions(v)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := DecodeDeletions(pb.DeletionFile_BITMAP, append(raw, 0)); !errors.Is(err, ErrCorrupt) {
		t.Errorf("a bitmap with something behind it: error %v", err)
	}
}

// A size in the file decides nothing by itself.
func TestDeletionsOfHostileSize(t *testing.T) {
	v := roaring.New()
	v.AddRange(0, 4000)
	kind, b, err := EncodeDeletions(v)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(b, []byte{0x28, 0xb5, 0x2f, 0xfd}) // a zstd frame, behind the size of what is in it
	if kind != pb.DeletionFile_ARROW_ARRAY || at < 8 || binary.LittleEndian.Uint64(b[at-8:]) != 16000 {
		t.Fatalf("no compressed buffer in the file (%d)", at)
	}
	for _, size := range []uint64{1 << 27, 1 << 40, 1 << 46, 1<<63 - 1, 1 << 63, 1<<64 - 2} {
		c := bytes.Clone(b)
		binary.LittleEndian.PutUint64(c[at-8:], size)
		allocated(t, len(c), maxDeletionArray, func() {
			if _, err := DecodeDeletions(kind, c); !errors.Is(err, ErrCorrupt) {
				t.Errorf("%d bytes: error %v", size, err)
			}
		})
	}
}

// The file is held against what the manifest says of it.
func TestReadDeletionsChecks(t *testing.T) {
	s := dirStore(t, t.TempDir())
	kind, b, err := EncodeDeletions(roaring.BitmapOf(1, 5))
	if err != nil {
		t.Fatal(err)
	}
	write(t, s, "_deletions/4-2-9.arrow", string(b))
	good := &pb.DataFragment{Id: 4, PhysicalRows: 6, DeletionFile: &pb.DeletionFile{FileType: kind, ReadVersion: 2, Id: 9, NumDeletedRows: 2}}
	v, err := ReadDeletions(t.Context(), s, good)
	if err != nil || !slices.Equal(v.ToArray(), []uint32{1, 5}) {
		t.Errorf("%v, error %v", v, err)
	}
	if v, err := ReadDeletions(t.Context(), s, &pb.DataFragment{Id: 4}); err != nil || !v.IsEmpty() {
		t.Errorf("no deletion file: %v, error %v", v, err)
	}
	for name, tt := range map[string]struct {
		alter func(f *pb.DataFragment)
		want  error
		says  string
	}{
		"another count":   {func(f *pb.DataFragment) { f.DeletionFile.NumDeletedRows = 3 }, ErrCorrupt, "_deletions/4-2-9.arrow"},
		"a row too high":  {func(f *pb.DataFragment) { f.PhysicalRows = 5 }, ErrCorrupt, "row 5"},
		"another base":    {func(f *pb.DataFragment) { f.DeletionFile.BaseId = proto.Uint32(0) }, ErrRefused, "base 0"},
		"no such file":    {func(f *pb.DataFragment) { f.DeletionFile.Id = 8 }, objects.ErrNotFound, "_deletions/4-2-8.arrow"},
		"the other kind":  {func(f *pb.DataFragment) { f.DeletionFile.FileType = pb.DeletionFile_BITMAP }, objects.ErrNotFound, ".bin"},
		"count not given": {func(f *pb.DataFragment) { f.DeletionFile.NumDeletedRows = 0 }, nil, ""},
	} {
		f := proto.CloneOf(good)
		tt.alter(f)
		_, err := ReadDeletions(t.Context(), s, f)
		if !errors.Is(err, tt.want) {
			t.Errorf("%s: error %v", name, err)
		}
		if tt.want != nil {
			says(t, err, tt.says)
		}
	}
}
