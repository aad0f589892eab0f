package lease

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects/faultstore"
)

func TestOneTagForAll(t *testing.T) {
	w := newWorld(t, nil)
	v := w.open(0)
	const n = 200
	leases := make([]*Lease, n)
	var wg sync.WaitGroup
	for i := range leases {
		wg.Go(func() {
			var err error
			if leases[i], err = w.l.pin(t.Context(), v); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if t.Failed() {
		return
	}
	w.wantTags("all hold", leases[0].Tag())
	for _, le := range leases {
		if !le.Pinned() || le.Tag() != leases[0].Tag() {
			t.Errorf("pinned %v by %q", le.Pinned(), le.Tag())
		}
		wg.Go(le.Release)
		wg.Go(le.Release) // a second time changes nothing
	}
	wg.Wait()
	w.wantStats("all released", Stats{Taken: 1, Shared: n - 1, Held: 1})
	if got := w.f.Count(faultstore.Publish); got != 1 {
		t.Errorf("%d tags were made", got)
	}
	w.clock.Advance(releaseDelay)
	w.wantTags("later")
	w.wantStats("later", Stats{Taken: 1, Shared: n - 1})
	if got := w.f.Count(faultstore.Delete); got != 1 || w.clock.set() != 0 {
		t.Errorf("%d removals, %d timers are left", got, w.clock.set())
	}
}

// The tag says what it pins, as Lance reads it.
func TestTagNamesVersion(t *testing.T) {
	w := newWorld(t, nil)
	le := w.take(w.open(3))
	tags, err := table.Tags(t.Context(), w.s)
	if want := []table.Tag{{Name: people, Version: 5}, {Name: le.Tag(), Version: 3}}; err != nil || !slices.Equal(tags, want) {
		t.Errorf("%v, error %v, want %v", tags, err, want)
	}
	if !strings.HasPrefix(le.Tag(), "seaweed-lance-lease_test-") || !strings.Contains(le.Tag(), "_20261130T120000Z_") {
		t.Errorf("tag %s", le.Tag())
	}
}

func TestReuseWindow(t *testing.T) {
	w := newWorld(t, nil)
	v := w.open(0)
	first := w.take(v)
	w.clock.Advance(4*time.Minute + 59*time.Second)
	second := w.take(v)
	w.wantTags("at 4:59", first.Tag())
	w.clock.Advance(time.Second)
	w.take(v).Release()
	w.wantTags("at 5:00", first.Tag())
	w.clock.Advance(time.Second)
	third := w.take(v)
	w.wantTags("at 5:01", first.Tag(), third.Tag())
	w.wantStats("at 5:01", Stats{Taken: 2, Shared: 2, Held: 2})
	// The old one stays as long as its own readers need it.
	first.Release()
	w.clock.Advance(time.Minute)
	w.wantTags("one of two done", first.Tag(), third.Tag())
	second.Release()
	third.Release()
	w.clock.Advance(releaseDelay - 1)
	w.wantTags("just before", first.Tag(), third.Tag())
	w.clock.Advance(1)
	w.wantTags("all done")
}

// However busy a version is, it gets one tag per five minutes.
func TestBusyVersion(t *testing.T) {
	w := newWorld(t, nil)
	v := w.open(0)
	for range 60 * 60 {
		w.take(v).Release()
		w.clock.Advance(time.Second)
	}
	// A tag is used up to the second of its 5 minutes, so each lasts 301 s.
	if got := w.f.Count(faultstore.Publish); got != 12 {
		t.Errorf("%d tags in an hour", got)
	}
	w.clock.Advance(releaseDelay)
	w.wantTags("after")
}

func TestReleaseDelay(t *testing.T) {
	w := newWorld(t, nil)
	v := w.open(0)
	le := w.take(v)
	le.Release()
	w.clock.Advance(releaseDelay - 1)
	w.wantTags("before", le.Tag())
	// Each use begins the delay anew, and it counts from the end of the use.
	again := w.take(v)
	w.clock.Advance(time.Hour)
	w.wantTags("held", le.Tag())
	again.Release()
	w.clock.Advance(releaseDelay - 1)
	w.wantTags("after the last use", le.Tag())
	w.clock.Advance(1)
	w.wantTags("at the end")
	if next := w.take(v); next.Tag() == le.Tag() {
		t.Error("a name was used twice")
	}
}

// A timer that fires although it was stopped too late takes nothing from a new user.
func TestLateTimer(t *testing.T) {
	w := newWorld(t, nil)
	v := w.open(0)
	le := w.take(v)
	le.Release()
	late := w.clock.next(w.clock.Now().Add(releaseDelay)) // it is due, and waits for the lock
	again := w.take(v)
	late.f()
	w.wantTags("while used again", le.Tag())
	again.Release()
	late.f()
	w.wantTags("idle again", le.Tag())
	w.clock.Advance(releaseDelay)
	w.wantTags("at the end")
}

// A timer that fires while all is being closed removes nothing a second time.
func TestLateTimerAtClose(t *testing.T) {
	w := newWorld(t, nil)
	w.take(w.open(0)).Release()
	late := w.clock.next(w.clock.Now().Add(releaseDelay))
	if err := w.l.Close(t.Context()); err != nil {
		t.Error(err)
	}
	late.f()
	if got := w.f.Count(faultstore.Delete); got != 1 {
		t.Errorf("%d removals", got)
	}
}

func TestKeys(t *testing.T) {
	w := newWorld(t, nil)
	path := w.s.String()
	one := w.take(w.at(w.f, 1, path))
	two := w.take(w.at(w.f, 2, path))
	elsewhere := w.take(w.at(w.f, 1, "elsewhere"))
	same := w.take(w.at(w.f, 1, path))
	w.wantTags("all", one.Tag(), two.Tag(), elsewhere.Tag())
	if same.Tag() != one.Tag() {
		t.Errorf("%s and %s for one version", same.Tag(), one.Tag())
	}
	// A version whose ETag is not known.
	none := w.take(withToken(t, w.at(w.f, 1, path), ""))
	w.wantTags("all", one.Tag(), two.Tag(), elsewhere.Tag(), none.Tag())
}
