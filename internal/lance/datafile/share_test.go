package datafile

import (
	"errors"
	"runtime"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// Metadata is shared, readers are not.
func TestWith(t *testing.T) {
	for path, b := range dataFiles(t) {
		s := put(t, b)
		first, err := Open(t.Context(), s, name)
		if err != nil {
			t.Fatal(err)
		}
		kept := first.With(nil)
		if err := first.Close(); err != nil {
			t.Fatal(err)
		}
		r, err := s.Open(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		again := kept.With(r)
		if again.Reader != objects.Reader(r) || kept.Reader != nil || first.Reader == again.Reader {
			t.Errorf("%s: readers are shared", path)
		}
		if len(again.Columns) != len(first.Columns) || !proto.Equal(again.Descriptor, first.Descriptor) || again.DataEnd != first.DataEnd {
			t.Errorf("%s: other metadata", path)
		}
		if err := again.Close(); err != nil {
			t.Fatal(err)
		}
		if n, m := kept.MemorySize(), int64(uint64(len(b))-first.DataEnd); n < m {
			t.Errorf("%s: %d bytes of metadata take %d in memory", path, m, n)
		}
	}
}

func TestReadLeavesTheReaderOpen(t *testing.T) {
	s := put(t, []byte("too short"))
	r, err := s.Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := Read(t.Context(), r); !errors.Is(err, ErrCorrupt) {
		t.Errorf("error %v", err)
	}
	if err := r.ReadAt(t.Context(), make([]byte, 3), 0); err != nil {
		t.Errorf("the reader is no longer open: %v", err)
	}
	runtime.KeepAlive(r)
}
