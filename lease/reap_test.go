package lease

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/seaweedfs/seaweed-lance/internal/objects/faultstore"
	"github.com/seaweedfs/seaweed-lance/internal/pin"
)

func TestReapByAge(t *testing.T) {
	w := newWorld(t, nil)
	const day = 24 * time.Hour
	stay := []string{
		w.older(w.l.holder, time.Hour),
		w.older("other-5f0c91aa", 2*time.Hour),
		w.older("other-5f0c91aa", day),
		w.older("other-5f0c91aa", -2*day), // a clock that is ahead
		// The vector server's, and what looks like it.
		vector("0123456789abcdef0123456789abcdef-", w.clock.Now().Add(-day)),
		vector("", w.clock.Now().Add(-2*time.Hour)),
		"weed-vector-query-mine-1000000000-0123456789abcdef0123456789abcdef",
		// Names of others, whatever they seem to say.
		"seaweed-lance-lease", "seaweed-lance-lease_", "seaweed-lance-lease_mine",
		"seaweed-lance-lease_a_20200101T000000Z_keep", "v1.0_20200101T000000Z_0123456789abcdef",
	}
	for _, tag := range stay {
		w.tag(tag)
	}
	for _, tag := range []string{
		w.older(w.l.holder, time.Hour+time.Second),
		w.older("other-5f0c91aa", day+time.Second),
		w.older("a", 400*day),
		vector("0123456789abcdef0123456789abcdef-", w.clock.Now().Add(-day-1)),
		vector("", w.clock.Now().Add(-day-1)),
	} {
		w.tag(tag)
	}
	le := w.take(w.open(0))
	w.wantTags("after a take", append(stay, le.Tag())...)
	w.wantStats("after a take", Stats{Taken: 1, Reaped: 5, Held: 1})
}

// vector is a tag of the vector server, of an instance and a dash, or of a version that named none.
func vector(instance string, at time.Time) string {
	return fmt.Sprintf("weed-vector-query-%s%d-%032x", instance, at.UnixNano(), at.Unix())
}

// However old, a tag that this process holds is in use.
func TestReapSparesHeld(t *testing.T) {
	w := newWorld(t, nil)
	v := w.open(0)
	old := w.take(v)
	w.clock.Advance(ownTTL + time.Minute)
	second := w.take(v)
	w.wantTags("own", old.Tag(), second.Tag())
	// Another process spares it for a day.
	w.clock.Advance(pin.TTL - ownTTL - time.Minute)
	other := w.process()
	le, err := other.pin(t.Context(), v)
	if err != nil {
		t.Fatal(err)
	}
	w.wantTags("foreign", old.Tag(), second.Tag(), le.Tag())
	w.clock.Advance(time.Hour)
	third, err := other.pin(t.Context(), v)
	if err != nil {
		t.Fatal(err)
	}
	w.wantTags("after a day", second.Tag(), le.Tag(), third.Tag())
	// Its release finds it gone, and that is all right.
	old.Release()
	second.Release()
	w.clock.Advance(releaseDelay)
	w.wantTags("released", le.Tag(), third.Tag())
	if err := w.l.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// A table's tags are looked at once a minute, however many versions are taken.
func TestReapThrottle(t *testing.T) {
	w := newWorld(t, nil)
	for v := uint64(1); v <= 20; v++ {
		w.take(w.open(v))
		w.clock.Advance(3 * time.Second)
	}
	if got := w.f.Count(faultstore.List); got != 1 {
		t.Errorf("%d listings in a minute", got)
	}
	w.take(w.open(21))
	if got := w.f.Count(faultstore.List); got != 2 {
		t.Errorf("%d listings after a minute", got)
	}
	// Each location by itself, and only where a tag is to be made.
	w.take(w.at(w.f, 1, "elsewhere"))
	w.clock.Advance(time.Minute)
	w.take(w.open(21))
	if got := w.f.Count(faultstore.List); got != 3 {
		t.Errorf("%d listings", got)
	}
}

// What goes wrong with others' tags is not the reader's failure.
func TestReapFails(t *testing.T) {
	for _, op := range []faultstore.Op{faultstore.List, faultstore.Delete} {
		broken := true
		w := newWorld(t, func(c faultstore.Call) faultstore.Action {
			if broken && c.Op == op && c.Phase == faultstore.Before {
				return faultstore.Fail(errBoom)
			}
			return faultstore.Pass
		})
		abandoned := w.older("other-5f0c91aa", 48*time.Hour)
		w.tag(abandoned)
		le := w.take(w.open(0))
		w.wantTags("failed", abandoned, le.Tag())
		broken = false
		w.clock.Advance(reapInterval)
		next := w.take(w.open(1))
		w.wantTags("the next time", le.Tag(), next.Tag())
	}
}

// A process is killed with its tags in place: after a day they go.
func TestKilledHolder(t *testing.T) {
	w := newWorld(t, nil)
	v := w.open(0)
	tag := w.take(v).Tag()
	w.f.Kill()
	if _, err := w.l.pin(t.Context(), w.open(1)); !errors.Is(err, faultstore.ErrDead) {
		t.Errorf("error %v", err)
	}
	alive := w.process()
	w.clock.Advance(pin.TTL)
	if _, err := alive.pin(t.Context(), w.at(w.s, 1, w.s.String())); err != nil {
		t.Fatal(err)
	}
	w.clock.Advance(reapInterval)
	le, err := alive.pin(t.Context(), w.at(w.s, 2, w.s.String()))
	if err != nil {
		t.Fatal(err)
	}
	for _, there := range w.tags() {
		if there == tag {
			t.Errorf("%s is still there", tag)
		}
	}
	le.Release()
}
