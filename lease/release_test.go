package lease

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
	"github.com/seaweedfs/seaweed-lance/internal/objects/faultstore"
	"github.com/seaweedfs/seaweed-lance/internal/pin"
)

// A removal that fails is tried again, then left to the reaper.
func TestReleaseFails(t *testing.T) {
	for _, c := range []struct {
		name   string
		fault  faultstore.Action
		fails  int
		tries  int
		remain bool
	}{
		{"once", faultstore.Fail(errBoom), 1, 2, false},
		{"answer lost", faultstore.Lose(), 1, 2, false},
		{"almost too often", faultstore.Fail(errBoom), releaseTries - 1, releaseTries, false},
		{"too often", faultstore.Fail(errBoom), releaseTries, releaseTries, true},
		{"denied", faultstore.Fail(objects.ErrDenied), 1, 1, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			var mu sync.Mutex
			n := 0
			var w *world
			wait, last := releaseDelay, time.Time{}
			w = newWorld(t, func(call faultstore.Call) faultstore.Action {
				if call.Op != faultstore.Delete || call.Phase != faultstore.Before {
					return faultstore.Pass
				}
				mu.Lock() // removals at the end are done side by side
				defer mu.Unlock()
				now := w.clock.Now()
				if gap := now.Sub(last); n > 0 && n < c.tries && gap != wait {
					t.Errorf("%v between two tries, want %v", gap, wait)
				}
				last, wait = now, 2*wait
				if n++; n <= c.fails {
					return c.fault
				}
				return faultstore.Pass
			})
			v := w.open(0)
			le := w.take(v)
			le.Release()
			w.clock.Advance(releaseDelay)
			// It may be gone: it is given to nobody any more.
			other := w.take(v)
			if other.Tag() == le.Tag() {
				t.Error("a tag was used that is being removed")
			}
			w.clock.Advance(11 * time.Minute)
			if n != c.tries {
				t.Errorf("%d tries, want %d", n, c.tries)
			}
			want := []string{other.Tag()}
			if c.remain {
				want = append(want, le.Tag())
			}
			w.wantTags("after some time", want...)
			if !c.remain {
				return
			}
			w.wantStats("after some time", Stats{Taken: 2, Held: 1})
			w.clock.Advance(ownTTL)
			third := w.take(v)
			w.wantTags("reaped", other.Tag(), third.Tag())
			w.wantStats("reaped", Stats{Taken: 3, Held: 2, Reaped: 1})
			other.Release()
			third.Release()
			says(t, w.l.Close(t.Context()), "1 tags could not be removed")
		})
	}
}

// With no clock given, the system's is used.
func TestDefaultClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.l = New(Options{})
		le := w.take(w.open(0))
		le.Release()
		begin := time.Now()
		w.wantTags("at once", le.Tag())
		time.Sleep(releaseDelay - 1) // the bubble's time
		synctest.Wait()
		w.wantTags("before", le.Tag())
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		w.wantTags("after")
		if n, ok := pin.ParseTag(le.Tag()); !ok || !n.Since.Equal(begin.Truncate(time.Second)) {
			t.Errorf("%s: %+v", le.Tag(), n)
		}
	})
}
