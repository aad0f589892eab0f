package storetest

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// Benchmark measures the calls that a job spends its time in.
func Benchmark(b *testing.B, open Open) {
	b.Run("CopyRange256MiB", func(b *testing.B) { benchCopy(b, open(b), 256<<20, true) })
	b.Run("CopyThroughBuffer256MiB", func(b *testing.B) { benchCopy(b, open(b), 256<<20, false) })
	b.Run("Write64MiB", func(b *testing.B) { benchWrite(b, open(b), 64<<20) })
	b.Run("Publish4KiB", func(b *testing.B) { benchPublish(b, open(b)) })
	b.Run("ReadAt64KiB", func(b *testing.B) { benchRead(b, open(b)) })
	b.Run("List", func(b *testing.B) { benchList(b, open(b), 20_000) })
	b.Run("Delete16AtOnce", func(b *testing.B) { benchDelete(b, open(b)) })
}

// hidden is a Reader that no RangeCopier knows.
type hidden struct{ objects.Reader }

func benchCopy(b *testing.B, s objects.Store, size int64, inside bool) {
	piece := noise(1, 1<<20)
	w, err := s.Create(b.Context(), "data/src")
	if err != nil {
		b.Fatal(err)
	}
	for n := int64(0); n < size; n += int64(len(piece)) {
		if _, err := w.Write(piece); err != nil {
			b.Fatal(err)
		}
	}
	if _, err := w.Finish(b.Context()); err != nil {
		b.Fatal(err)
	}
	r, err := s.Open(b.Context(), "data/src")
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	var from objects.Reader = hidden{r}
	if inside {
		from = r
	}
	buf := make([]byte, objects.CopyBuffer)
	b.SetBytes(size)
	for b.Loop() {
		w, err := s.Create(b.Context(), "data/dst")
		if err != nil {
			b.Fatal(err)
		}
		if err := objects.CopyRange(b.Context(), w, from, 0, size, buf); err != nil {
			b.Fatal(err)
		}
		if _, err := w.Finish(b.Context()); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		clean(b, s, "data/dst")
		b.StartTimer()
	}
}

func benchWrite(b *testing.B, s objects.Store, size int) {
	p := noise(1, 100_000)
	b.SetBytes(int64(size))
	for b.Loop() {
		w, err := s.Create(b.Context(), "data/x")
		if err != nil {
			b.Fatal(err)
		}
		for n := 0; n < size; n += len(p) {
			if _, err := w.Write(p); err != nil {
				b.Fatal(err)
			}
		}
		if _, err := w.Finish(b.Context()); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		clean(b, s, "data/x")
		b.StartTimer()
	}
}

func clean(b *testing.B, s objects.Store, name string) {
	if err := s.Delete(b.Context(), name); err != nil {
		b.Fatal(err)
	}
}

func benchPublish(b *testing.B, s objects.Store) {
	p := noise(1, 4096)
	n := 0
	for b.Loop() {
		n++
		put(b, s, fmt.Sprintf("v/%d", n), p)
	}
}

func benchRead(b *testing.B, s objects.Store) {
	stream(b, s, "data/x", noise(1, 32<<20))
	r, err := s.Open(b.Context(), "data/x")
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	p := make([]byte, 64<<10)
	b.SetBytes(int64(len(p)))
	off := int64(0)
	for b.Loop() {
		off = (off + 1_234_567) % (31 << 20)
		if err := r.ReadAt(b.Context(), p, off); err != nil {
			b.Fatal(err)
		}
	}
}

// many publishes n empty objects in d, from several goroutines.
func many(b *testing.B, s objects.Store, n int) {
	for _, err := range together(16, func(g int) error {
		for i := g; i < n; i += 16 {
			if err := s.Publish(b.Context(), fmt.Sprintf("d/%020d.manifest", i), nil); err != nil {
				return err
			}
		}
		return nil
	}) {
		if err != nil {
			b.Fatal(err)
		}
	}
}

func benchList(b *testing.B, s objects.Store, n int) {
	many(b, s, n)
	for _, limit := range []int{1, objects.ListPage} {
		b.Run(fmt.Sprintf("%dOf%d", limit, n), func(b *testing.B) {
			for b.Loop() {
				if es, err := s.List(b.Context(), "d", "", limit); err != nil || len(es) != limit {
					b.Fatal(len(es), err)
				}
			}
		})
	}
	b.Run(fmt.Sprintf("All%d", n), func(b *testing.B) {
		for b.Loop() {
			if got := len(entries(b, s, "d")); got != n {
				b.Fatal(got)
			}
		}
	})
}

func benchDelete(b *testing.B, s objects.Store) {
	const n = 1000
	for b.Loop() {
		b.StopTimer()
		many(b, s, n)
		b.StartTimer()
		var gone atomic.Int64
		for _, err := range together(16, func(g int) error {
			for i := g; i < n; i += 16 {
				if err := s.Delete(b.Context(), fmt.Sprintf("d/%020d.manifest", i)); err != nil {
					return err
				}
				gone.Add(1)
			}
			return nil
		}) {
			if err != nil {
				b.Fatal(err)
			}
		}
		if gone.Load() != n {
			b.Fatal(gone.Load())
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/n, "µs/delete")
}
