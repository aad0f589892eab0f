package layout

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
)

// A reader is used by many at once, and keeps pages for them.
func TestConcurrentReads(t *testing.T) {
	rf, src := named(t, "pages_22.lance")
	next := 0
	f := rf.want.Schema().Field(0)
	r, err := Open(rf.file, fieldOf(f, &next))
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(g), 9))
			for range 20 {
				from := rnd.Uint64N(r.Rows())
				to := from + rnd.Uint64N(r.Rows()-from+1)
				a, err := r.Read(t.Context(), src, from, to, 1<<30)
				if err != nil {
					t.Error(err)
					return
				}
				for i := range a.Len() {
					if !bytes.Equal(render(nil, a, i), render(nil, rf.want.Column(0), int(from)+i)) {
						t.Errorf("row %d differs", int(from)+i)
						break
					}
				}
				a.Release()
			}
		})
	}
	wg.Wait()
}

// faultySource gives an error, or other bytes than were asked for.
type faultySource struct {
	memorySource
	err   error
	short bool
}

func (s faultySource) Fetch(ctx context.Context, spans []datafile.Span) ([][]byte, error) {
	out, _ := s.memorySource.Fetch(ctx, spans)
	if s.short {
		out[len(out)-1] = nil
	}
	return out, s.err
}

func TestSourceFails(t *testing.T) {
	rf, src := named(t, "flat_nulls_22.lance")
	next := 0
	r, err := Open(rf.file, fieldOf(rf.want.Schema().Field(0), &next))
	if err != nil {
		t.Fatal(err)
	}
	down := errors.New("down")
	if _, err := r.Read(t.Context(), faultySource{src, down, false}, 0, 9, 1<<20); !errors.Is(err, down) {
		t.Fatal(err)
	}
	if _, err := r.Read(t.Context(), faultySource{src, nil, true}, 0, 9, 1<<20); err == nil {
		t.Fatal("bytes that did not come were read")
	}
	for _, c := range [][2]uint64{{3, 2}, {0, r.Rows() + 1}} {
		if _, err := r.Read(t.Context(), src, c[0], c[1], 1<<20); err == nil {
			t.Fatalf("rows %d to %d were read", c[0], c[1])
		}
	}
}

// What Need names is enough for Read once the pages are loaded.
func TestNeedSuffices(t *testing.T) {
	for _, rf := range realFiles(t) {
		data, err := os.ReadFile(filepath.Join(realDir(), rf.name))
		if err != nil {
			t.Fatal(err)
		}
		next := 0
		for _, f := range rf.want.Schema().Fields() {
			r, err := Open(rf.file, fieldOf(f, &next))
			if err != nil {
				t.Fatal(err)
			}
			for _, rows := range [][2]uint64{{0, r.Rows()}, {r.Rows() / 3, r.Rows() / 2}, {0, 1}} {
				seen := &trackedSource{memorySource: data, need: r.Need(rows[0], rows[1])}
				a, err := r.Read(t.Context(), seen, rows[0], rows[1], 1<<30)
				if err != nil {
					t.Fatal(err)
				}
				a.Release()
				if seen.missed > 0 {
					t.Errorf("%s, %s: %d spans were not announced", rf.name, f.Name, seen.missed)
				}
			}
		}
	}
}

type trackedSource struct {
	memorySource
	need   []datafile.Span
	missed int
}

func (s *trackedSource) Fetch(ctx context.Context, spans []datafile.Span) ([][]byte, error) {
	for _, sp := range spans {
		found := false
		for _, n := range s.need {
			found = found || sp.Pos >= n.Pos && sp.Pos+sp.Size <= n.Pos+n.Size
		}
		if !found {
			s.missed++
		}
	}
	return s.memorySource.Fetch(ctx, spans)
}

// Positions that are looked up for each read lead to the same bytes as those that are kept.
func TestIndexNotKept(t *testing.T) {
	found := 0
	for _, rf := range realFiles(t) {
		data, err := os.ReadFile(filepath.Join(realDir(), rf.name))
		if err != nil {
			t.Fatal(err)
		}
		src := memorySource(data)
		next := 0
		for _, f := range rf.want.Schema().Fields() {
			r, err := Open(rf.file, fieldOf(f, &next))
			if err != nil {
				t.Fatal(err)
			}
			for _, l := range r.(*reader).leaves {
				for p := range l.meta {
					kept, err := l.open(p)
					if err != nil {
						t.Fatal(err)
					}
					if z, ok := kept.(*fullZip); !ok || z.entry == 0 {
						continue
					}
					found++
					bufs, _ := src.Fetch(t.Context(), kept.meta())
					if err := kept.load(bufs, 1<<20); err != nil {
						t.Fatal(err)
					}
					looked, _ := l.open(p)
					rows := l.starts[p+1] - l.starts[p]
					for _, c := range [][2]uint64{{0, rows}, {rows / 3, rows / 2}, {rows, rows}} {
						index, _ := src.Fetch(t.Context(), looked.index(c[0], c[1]))
						a, err := looked.data(c[0], c[1], index)
						if err != nil {
							t.Fatal(err)
						}
						b, err := kept.data(c[0], c[1], nil)
						if err != nil || len(a) != 1 || len(b) != 1 || a[0] != b[0] {
							t.Fatalf("%s, rows %v: %v, want %v (%v)", rf.name, c, a, b, err)
						}
					}
				}
			}
		}
	}
	if found == 0 {
		t.Fatal("no page has a repetition index")
	}
}

// Pages come and go as others are used.
func TestCache(t *testing.T) {
	var c cache
	big := func(n int) page { return &constant{value: make([]byte, n)} }
	for i := range 20 {
		c.put(pageKey{0, i}, big(1<<20))
		if i > 0 && c.get(pageKey{0, 0}) == nil {
			t.Fatal("the page that is used all the time is gone")
		}
	}
	kept := 0
	for i := range 20 {
		if c.get(pageKey{0, i}) != nil {
			kept++
		}
	}
	if kept < 5 || kept > 8 || c.held > cacheBytes {
		t.Fatalf("%d pages, %d bytes", kept, c.held)
	}
	c.put(pageKey{1, 1}, big(2*cacheBytes))
	if c.get(pageKey{1, 1}) == nil || len(c.pages) != 1 {
		t.Fatalf("%d pages beside one that is larger than all of the cache", len(c.pages))
	}
	c.put(pageKey{1, 1}, big(10))
	if c.held > 1<<12 || len(c.pages) != 1 || c.used.Len() != 1 {
		t.Fatalf("%d bytes in %d pages after a page was loaded again", c.held, len(c.pages))
	}
}
