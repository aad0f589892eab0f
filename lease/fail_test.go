package lease

import (
	"context"
	"errors"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
	"github.com/seaweedfs/seaweed-lance/internal/objects/faultstore"
	"github.com/seaweedfs/seaweed-lance/internal/pin"
)

// withToken is a version whose manifest object was another one.
func withToken(t *testing.T, v pin.Version, token string) pin.Version {
	t.Helper()
	ref := v.Table.Ref()
	b, _, err := objects.ReadAll(t.Context(), v.Table.Store(), ref.Name, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	ref.Token = token
	if v.Table, err = table.Decode(v.Table.Store(), ref, v.Table.Naming(), b); err != nil {
		t.Fatal(err)
	}
	return v
}

var errBoom = errors.New("boom")

// crowd starts n calls of Take that end in the order of the channel.
func (w *world) crowd(ctx context.Context, n int, v pin.Version) chan outcome {
	ch := make(chan outcome, n)
	for range n {
		go func() {
			le, err := w.l.pin(ctx, v)
			ch <- outcome{le, err}
		}()
	}
	return ch
}

type outcome struct {
	le  *Lease
	err error
}

// The first reader leaves while the tag is being made: it strands nobody.
func TestLeaderCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		until := make(chan struct{})
		w := newWorld(t, faultstore.When(faultstore.On(faultstore.Before, faultstore.Publish, ""), faultstore.Stall(until)))
		v := w.open(0)
		ctx, cancel := context.WithCancel(t.Context())
		leader := w.crowd(ctx, 1, v)
		synctest.Wait()
		others := w.crowd(t.Context(), 10, v)
		impatient, leave := context.WithCancel(t.Context())
		left := w.crowd(impatient, 1, v)
		synctest.Wait()
		cancel()
		leave()
		for _, ch := range []chan outcome{leader, left} {
			if o := <-ch; !errors.Is(o.err, context.Canceled) {
				t.Errorf("cancelled: %v", o.err)
			}
		}
		close(until)
		tag := ""
		for range 10 {
			o := <-others
			if o.err != nil {
				t.Fatal(o.err)
			}
			tag = o.le.Tag()
			o.le.Release()
		}
		w.wantTags("held", tag)
		w.clock.Advance(releaseDelay)
		w.wantTags("after")
		w.wantStats("after", Stats{Taken: 1, Shared: 10})
	})
}

// Nobody waits any more for the tag when it has been made.
func TestAllCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		until := make(chan struct{})
		w := newWorld(t, faultstore.When(faultstore.On(faultstore.Before, faultstore.Publish, ""), faultstore.Stall(until)))
		ctx, cancel := context.WithCancel(t.Context())
		all := w.crowd(ctx, 5, w.open(0))
		synctest.Wait()
		cancel()
		for range 5 {
			if o := <-all; !errors.Is(o.err, context.Canceled) {
				t.Errorf("%v", o.err)
			}
		}
		close(until)
		synctest.Wait()
		if n := len(w.tags()); n != 2 {
			t.Errorf("%d tags", n)
		}
		w.clock.Advance(releaseDelay)
		w.wantTags("after")
	})
}

func TestCancelledBefore(t *testing.T) {
	w := newWorld(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.l.pin(ctx, w.open(0)); !errors.Is(err, context.Canceled) || w.f.Count() != 0 {
		t.Errorf("error %v, %d calls", err, w.f.Count())
	}
}

// A store that hangs holds a reader up for a while, not for ever.
func TestStoreHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, faultstore.When(faultstore.On(faultstore.Before, faultstore.Publish, ""), faultstore.Stall(nil)))
		begin := time.Now()
		_, err := w.l.pin(t.Context(), w.open(0))
		if took := time.Since(begin); !errors.Is(err, objects.ErrUnknown) || took != takeTimeout {
			t.Errorf("after %v: %v", took, err)
		}
	})
}

func TestDenied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		until := make(chan struct{})
		w := newWorld(t, faultstore.Chain(
			faultstore.When(func(c faultstore.Call) bool {
				select {
				case <-until:
					return false
				default:
					return c.Op == faultstore.List
				}
			}, faultstore.Freeze(until)),
			faultstore.Deny(faultstore.Publish, faultstore.Delete)))
		all := w.crowd(t.Context(), 10, w.open(0))
		synctest.Wait() // all wait for one
		close(until)
		for range 10 {
			o := <-all
			if o.err != nil || o.le.Pinned() || o.le.Tag() != "" {
				t.Fatalf("%+v", o)
			}
			o.le.Release()
		}
		// It is remembered for the table, whatever the version.
		w.clock.Advance(reuseWindow - 1)
		for _, v := range []uint64{0, 1, 2} {
			w.take(w.open(v)).Release()
		}
		if got := w.f.Count(faultstore.Publish); got != 1 {
			t.Errorf("%d attempts", got)
		}
		w.wantStats("denied", Stats{Denied: 13})
		w.clock.Advance(1)
		w.take(w.open(1))
		if got := w.f.Count(faultstore.Publish); got != 2 {
			t.Errorf("%d attempts after the window", got)
		}
		// Another table is another matter.
		if _, err := w.l.pin(t.Context(), w.at(w.s, 1, "elsewhere")); err != nil || w.l.Stats().Taken != 1 {
			t.Errorf("%v, %+v", err, w.l.Stats())
		}
	})
}

// A directory that can't be written to denies.
func TestDeniedDirectory(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may write everywhere")
	}
	w := newWorld(t, nil)
	v := w.open(0)
	if err := os.Chmod(w.s.String(), 0o555); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(w.s.String(), 0o777)
	if le := w.take(v); le.Pinned() {
		t.Errorf("pinned by %s", le.Tag())
	}
}

// A failure belongs to the reader that met it; the next one tries itself.
func TestFailureIsNotKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		until := make(chan struct{})
		match := faultstore.On(faultstore.Before, faultstore.Publish, "")
		stall := faultstore.Nth(0, faultstore.On(faultstore.Before, faultstore.List, ""), faultstore.Freeze(until))
		w := newWorld(t, faultstore.Chain(stall, faultstore.Nth(0, match, faultstore.Fail(errBoom)), faultstore.Nth(0, match, faultstore.Fail(errBoom))))
		all := w.crowd(t.Context(), 10, w.open(0))
		synctest.Wait()
		close(until)
		failed, tag := 0, ""
		for range 10 {
			switch o := <-all; {
			case errors.Is(o.err, errBoom):
				failed++
			case o.err != nil:
				t.Error(o.err)
			default:
				tag = o.le.Tag()
			}
		}
		// Each of two attempts failed for one reader; the third served the others.
		if failed != 2 || w.f.Count(faultstore.Publish) != 3 {
			t.Errorf("%d failed, %d attempts", failed, w.f.Count(faultstore.Publish))
		}
		w.wantTags("held", tag)
		w.wantStats("held", Stats{Taken: 1, Shared: 7, Held: 1})
	})
}

// A reader that leaves in the moment in which the tag is there gives its part back.
func TestCancelledTooLate(t *testing.T) {
	w := newWorld(t, nil)
	le := w.take(w.open(0))
	f := &flight{done: make(chan struct{}), ended: true, held: le.held}
	close(f.done)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	w.l.mu.Lock()
	err := w.l.wait(ctx, f) // for the part that le has
	w.l.mu.Unlock()
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	w.wantTags("at once", le.Tag())
	w.clock.Advance(releaseDelay)
	w.wantTags("later")
}
