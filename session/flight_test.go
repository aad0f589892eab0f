package session

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/seaweedfs/seaweed-lance/internal/objects/faultstore"
)

// heldUp is a world whose listings wait.
func heldUp(t *testing.T) (*world, *Session, func()) {
	w := newWorld(t)
	w.put("types_22", 0)
	until := make(chan struct{})
	var h faultstore.Hook = func(c faultstore.Call) faultstore.Action {
		if c.Op == faultstore.List && c.Phase == faultstore.Before {
			return faultstore.Stall(until)
		}
		return faultstore.Pass
	}
	w.hook.Store(&h)
	return w, newSession(t, Options{}), sync.OnceFunc(func() { close(until) })
}

// Opens at the same time cost what one does.
func TestSingleFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, s, release := heldUp(t)
		const callers = 100
		var wg sync.WaitGroup
		got := make([]*Table, callers)
		errs := make([]error, callers)
		for i := range callers {
			wg.Go(func() { got[i], errs[i] = s.Open(context.Background(), w.location()) })
		}
		synctest.Wait()
		release()
		wg.Wait()
		for i := range callers {
			if errs[i] != nil || got[i].Version() != 3 {
				t.Fatalf("caller %d: %v, error %v", i, got[i], errs[i])
			}
		}
		if c := w.calls(); c != [3]int64{1, 1, 1} {
			t.Errorf("%d callers made calls %v", callers, c)
		}
		if x := s.Stats(); x.Shared != callers-1 || x.Opens != 1 {
			t.Errorf("%+v", x)
		}
	})
}

// The first caller gives up: the others get the table.
func TestFirstCallerLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, s, release := heldUp(t)
		ctx, cancel := context.WithCancel(context.Background())
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := s.Open(ctx, w.location()); !errors.Is(err, context.Canceled) {
				t.Errorf("the first caller's error %v", err)
			}
		})
		synctest.Wait()
		wg.Go(func() {
			if tab, err := s.Open(context.Background(), w.location()); err != nil || tab.Version() != 3 {
				t.Errorf("the second caller's %v, error %v", tab, err)
			}
		})
		synctest.Wait()
		cancel()
		synctest.Wait()
		release()
		wg.Wait()
		if c := w.calls(); c != [3]int64{1, 1, 1} {
			t.Errorf("calls %v", c)
		}
	})
}

// All callers give up: the work ends, and who comes later begins anew.
func TestAllCallersLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, s, release := heldUp(t)
		ctx, cancel := context.WithCancel(context.Background())
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				if _, err := s.Open(ctx, w.location()); !errors.Is(err, context.Canceled) {
					t.Errorf("error %v", err)
				}
			})
		}
		synctest.Wait()
		cancel()
		wg.Wait()
		synctest.Wait() // nothing of it runs any more, though the store was never released
		release()
		if tab, err := s.Open(context.Background(), w.location()); err != nil || tab.Version() != 3 {
			t.Errorf("%v, error %v", tab, err)
		}
		if c := w.calls(); c != [3]int64{2, 1, 1} {
			t.Errorf("calls %v", c)
		}
	})
}

// A failure is not kept, and goes to all who waited for it.
func TestFailureIsShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		no := errors.New("no")
		var f flights[string, int]
		until := make(chan struct{})
		var wg sync.WaitGroup
		for range 5 {
			wg.Go(func() {
				_, _, err := f.do(context.Background(), "k", func(context.Context) (int, error) {
					<-until
					return 0, no
				})
				if !errors.Is(err, no) {
					t.Errorf("error %v", err)
				}
			})
		}
		synctest.Wait()
		close(until)
		wg.Wait()
		v, shared, err := f.do(context.Background(), "k", func(context.Context) (int, error) { return 7, nil })
		if v != 7 || shared || err != nil {
			t.Errorf("%d, shared %v, error %v", v, shared, err)
		}
		f.close()
		if v, shared, err := f.do(context.Background(), "k", func(context.Context) (int, error) { return 8, nil }); v != 8 || shared || err != nil {
			t.Errorf("after close: %d, shared %v, error %v", v, shared, err)
		}
	})
}

// Who reads a file's metadata for others may give up; the reader is closed by the last.
func TestMetadataIsReadForOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.put("types_22", 1)
		s := newSession(t, Options{})
		tab := open(t, s, w.location())
		until := make(chan struct{})
		var h faultstore.Hook = func(c faultstore.Call) faultstore.Action {
			if c.Op == faultstore.Read && c.Phase == faultstore.Before {
				return faultstore.Stall(until)
			}
			return faultstore.Pass
		}
		w.hook.Store(&h)
		w.calls()
		name := "data/" + tab.t.Fragments()[0].GetFiles()[0].GetPath()
		ctx, cancel := context.WithCancel(context.Background())
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := tab.openFile(ctx, tab.t.Store(), name); !errors.Is(err, context.Canceled) {
				t.Errorf("the first one's error %v", err)
			}
		})
		synctest.Wait()
		for range 10 {
			wg.Go(func() {
				f, err := tab.openFile(context.Background(), tab.t.Store(), name)
				if err != nil {
					t.Error(err)
					return
				}
				if err := f.Reader.ReadAt(context.Background(), make([]byte, 4), 0); err != nil {
					t.Errorf("a shared file's own reader: %v", err)
				}
				if err := f.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		cancel()
		synctest.Wait()
		close(until)
		wg.Wait()
		if c := w.calls(); c[1] != 11 || c[2] != 1+10 {
			t.Errorf("calls %v", c)
		}
	})
}
