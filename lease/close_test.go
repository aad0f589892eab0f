package lease

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
	"github.com/seaweedfs/seaweed-lance/internal/objects/faultstore"
)

// says asserts what an error tells.
func says(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %q in it", err, want)
	}
}

func TestCloseReleasesIdle(t *testing.T) {
	w := newWorld(t, nil)
	for v := uint64(1); v <= 30; v++ {
		w.take(w.open(v)).Release()
	}
	if n := len(w.tags()); n != 31 {
		t.Errorf("%d tags", n)
	}
	for range 2 {
		if err := w.l.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	w.wantTags("closed")
	if _, err := w.l.pin(t.Context(), w.open(1)); !errors.Is(err, ErrClosed) {
		t.Errorf("error %v", err)
	}
	if w.clock.set() != 0 {
		t.Errorf("%d timers are left", w.clock.set())
	}
	w.wantStats("closed", Stats{Taken: 30})
}

func TestCloseWaitsForReaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		v := w.open(0)
		first, second := w.take(v), w.take(v)
		// One whose reuse is over, with a newer one of the same version.
		w.clock.Advance(reuseWindow + 1)
		w.take(v).Release()
		closed := make(chan error)
		go func() { closed <- w.l.Close(context.Background()) }()
		synctest.Wait()
		w.wantTags("one in use", first.Tag())
		first.Release()
		synctest.Wait()
		w.wantTags("one in use by one", first.Tag())
		second.Release()
		if err := <-closed; err != nil {
			t.Error(err)
		}
		w.wantTags("closed")
	})
}

func TestCloseGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		le := w.take(w.open(0))
		w.take(w.open(1)).Release()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err := w.l.Close(ctx)
		says(t, err, "1 tags are still in use")
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
		w.wantTags("given up", le.Tag())
		// A reader that ends later still takes its tag away.
		le.Release()
		synctest.Wait()
		w.wantTags("released")
		if err := w.l.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// A tag that is being made when all is closed goes to those who wait for it, or nobody.
func TestCloseWhileTaking(t *testing.T) {
	for i := range 2 * 3 * 2 {
		waiting := i%2 == 0
		op := []faultstore.Op{faultstore.List, faultstore.Publish, faultstore.Open}[i/2%3]
		phase := []faultstore.Phase{faultstore.Before, faultstore.After}[i/6]
		synctest.Test(t, func(t *testing.T) {
			until := make(chan struct{})
			w := newWorld(t, faultstore.Nth(0, faultstore.On(phase, op, ""), faultstore.Freeze(until)))
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			taking := w.crowd(ctx, 1, w.open(0))
			synctest.Wait()
			if !waiting {
				cancel()
				<-taking
			}
			closed := make(chan error, 1)
			go func() { closed <- w.l.Close(context.Background()) }()
			synctest.Wait()
			if len(closed) > 0 {
				t.Errorf("closed while a tag is being made: %s %s", phase, op)
			}
			close(until)
			if waiting {
				o := <-taking
				if o.err != nil {
					t.Fatal(o.err)
				}
				w.wantTags("held", o.le.Tag())
				o.le.Release()
			}
			if err := <-closed; err != nil {
				t.Error(err)
			}
			w.wantTags("closed")
		})
	}
}

// Closing does not wait for the next try.
func TestCloseHurriesRetries(t *testing.T) {
	w := newWorld(t, faultstore.Nth(0, faultstore.On(faultstore.Before, faultstore.Delete, ""), faultstore.Fail(errBoom)))
	le := w.take(w.open(0))
	le.Release()
	w.clock.Advance(releaseDelay)
	w.wantTags("failed", le.Tag())
	if err := w.l.Close(t.Context()); err != nil {
		t.Error(err)
	}
	w.wantTags("closed")
}

func TestCloseTellsWhatIsLeft(t *testing.T) {
	w := newWorld(t, faultstore.When(faultstore.On(faultstore.Before, faultstore.Delete, ""), faultstore.Fail(errBoom)))
	le := w.take(w.open(0))
	le.Release()
	says(t, w.l.Close(t.Context()), "1 tags could not be removed")
	w.wantTags("closed", le.Tag())
}

// A tag whose making is unclear when all is being closed is not waited for.
func TestCloseWhileUnclear(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		until := make(chan struct{})
		w := newWorld(t, faultstore.Chain(
			faultstore.Nth(0, faultstore.On(faultstore.Before, faultstore.List, ""), faultstore.Freeze(until)),
			faultstore.When(faultstore.On(faultstore.After, faultstore.Publish, ""), faultstore.Lose())))
		taking := w.crowd(t.Context(), 1, w.open(0))
		synctest.Wait()
		closed := make(chan error, 1)
		go func() { closed <- w.l.Close(context.Background()) }()
		synctest.Wait()
		close(until)
		if o := <-taking; !errors.Is(o.err, objects.ErrUnknown) {
			t.Errorf("error %v", o.err)
		}
		if err := <-closed; err != nil || w.clock.set() != 0 {
			t.Errorf("error %v, %d timers", err, w.clock.set())
		}
		w.wantTags("closed")
	})
}
