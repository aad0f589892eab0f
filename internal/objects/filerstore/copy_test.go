package filerstore

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// sources writes objects and opens them.
func sources(t *testing.T, s *store, contents ...[]byte) (out []objects.Reader) {
	t.Helper()
	for i, content := range contents {
		name := "data/source" + string(rune('a'+i))
		if _, err := write(t.Context(), s, name, content); err != nil {
			t.Fatal(err)
		}
		r, err := s.Open(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	return out
}

// TestCopyOrder: whatever is read first, bytes come in the order in which they were asked for, of ranges of all sizes
// and of what is written in between, and so do the sums; readers and contexts that are over do no harm.
func TestCopyOrder(t *testing.T) {
	for _, sealed := range []bool{false, true} {
		cl := newFake(t, 1)
		cl.volume.serve = func(w http.ResponseWriter, r *http.Request, data []byte) {
			time.Sleep(time.Duration(rand.IntN(3)) * time.Millisecond)
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
		}
		if sealed {
			cl.encrypts("AES256")
			cl.putKEK(kek)
		}
		s := cl.store()
		a, b := noise(chunked), noise(3 * chunked)[chunked:]
		all := sources(t, s, a, b)
		w, err := s.Create(t.Context(), "data/x")
		if err != nil {
			t.Fatal(err)
		}
		random := rand.New(rand.NewPCG(1, 2))
		var want []byte
		for range 60 {
			i, content := 0, a
			if random.IntN(2) > 0 {
				i, content = 1, b
			}
			off := random.IntN(len(content))
			n := min(random.IntN(1<<random.IntN(22)), len(content)-off)
			if random.IntN(4) == 0 {
				if _, err := w.Write(content[off : off+n]); err != nil {
					t.Fatal(err)
				}
			} else {
				r, err := s.Open(t.Context(), all[i].Entry().Name)
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithCancel(t.Context())
				if err := objects.CopyRange(ctx, w, r, int64(off), int64(n), nil); err != nil {
					t.Fatal(err)
				}
				cancel()
				r.Close()
			}
			want = append(want, content[off:off+n]...)
		}
		e, err := w.Finish(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got := read(t, s, "data/x"); !bytes.Equal(got, want) {
			t.Errorf("sealed %v: reads back differently", sealed)
		}
		if ETag(e.Token) != md5hex(want) || e.Size != int64(len(want)) {
			t.Errorf("sealed %v: %+v, want %d bytes with %s", sealed, e, len(want), md5hex(want))
		}
		cl.checkNeedles(0)
	}
}

// TestCopyFails: when a range can't be read there is no object, the error names what could not be read, and nothing is left.
func TestCopyFails(t *testing.T) {
	for name, ended := range map[string]func(*testing.T, objects.Writer) error{
		"finish": func(t *testing.T, w objects.Writer) error { _, err := w.Finish(t.Context()); return err },
		"write": func(t *testing.T, w objects.Writer) error {
			defer w.Abort()
			for range 1000 {
				if _, err := w.Write(noise(1 << 20)); err != nil {
					return err
				}
			}
			return nil
		},
		"abort": func(t *testing.T, w objects.Writer) error { w.Abort(); return objects.ErrNotFound },
	} {
		t.Run(name, func(t *testing.T) {
			cl := newFake(t, 1)
			s := cl.store()
			all := sources(t, s, noise(chunked), noise(chunked))
			if err := s.Delete(t.Context(), "data/sourceb"); err != nil {
				t.Fatal(err)
			}
			cl.volume.vacuum()
			w, err := s.Create(t.Context(), "data/x")
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range all {
				if err := objects.CopyRange(t.Context(), w, r, 0, chunked, nil); err != nil {
					// It may know by then.
					break
				}
			}
			if err := ended(t, w); !errors.Is(err, objects.ErrNotFound) || name != "abort" && !strings.Contains(err.Error(), "data/sourceb") {
				t.Errorf("got %v, want that data/sourceb was not found", err)
			}
			if cl.entry(root+"/data/x") != nil {
				t.Error("the object is there")
			}
			cl.checkNeedles(0)
		})
	}
}

// TestCopyBound: no more is read ahead than the slots hold, and waiting for one ends with the context.
func TestCopyBound(t *testing.T) {
	const slots = 3
	cl := newFake(t, 1)
	s := cl.store(func(c *Config) { c.InFlight = slots })
	all := sources(t, s, noise(10<<20))
	var blocked atomic.Int32
	release := make(chan struct{})
	cl.volume.refuse = func(r *http.Request) int {
		if r.Method == http.MethodPost {
			blocked.Add(1)
			<-release
		}
		return 0
	}
	before := len(cl.volume.took())
	w, err := s.Create(t.Context(), "data/x")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	copied := make(chan error)
	go func() { copied <- objects.CopyRange(ctx, w, all[0], 0, 10<<20, nil) }()
	for blocked.Load() < slots {
		time.Sleep(time.Millisecond)
	}
	if n := len(cl.volume.took()) - before; n != slots {
		t.Errorf("%d chunks read while %d may be under way", n, slots)
	}
	cancel()
	if err := <-copied; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want canceled", err)
	}
	close(release)
	// Half of a range is no object.
	if _, err := w.Finish(t.Context()); !errors.Is(err, context.Canceled) {
		t.Errorf("finished: %v", err)
	}
	cl.checkNeedles(0)
}

// TestCopyCancel: reads that hang end with the context of the object.
func TestCopyCancel(t *testing.T) {
	cl := newFake(t, 1)
	s := cl.store()
	all := sources(t, s, noise(chunked))
	reading := make(chan struct{}, 10)
	cl.volume.serve = func(_ http.ResponseWriter, r *http.Request, _ []byte) {
		reading <- struct{}{}
		<-r.Context().Done()
	}
	ctx, cancel := context.WithCancel(t.Context())
	w, err := s.Create(ctx, "data/x")
	if err != nil {
		t.Fatal(err)
	}
	if err := objects.CopyRange(t.Context(), w, all[0], 0, chunked, nil); err != nil {
		t.Fatal(err)
	}
	<-reading
	cancel()
	start := time.Now()
	if _, err := w.Finish(t.Context()); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want canceled", err)
	}
	if took := time.Since(start); took > arrivalGrace {
		t.Errorf("took %v", took)
	}
	cl.checkNeedles(0)
}
