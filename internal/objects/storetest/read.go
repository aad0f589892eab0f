package storetest

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

func readRanges(t *testing.T, s objects.Store) {
	want := noise(5, large)
	stream(t, s, "data/x", want)
	r, err := s.Open(t.Context(), "data/x")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, c := range []struct{ off, n int64 }{
		{0, 1}, {0, 8}, {1, 4096}, {4095, 2}, {large - 1, 1}, {large - 64, 64},
		{1<<20 - 1, 3}, {4<<20 - 5, 11}, {8<<20 - 1, 1<<20 + 2}, {3, large - 3}, {0, large},
		{0, 0}, {17, 0}, {large, 0},
	} {
		p := make([]byte, c.n)
		if err := r.ReadAt(t.Context(), p, c.off); err != nil {
			t.Errorf("%d bytes at %d: %v", c.n, c.off, err)
		} else if !bytes.Equal(p, want[c.off:c.off+c.n]) {
			t.Errorf("%d bytes at %d differ", c.n, c.off)
		}
	}
	for _, c := range []struct{ off, n int64 }{
		{large, 1}, {large - 1, 2}, {0, large + 1}, {large + 1, 1}, {large + 1, 0}, {1 << 40, 10}, {1<<63 - 1, 10},
	} {
		err := r.ReadAt(t.Context(), make([]byte, c.n), c.off)
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%d bytes at %d of %d: got %v, want io.ErrUnexpectedEOF", c.n, c.off, large, err)
		}
	}
	if err := r.ReadAt(t.Context(), make([]byte, 1), -1); err == nil {
		t.Error("offset -1: no error")
	}
	// One reader, many goroutines.
	for _, err := range together(8, func(i int) error {
		for k := range 20 {
			off := int64(i*1_000_003+k*77_777) % (large - 5000)
			p := make([]byte, 5000)
			if err := r.ReadAt(t.Context(), p, off); err != nil {
				return err
			}
			if !bytes.Equal(p, want[off:off+5000]) {
				return errors.New("bytes differ")
			}
		}
		return nil
	}) {
		if err != nil {
			t.Error(err)
		}
	}
}

func readAll(t *testing.T, s objects.Store) {
	put(t, s, "v/1", []byte("12345"))
	p, e, err := objects.ReadAll(t.Context(), s, "v/1", 5)
	if err != nil || string(p) != "12345" || e.Size != 5 {
		t.Errorf("ReadAll = %q, %+v, %v", p, e, err)
	}
	if _, _, err := objects.ReadAll(t.Context(), s, "v/1", 4); err == nil {
		t.Error("5 bytes of at most 4: no error")
	}
	_, _, err = objects.ReadAll(t.Context(), s, "v/2", 4)
	wantErr(t, "ReadAll of nothing", err, objects.ErrNotFound)
}

// copyRange: ranges of two objects and bytes of our own make a third.
func copyRange(t *testing.T, s objects.Store) {
	a, b := noise(6, large), noise(7, 100_001)
	stream(t, s, "data/a", a)
	stream(t, s, "data/b", b)
	ra, err := s.Open(t.Context(), "data/a")
	if err != nil {
		t.Fatal(err)
	}
	defer ra.Close()
	rb, err := s.Open(t.Context(), "data/b")
	if err != nil {
		t.Fatal(err)
	}
	defer rb.Close()
	w, err := s.Create(t.Context(), "data/c")
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	var want []byte
	for i, step := range []struct {
		from   objects.Reader
		bytes  []byte
		off, n int64
		buf    []byte
	}{
		{ra, a, 3, large - 3, nil},
		{nil, []byte("head"), 0, 4, nil},
		{rb, b, 0, 100_001, make([]byte, 1000)},
		{ra, a, 64, 1, nil},
		{ra, a, 64, 0, nil},
		{rb, b, 100_001, 0, nil},
		{nil, noise(8, 1<<20), 0, 1 << 20, nil},
		{ra, a, 5 << 20, 2 << 20, make([]byte, 333_333)},
		{nil, []byte("foot"), 0, 4, nil},
	} {
		var err error
		if step.from == nil {
			_, err = w.Write(step.bytes)
		} else {
			err = objects.CopyRange(t.Context(), w, step.from, step.off, step.n, step.buf)
		}
		if err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
		want = append(want, step.bytes[step.off:step.off+step.n]...)
	}
	if _, err := w.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	holds(t, s, "data/c", want)
	holds(t, s, "data/a", a)
}

// copyOutside: a range that the source doesn't have is an error, and what was
// begun with it is not finished by mistake of the store.
func copyOutside(t *testing.T, s objects.Store) {
	put(t, s, "data/a", []byte("12345"))
	r, err := s.Open(t.Context(), "data/a")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, c := range []struct{ off, n int64 }{{0, 6}, {5, 1}, {6, 1}, {1 << 40, 1}} {
		w, err := s.Create(t.Context(), "data/b")
		if err != nil {
			t.Fatal(err)
		}
		err = objects.CopyRange(t.Context(), w, r, c.off, c.n, nil)
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("copying %d bytes at %d of 5: got %v, want io.ErrUnexpectedEOF", c.n, c.off, err)
		}
		w.Abort()
		absent(t, s, "data/b")
	}
}
