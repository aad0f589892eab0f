package layout

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/slab"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// page is the page of a sample with its buffers.
func (s sample) page() (*pb.ColumnMetadata_Page, [][]byte) {
	p := &pb.ColumnMetadata_Page{Length: s.length, Encoding: &pb.Encoding{Location: &pb.Encoding_Direct_{Direct: &pb.Encoding_Direct{Encoding: s.encoding}}}}
	var bufs [][]byte
	rest := s.data
	for _, n := range s.sizes {
		n = min(n, uint64(len(rest)))
		bufs, rest = append(bufs, rest[:n:n]), rest[n:]
	}
	return p, bufs
}

// read reads all rows of a page; nil when that can't be done.
func (s sample) read(t testing.TB, p column.Page, rows uint64) arrow.Array {
	file := new(memoryFile)
	if err := file.Page(p); err != nil {
		t.Fatal(err)
	}
	r, err := Open(file.finish(int(s.version), rows, 1), s.field)
	if err != nil {
		return nil
	}
	a, err := r.Read(t.Context(), memorySource(file.data), 0, rows, brokenLimit)
	if err != nil {
		return nil
	}
	return a
}

// keep keeps rows of a page that may be broken. What comes out of one that can be read are its rows.
func (s sample) keep(t testing.TB, keep []column.Range) (ok bool) {
	t.Helper()
	p, bufs := s.page()
	stride := s.stride()
	var slots []column.Range
	for _, r := range keep {
		slots = append(slots, column.Range{From: r.From * stride, To: r.To * stride})
	}
	slots, err := column.CheckRanges(slots, s.length)
	if err != nil {
		t.Fatal(err)
	}
	out, ok, err := Keep(p, bufs, slots, brokenLimit, nil)
	if err != nil {
		if !errors.Is(err, column.ErrCorrupt) {
			t.Fatalf("an error of another kind: %v", err)
		}
		return false
	}
	if !ok {
		return false
	}
	total := 0
	for _, b := range out.Buffers {
		total += len(b)
	}
	if total > 3*brokenLimit {
		t.Fatalf("%d bytes were made of %d", total, len(s.data))
	}
	if s.rows > 1<<20 {
		return true
	}
	before := s.read(t, column.Page{Length: s.length, Encoding: p.Encoding, Buffers: bufs}, s.rows)
	if before == nil {
		return true
	}
	defer before.Release()
	after := s.read(t, out, column.RowsOf(keep))
	if after == nil {
		t.Fatalf("what was kept of %d rows can't be read", s.rows)
	}
	defer after.Release()
	at := 0
	for _, r := range keep {
		for i := r.From; i < r.To; i++ {
			if w, g := render(nil, before, int(i)), render(nil, after, at); !bytes.Equal(w, g) {
				t.Fatalf("row %d, once %d: %q, want %q", at, i, clip(g), clip(w))
			}
			at++
		}
	}
	return true
}

// Rows of broken pages.
func TestKeepBroken(t *testing.T) {
	defer slab.Hold()() // what uses memory after it was given back finds other bytes in it
	rnd := rand.New(rand.NewPCG(7, 6))
	rounds := 12
	if testing.Short() {
		rounds = 3
	}
	done, left := 0, 0
	for _, s := range samples(t) {
		if s.rows == 0 {
			continue
		}
		for range rounds {
			b := s.broken(rnd, 1, 20)
			keep := someRows(rnd, b.rows)
			if len(keep) > 0 && b.keep(t, keep) {
				done++
			} else {
				left++
			}
		}
	}
	t.Logf("%d were kept, %d not", done, left)
	if done == 0 || left == 0 {
		t.Fatal("not of both kinds")
	}
}

func FuzzKeep(f *testing.F) {
	all := samples(f)
	seeds(all, func(i int, s sample, sizes []byte) {
		f.Add(uint16(i), s.length, uint64(i), s.encoding, sizes, s.data)
	})
	f.Fuzz(func(t *testing.T, which uint16, length, seed uint64, encoding, sizes, data []byte) {
		s := all[int(which)%len(all)]
		if length -= length % s.stride(); length == 0 {
			return
		}
		s = s.fuzzed(length, encoding, sizes, data)
		rnd := rand.New(rand.NewPCG(seed, 1))
		keep := someRows(rnd, min(s.rows, 3000))
		if seed%5 == 0 {
			keep = []column.Range{{From: rnd.Uint64N(s.rows), To: s.rows}}
		}
		if len(keep) > 0 && keep[len(keep)-1].To <= s.rows {
			s.keep(t, keep)
		}
	})
}
