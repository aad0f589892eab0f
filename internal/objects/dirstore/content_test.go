package dirstore

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

func TestReaderKeepsItsObject(t *testing.T) {
	s := fresh(t, Options{})
	publish(t, s, "h", "old")
	r, err := s.Open(t.Context(), "h")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := s.Replace(t.Context(), "h", []byte("newer")); err != nil {
		t.Fatal(err)
	}
	p := make([]byte, 3)
	if err := r.ReadAt(t.Context(), p, 0); err != nil || string(p) != "old" {
		t.Errorf("read %q, %v, want what was opened", p, err)
	}
}

// A file that somebody cuts while we read is an error everywhere.
func TestCutFile(t *testing.T) {
	for _, kernel := range []bool{true, false} {
		s := fresh(t, Options{})
		publish(t, s, "data/x", strings.Repeat("x", 10_000))
		r, err := s.Open(t.Context(), "data/x")
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if err := os.Truncate(filepath.Join(s.path, "data", "x"), 6000); err != nil {
			t.Fatal(err)
		}
		if err := r.ReadAt(t.Context(), make([]byte, 10_000), 0); !errors.Is(err, objects.ErrShort) {
			t.Errorf("ReadAt: %v, want ErrShort", err)
		}
		w, err := s.Create(t.Context(), "data/y")
		if err != nil {
			t.Fatal(err)
		}
		w.(*writer).noKernelCopy = !kernel
		if err := objects.CopyRange(t.Context(), w, r, 0, 10_000, nil); !errors.Is(err, objects.ErrShort) {
			t.Errorf("CopyRange: %v, want ErrShort", err)
		}
		// What is incomplete can't be finished by mistake.
		if _, err := w.Write([]byte("more")); err == nil {
			t.Error("Write after it: no error")
		}
		if _, err := w.Finish(t.Context()); !errors.Is(err, objects.ErrShort) {
			t.Errorf("Finish after it: %v, want ErrShort", err)
		}
		if got := onDisk(t, s.path); !slices.Equal(got, []string{"data/", "data/x"}) {
			t.Errorf("left %q", got)
		}
	}
}

func TestCopyStopsWithContext(t *testing.T) {
	s := fresh(t, Options{NoSync: true})
	publish(t, s, "x", strings.Repeat("x", 3*copyPiece))
	r, err := s.Open(t.Context(), "x")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	w, err := s.Create(t.Context(), "y")
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	ctx := &countdown{Context: t.Context(), left: 2}
	err = objects.CopyRange(ctx, w, r, 0, 3*copyPiece, nil)
	if !errors.Is(err, context.Canceled) || w.(*writer).size != 2*copyPiece {
		t.Errorf("after %d of %d bytes: %v", w.(*writer).size, 3*copyPiece, err)
	}
}

// countdown is a context that ends when it has been asked some times.
type countdown struct {
	context.Context
	left int
}

func (c *countdown) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// A context that ends while the file is being completed: nothing has happened.
func TestFinishStopsWithContext(t *testing.T) {
	for left := range 3 {
		s := fresh(t, Options{})
		w, err := s.Create(t.Context(), "d/x")
		if err != nil {
			t.Fatal(err)
		}
		_, err = w.Finish(&countdown{Context: t.Context(), left: left})
		want := []string{"d/"}
		if left == 2 {
			want = []string{"d/", "d/x"}
		}
		if (err == nil) != (left == 2) || err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("asked %d times: %v", left, err)
		}
		if got := onDisk(t, s.path); !slices.Equal(got, want) {
			t.Errorf("asked %d times: %q, want %q", left, got, want)
		}
	}
}
