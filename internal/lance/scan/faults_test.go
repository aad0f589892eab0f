package scan

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
	"github.com/seaweedfs/seaweed-lance/internal/objects/faultstore"
)

// smallWorld has a fragment of two files, one with deletions, one with both.
func smallWorld(tb testing.TB) *world {
	w := newWorld(tb, 8, 3000)
	w.add(0, 40, 15, []int32{0}, []int32{1})
	w.delete(w.add(1, 30, 30, []int32{0, 1}), 1, 2, 29)
	w.delete(w.add(5, 20, 10, []int32{0}, []int32{1, 0}), 0)
	return w
}

// Whatever call fails, at whatever moment: the rows that came are the right
// ones, and then comes the error, which names what it is about.
func TestFaultsAtEveryCall(t *testing.T) {
	w := smallWorld(t)
	want := w.rowsOf(Options{})
	for _, need := range needs {
		for _, a := range []faultstore.Action{faultstore.Fail(errors.New("broken on purpose")), faultstore.Lose(), faultstore.Die()} {
			for p := range faultstore.Points() {
				tab := w.table(faultstore.New(w.store, p.Hook(a)))
				schema, batches, err := scanWith(t, tab, Options{BatchRows: 10, ReadAhead: 50_000}, need)
				if err != nil {
					if !strings.Contains(err.Error(), w.store.String()) || !strings.Contains(err.Error(), ".lance") && !strings.Contains(err.Error(), "_deletions") {
						t.Fatalf("need %q, call %d %s: error %v", need, p.N, p.Phase, err)
					}
					var n int64
					for _, b := range batches {
						n += b.NumRows()
					}
					if !p.Reached() {
						t.Fatalf("need %q: undisturbed: %v", need, err)
					}
					want = want[:n]
				}
				if e := w.checkBatches(schema, batches, want); e != nil {
					t.Fatalf("need %q, call %d %s, scan's error %v: %v", need, p.N, p.Phase, err, e)
				}
				want = w.rowsOf(Options{})
			}
		}
	}
}

// The same for a table of real Lance, with blobs beside its files and outside.
func TestFaultsWithBlobs(t *testing.T) {
	want := expected(t, "blob_22_bytes")
	for p := range faultstore.Points() {
		fs := faultstore.New(dirStore(t, dirOf("blob_22")), p.Hook(faultstore.Fail(errors.New("broken on purpose"))))
		tab, err := table.Open(t.Context(), fs)
		if err != nil {
			continue // that is table's to test
		}
		o := Options{BlobBytes: true, Bases: beside(t), BatchRows: 2}
		schema, batches, err := scanAll(t, tab, o)
		if err != nil {
			says := err.Error()
			if !p.Reached() || !strings.Contains(says, "blob_22") || !strings.Contains(says, "fragment 0") || !strings.Contains(says, "/") {
				t.Fatalf("call %d %s: error %v", p.N, p.Phase, err)
			}
		}
		var n int64
		for _, b := range batches {
			n += b.NumRows()
		}
		check(t, schema, batches, want, 0, n)
		if err == nil && n != want.NumRows() {
			t.Fatalf("call %d %s: %d rows and no error", p.N, p.Phase, n)
		}
	}
}

// A scan whose context ends, or that is closed, at any call: it ends, with an
// error unless it was done, and nothing of it stays behind.
func TestEndingAtEveryCall(t *testing.T) {
	w := smallWorld(t)
	want := w.rowsOf(Options{})
	for _, how := range []string{"cancel", "close"} {
		for p := range faultstore.Points() {
			ctx, cancel := context.WithCancelCause(t.Context())
			reason := errors.New("the caller's reason")
			var s atomic.Pointer[Scan]
			hook := func(c faultstore.Call) faultstore.Action {
				if p.Match(c) {
					if how == "cancel" {
						cancel(reason)
					} else if x := s.Load(); x != nil {
						x.stop(errClosed)
					}
				}
				return faultstore.Pass
			}
			scan, err := openWith(ctx, w.table(faultstore.New(w.store, hook)), Options{BatchRows: 10}, opener("all"))
			if err != nil {
				t.Fatal(err)
			}
			s.Store(scan)
			batches, err := drain(t, scan)
			scan.Close()
			cancel(nil)
			if err != nil && !errors.Is(err, reason) && !errors.Is(err, errClosed) && !errors.Is(err, context.Canceled) {
				t.Fatalf("%s at call %d %s: error %v", how, p.N, p.Phase, err)
			}
			var n int64
			for _, b := range batches {
				n += b.NumRows()
			}
			if err == nil && int(n) != len(want) {
				t.Fatalf("%s at call %d %s: %d rows and no error", how, p.N, p.Phase, n)
			}
			if e := w.checkBatches(scan.Schema(), batches, want[:n]); e != nil {
				t.Fatalf("%s at call %d %s: %v", how, p.N, p.Phase, e)
			}
		}
	}
}

// Closing does not wait for a store that has stopped to answer.
func TestCloseWhileStalled(t *testing.T) {
	w := smallWorld(t)
	never := make(chan struct{})
	for _, op := range []faultstore.Op{faultstore.Open, faultstore.Read} {
		for n := range 12 {
			m := func(c faultstore.Call) bool { return c.Phase == faultstore.Before && c.Op == op }
			s, err := openWith(t.Context(), w.table(faultstore.New(w.store, faultstore.Nth(n, m, faultstore.Stall(never)))), Options{BatchRows: 3}, opener("all"))
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			for {
				if _, err := s.Next(ctx); err != nil {
					break
				}
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Next(t.Context()); err == nil {
				t.Error("a row after Close")
			}
		}
	}
}

// The context of Next ends that call alone.
func TestNextContext(t *testing.T) {
	w := smallWorld(t)
	p := faultstore.NewPause(faultstore.On(faultstore.Before, faultstore.Read, table.DataDir+"/f1"))
	s, err := openWith(t.Context(), w.table(faultstore.New(w.store, p.Hook)), Options{}, opener("all"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-p.Reached()
		cancel()
	}()
	var batches []arrow.RecordBatch
	for {
		b, err := s.Next(ctx)
		if errors.Is(err, context.Canceled) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		batches = append(batches, b)
	}
	p.Resume()
	rest, err := drain(t, s)
	if err == nil {
		err = w.checkBatches(s.Schema(), append(batches, rest...), w.rowsOf(Options{}))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A caller that stops to take batches stops the reads, too.
func TestReadAheadIsBounded(t *testing.T) {
	const rows, width = 4000, 1000
	w := newWorld(t, width)
	w.add(0, rows, rows/4, []int32{0})
	for _, need := range needs {
		var read atomic.Int64
		count := func(c faultstore.Call) faultstore.Action {
			if c.Op == faultstore.Read && c.Phase == faultstore.Before {
				read.Add(c.Size)
			}
			return faultstore.Pass
		}
		o := Options{ReadAhead: 1_000_000, BatchBytes: 200_000, Threads: 2}
		s, err := openWith(t.Context(), w.table(faultstore.New(w.store, count)), o, opener(need))
		if err != nil {
			t.Fatal(err)
		}
		var taken, most int64
		for {
			b, err := s.Next(t.Context())
			if err != nil {
				break
			}
			taken += b.NumRows() * width
			most = max(most, read.Load()-taken)
		}
		s.Close()
		// Ahead, decoded, at work, the footer; and what guesses read twice, at most
		// at both ends of each half of the read-ahead.
		bound := o.ReadAhead + 2*o.BatchBytes + int64(o.Threads)*o.BatchBytes + 64<<10
		if need != "all" {
			bound += rows * width / (o.ReadAhead / 2) * 2 * guessSlack
		}
		if taken != rows*width || most > bound {
			t.Errorf("need %q: %d bytes taken, at most %d read ahead, bound %d", need, taken, most, bound)
		}
	}
}

// What lies side by side is read by few requests, whether the readers say what they need
// or not.
func TestFewRequests(t *testing.T) {
	const rows, width = 20_000, 500
	w := newWorld(t, width, 8, 16)
	w.add(0, rows, rows/5, []int32{0, 1, 2})
	for _, need := range needs {
		var n, bytes atomic.Int64
		count := func(c faultstore.Call) faultstore.Action {
			if c.Op == faultstore.Read && c.Phase == faultstore.Before {
				n.Add(1)
				bytes.Add(c.Size)
			}
			return faultstore.Pass
		}
		_, batches, err := scanWith(t, w.table(faultstore.New(w.store, count)), Options{BatchRows: 200}, need)
		if err != nil || len(batches) != 100 {
			t.Fatalf("%d batches, error %v", len(batches), err)
		}
		t.Logf("need %q: %d requests, %d bytes of %d", need, n.Load(), bytes.Load(), rows*(width+24))
		if n.Load() > 40 || bytes.Load() > rows*(width+24)*5/4 {
			t.Errorf("need %q: %d requests of %d bytes for %d", need, n.Load(), bytes.Load(), rows*(width+24))
		}
	}
}

// Bytes from ahead are those from the file, wherever the pieces end.
func TestSourceFetch(t *testing.T) {
	b := make([]byte, 300_000)
	for i := range b {
		b[i] = byte(i * 7 >> 3)
	}
	type span = datafile.Span
	src := newSource(&memoryReader{b}, make(chan struct{}, 2), new(waits))
	for _, x := range []span{{Pos: 100, Size: 50}, {Pos: 150, Size: 100}, {Pos: 240, Size: 60}, {Pos: 1000, Size: 1}} {
		seg := &segment{Span: x, done: make(chan struct{}), users: 1}
		src.add(seg)
		src.load(t.Context(), seg)
	}
	var spans []span
	for _, from := range []uint64{0, 90, 100, 120, 149, 150, 200, 245, 299, 300, 999, 1000, 250_000} {
		for _, n := range []uint64{0, 1, 10, 50, 60, 150, 200, 1000} {
			spans = append(spans, span{Pos: from, Size: n})
		}
	}
	got, err := src.Fetch(t.Context(), spans)
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range spans {
		if string(got[i]) != string(b[x.Pos:x.Pos+x.Size]) {
			t.Errorf("%d bytes at %d are others", x.Size, x.Pos)
		}
	}
	for _, x := range []span{{Pos: 299_999, Size: 2}, {Pos: 1 << 40, Size: 1}, {Pos: 1, Size: 1<<64 - 1}, {Pos: 100, Size: 1 << 60}} {
		if _, err := src.Fetch(t.Context(), []span{x}); !errors.Is(err, column.ErrCorrupt) {
			t.Errorf("%d bytes at %d: error %v", x.Size, x.Pos, err)
		}
	}
}

var _ objects.Reader = (*memoryReader)(nil)
