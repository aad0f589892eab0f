package lease

import (
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"

	"github.com/seaweedfs/seaweed-lance/internal/objects/faultstore"
)

func TestPruned(t *testing.T) {
	var p pruned[int, bool]
	used := func(b *bool) bool { return *b }
	looked := 0
	counting := func(b *bool) bool { looked++; return *b }
	for i := range pruneFrom {
		*p.get(i, used) = i%4 == 0
	}
	if len(p.m) != pruneFrom {
		t.Errorf("%d of %d, not full yet", len(p.m), pruneFrom)
	}
	if p.get(0, counting); looked != 0 {
		t.Errorf("looked at %d values for one that is there", looked)
	}
	p.get(1000, counting)
	if len(p.m) != pruneFrom/4+1 || looked != pruneFrom {
		t.Errorf("%d are left of %d looked at", len(p.m), looked)
	}
	for i := range pruneFrom {
		if _, ok := p.m[i]; ok != (i%4 == 0) {
			t.Errorf("%d: there %v", i, ok)
		}
	}
	// Nothing can be forgotten: it is looked at each time that it has doubled.
	looked = 0
	const n = 10000
	for i := range n {
		*p.get(i, counting) = true
	}
	if len(p.m) < n || looked > 2*n {
		t.Errorf("%d are left, looked at %d", len(p.m), looked)
	}
}

// The room of a map goes with what was in it.
func TestPrunedShrinks(t *testing.T) {
	size := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	var p pruned[int, bool]
	before := size()
	for i := range 300_000 {
		*p.get(i, func(b *bool) bool { return *b }) = true
	}
	full := size() - before
	for i := range p.m {
		*p.m[i] = false
	}
	for i := 300_000; len(p.m) > pruneFrom; i++ {
		p.get(i, func(b *bool) bool { return *b })
	}
	if left := size() - before; left > full/100 {
		t.Errorf("%d bytes of %d are left", left, full)
	}
	runtime.KeepAlive(p.m)
}

// Versions that are read once leave nothing behind.
func TestSlotsArePruned(t *testing.T) {
	w := newWorld(t, nil)
	held := w.take(w.at(w.f, 1, "kept"))
	for i := range 20 * pruneFrom {
		w.take(w.at(w.f, 1, fmt.Sprint(i))).Release()
		w.clock.Advance(releaseDelay)
	}
	w.l.mu.Lock()
	slots, places, live := len(w.l.mu.slots.m), len(w.l.mu.places.m), len(w.l.mu.live)
	w.l.mu.Unlock()
	if slots > pruneFrom || places > pruneFrom || live != 1 {
		t.Errorf("%d slots, %d places, %d tags", slots, places, live)
	}
	if same := w.take(w.at(w.f, 1, "kept")); same.Tag() == held.Tag() {
		t.Error("the window is over, and the tag was used again")
	}
}

// A slot that a reader has taken survives, though no tag is there yet: the next reader
// of the version finds the same one.
func TestPruneSparesTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		until := make(chan struct{})
		first := faultstore.Nth(0, faultstore.On(faultstore.Before, faultstore.Publish, ""), faultstore.Freeze(until))
		w := newWorld(t, first)
		v := w.open(0)
		all := w.crowd(t.Context(), 1, v)
		synctest.Wait()
		for i := range 3 * pruneFrom {
			w.take(w.at(w.s, 1, fmt.Sprint(i))).Release()
			w.clock.Advance(releaseDelay)
		}
		more := w.crowd(t.Context(), 5, v)
		synctest.Wait()
		// Each of them keeps it, also between one's failure and the next one's attempt.
		takers := func() int {
			w.l.mu.Lock()
			defer w.l.mu.Unlock()
			return w.l.mu.slots.m[key{v.Location, v.Table.Version(), v.Table.Ref().Token}].takers
		}
		if got := takers(); got != 6 || (&slot{takers: 1}).used() == (&slot{}).used() {
			t.Errorf("%d readers keep the slot", got)
		}
		defer func() {
			if got := takers(); got != 0 {
				t.Errorf("%d readers keep the slot in the end", got)
			}
		}()
		close(until)
		leader := <-all
		for range 5 {
			if o := <-more; o.err != nil || o.le.Tag() != leader.le.Tag() {
				t.Errorf("%+v, and the first %+v", o, leader)
			}
		}
	})
}
