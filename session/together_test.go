package session

import (
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
)

// Many readers of few tables that are appended to, dropped and made again underneath: what is read
// is what the version held, or the table was no longer there.
func TestTogether(t *testing.T) {
	type kind struct {
		table string
		upTo  uint64
	}
	kinds := []kind{{"types_20", 3}, {"types_21", 3}, {"types_22", 3}, {"deletions", 0}, {"lance_10", 0}}
	// What may be read, by its text.
	valid := make(map[string]bool)
	for _, k := range kinds {
		w := newWorld(t)
		w.put(k.table, 0)
		s := newSession(t, Options{})
		newest := open(t, s, w.location()).Version()
		for v := uint64(1); v <= newest; v++ {
			tab, err := s.OpenVersion(t.Context(), w.location(), v)
			if err != nil {
				t.Fatal(err)
			}
			valid[textOf(t, tab)] = true
		}
	}
	c := newClock()
	s := newSession(t, Options{Tables: 2, MetadataBytes: 300_000, IndexBytes: 10_000, Now: c.Now})
	worlds := make([]*world, 4)
	for i := range worlds {
		worlds[i] = newWorld(t)
		worlds[i].put(kinds[i].table, kinds[i].upTo)
	}
	var stop atomic.Bool
	var reads, gone atomic.Int64
	var readers, writers sync.WaitGroup
	for g := range 16 {
		readers.Go(func() {
			r := rand.New(rand.NewPCG(5, uint64(g)))
			for !stop.Load() {
				l := worlds[r.IntN(len(worlds))].location()
				got, err := func() (string, error) {
					tab, err := s.Open(t.Context(), l)
					if r.IntN(4) == 0 {
						tab, err = s.OpenVersion(t.Context(), l, 1+r.Uint64N(3))
					}
					if err != nil {
						return "", err
					}
					return text(t.Context(), tab)
				}()
				switch {
				case errors.Is(err, ErrNoTable) || errors.Is(err, ErrGone):
					gone.Add(1)
				case err != nil:
					t.Error(err)
				case !valid[got]:
					t.Errorf("read what no version holds: %.300s", got)
				default:
					reads.Add(1)
				}
				if x := s.Stats(); x.Metadata.Bytes > x.Metadata.Limit || x.Index.Bytes > x.Index.Limit || x.Tables > 2 {
					t.Errorf("%+v", x)
				}
			}
		})
	}
	for i, w := range worlds {
		writers.Go(func() {
			r := rand.New(rand.NewPCG(6, uint64(i)))
			for range 15 {
				if r.IntN(2) == 0 {
					w.drop()
				}
				k := kinds[r.IntN(len(kinds))]
				if k.table[:5] == "types" {
					w.put(k.table, 1)
					w.grow(k.table, 2, 3)
				} else {
					w.put(k.table, k.upTo)
				}
			}
		})
	}
	writers.Wait()
	stop.Store(true)
	readers.Wait()
	for i, w := range worlds {
		if textOf(t, open(t, s, w.location())) != fresh(t, w.location()) {
			t.Errorf("table %d: other rows in the end", i)
		}
	}
	if x := s.Stats(); reads.Load() == 0 || x.StartOvers == 0 {
		t.Errorf("%d reads, %+v", reads.Load(), x)
	}
	t.Logf("%d reads, %d of tables that went, %+v", reads.Load(), gone.Load(), s.Stats())
}
