package datafile

import (
	"bytes"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/lance/lancetest"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// Buffers of pages lie at multiples of the alignment; an empty one keeps its entry.
func TestWritePages(t *testing.T) {
	store := lancetest.Dir(t, t.TempDir(), nil)
	out, err := store.Create(t.Context(), "x.lance")
	if err != nil {
		t.Fatal(err)
	}
	defer out.Abort()
	w := NewWriter(out, nil)
	columns := []*pb.ColumnMetadata{{}, {}}
	want := [][][]byte{{[]byte("first"), nil, bytes.Repeat([]byte{7}, 200)}, {}, {[]byte("x")}}
	for i, buffers := range want {
		p := &pb.ColumnMetadata_Page{Length: uint64(i), Priority: uint64(10 * i)}
		if err := w.Page(p, buffers); err != nil {
			t.Fatal(err)
		}
		columns[i%2].Pages = append(columns[i%2].Pages, p)
	}
	loose, err := w.Buffer([]byte("loose"))
	if err != nil || loose%Alignment != 0 {
		t.Fatalf("%d, %v", loose, err)
	}
	if _, err := w.Finish(t.Context(), 2, 1, &pb.FileDescriptor{Length: 3}, columns); err != nil {
		t.Fatal(err)
	}
	f, err := Open(t.Context(), store, "x.lance")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for i, buffers := range want {
		p := f.Columns[i%2].GetPages()[i/2]
		if p.GetLength() != uint64(i) || p.GetPriority() != uint64(10*i) || len(p.GetBufferSizes()) != len(buffers) {
			t.Fatalf("page %d: %v", i, p)
		}
		for j, b := range buffers {
			got := make([]byte, p.GetBufferSizes()[j])
			if err := f.Reader.ReadAt(t.Context(), got, int64(p.GetBufferOffsets()[j])); err != nil || !bytes.Equal(got, b) || p.GetBufferOffsets()[j]%Alignment != 0 {
				t.Errorf("page %d, buffer %d at %d: %q (%v)", i, j, p.GetBufferOffsets()[j], got, err)
			}
		}
	}
	got := make([]byte, 5)
	if err := f.Reader.ReadAt(t.Context(), got, int64(loose)); err != nil || string(got) != "loose" {
		t.Errorf("%q (%v)", got, err)
	}
}
