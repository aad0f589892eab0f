package faultstore_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
	"github.com/seaweedfs/seaweed-lance/internal/objects/faultstore"
)

// change is a call that changes a name, and what there is after it.
var changes = []struct {
	op      faultstore.Op
	call    func(context.Context, objects.Store) error
	applied string
	// undone is what there is when the call was not done. A killed writer leaves its file.
	undone, killed string
}{
	{faultstore.Publish, func(ctx context.Context, s objects.Store) error {
		content := []byte("1")
		err := s.Publish(ctx, "d/new", content)
		content[0] = 'X' // ours again: a delayed call must have its own
		return err
	}, "new=1 old=0", "old=0", "old=0"},
	{faultstore.Replace, func(ctx context.Context, s objects.Store) error {
		content := []byte("1")
		err := s.Replace(ctx, "d/old", content)
		content[0] = 'X'
		return err
	}, "old=1", "old=0", "old=0"},
	{faultstore.Delete, func(ctx context.Context, s objects.Store) error {
		return s.Delete(ctx, "d/old")
	}, "", "old=0", "old=0"},
	{faultstore.Finish, func(ctx context.Context, s objects.Store) error {
		w, err := s.Create(ctx, "d/new")
		if err != nil {
			return err
		}
		defer w.Abort()
		if _, err := w.Write([]byte("1")); err != nil {
			return err
		}
		_, err = w.Finish(ctx)
		return err
	}, "new=1 old=0", "old=0", ".tmp old=0"},
}

func TestActionsOnChanges(t *testing.T) {
	boom := errors.New("boom")
	for _, c := range changes {
		for _, a := range []struct {
			name   string
			phase  faultstore.Phase
			action faultstore.Action
			err    error
			state  string
		}{
			{"pass", faultstore.Before, faultstore.Pass, nil, c.applied},
			{"fail", faultstore.Before, faultstore.Fail(boom), boom, c.undone},
			{"fail", faultstore.After, faultstore.Fail(boom), boom, c.applied},
			{"lose", faultstore.Before, faultstore.Lose(), objects.ErrUnknown, c.undone},
			{"lose", faultstore.After, faultstore.Lose(), objects.ErrUnknown, c.applied},
			{"delay", faultstore.After, faultstore.Delay(), objects.ErrUnknown, c.applied},
			{"short", faultstore.Before, faultstore.Short(1, boom), boom, c.undone},
			{"die", faultstore.Before, faultstore.Die(), faultstore.ErrDead, c.killed},
			{"die", faultstore.After, faultstore.Die(), faultstore.ErrDead, c.applied},
		} {
			t.Run(fmt.Sprint(c.op, " ", a.name, " ", a.phase), func(t *testing.T) {
				in := inner(t)
				seed(t, in, "d/old", "0")
				s := faultstore.New(in, faultstore.When(faultstore.On(a.phase, c.op, ""), a.action))
				if err := c.call(t.Context(), s); !errors.Is(err, a.err) {
					t.Errorf("got %v, want %v", err, a.err)
				}
				if got := state(t, in); got != a.state {
					t.Errorf("the inner store holds %q, want %q", got, a.state)
				}
				if got := s.Land(t.Context()); len(got) != 0 {
					t.Errorf("something landed: %v", got)
				}
			})
		}
	}
}

// A delayed call happens at Land, even after the death of its process.
func TestDelay(t *testing.T) {
	for _, c := range changes {
		for _, killed := range []bool{false, true} {
			t.Run(fmt.Sprint(c.op, " killed ", killed), func(t *testing.T) {
				in := inner(t)
				seed(t, in, "d/old", "0")
				s := faultstore.New(in, faultstore.When(faultstore.On(faultstore.Before, c.op, ""), faultstore.Delay()))
				if err := c.call(t.Context(), s); !errors.Is(err, objects.ErrUnknown) {
					t.Errorf("got %v, want ErrUnknown", err)
				}
				if got := state(t, in); got != c.killed {
					t.Errorf("before it lands: %q, want %q", got, c.killed)
				}
				if killed {
					s.Kill()
				}
				if got := s.Land(t.Context()); len(got) != 1 || got[0] != nil {
					t.Errorf("landed with %v", got)
				}
				if got := state(t, in); got != c.applied {
					t.Errorf("after it landed: %q, want %q", got, c.applied)
				}
				if got := s.Land(t.Context()); len(got) != 0 {
					t.Errorf("it landed twice: %v", got)
				}
			})
		}
	}
}

// A delayed create that comes too late loses, like any other.
func TestDelayedLoses(t *testing.T) {
	in := inner(t)
	s := faultstore.New(in, faultstore.Nth(0, faultstore.On(faultstore.Before, faultstore.Publish, ""), faultstore.Delay()))
	if err := s.Publish(t.Context(), "d/x", []byte("late")); !errors.Is(err, objects.ErrUnknown) {
		t.Fatal(err)
	}
	seed(t, s, "d/x", "first")
	if got := s.Land(t.Context()); len(got) != 1 || !errors.Is(got[0], objects.ErrExists) {
		t.Errorf("landed with %v, want ErrExists", got)
	}
	if got := state(t, in); got != "x=first" {
		t.Errorf("holds %q", got)
	}
}

// Calls that change no name: what a fault makes of them.
func TestActionsOnOthers(t *testing.T) {
	boom := errors.New("boom")
	calls := map[faultstore.Op]func(context.Context, objects.Store) error{
		faultstore.Open: func(ctx context.Context, s objects.Store) error {
			_, err := s.Open(ctx, "d/old")
			return err
		},
		faultstore.Read: func(ctx context.Context, s objects.Store) error {
			r, err := s.Open(ctx, "d/old")
			if err != nil {
				return err
			}
			return errors.Join(r.ReadAt(ctx, make([]byte, 1), 0), r.Close())
		},
		faultstore.List: func(ctx context.Context, s objects.Store) error {
			_, err := s.List(ctx, "d", "", 1)
			return err
		},
		faultstore.Create: func(ctx context.Context, s objects.Store) error {
			_, err := s.Create(ctx, "d/new")
			return err
		},
		faultstore.Write: func(ctx context.Context, s objects.Store) error {
			w, err := s.Create(ctx, "d/new")
			if err != nil {
				return err
			}
			defer w.Abort()
			_, err = w.Write([]byte("1"))
			if _, ferr := w.Finish(ctx); ferr == nil {
				t.Error("finished in spite of a failed Write")
			}
			return err
		},
		faultstore.Copy: func(ctx context.Context, s objects.Store) error {
			r, err := s.Open(ctx, "d/old")
			if err != nil {
				return err
			}
			defer r.Close()
			w, err := s.Create(ctx, "d/new")
			if err != nil {
				return err
			}
			defer w.Abort()
			err = objects.CopyRange(ctx, w, r, 0, 1, nil)
			if _, ferr := w.Finish(ctx); ferr == nil {
				t.Error("finished in spite of a failed CopyRange")
			}
			return err
		},
	}
	for op, call := range calls {
		for _, phase := range []faultstore.Phase{faultstore.Before, faultstore.After} {
			for _, a := range []struct {
				name   string
				action faultstore.Action
				err    error
			}{
				{"fail", faultstore.Fail(boom), boom},
				{"lose", faultstore.Lose(), faultstore.ErrLost},
				{"delay", faultstore.Delay(), faultstore.ErrLost},
				{"die", faultstore.Die(), faultstore.ErrDead},
			} {
				t.Run(fmt.Sprint(op, " ", a.name, " ", phase), func(t *testing.T) {
					in := inner(t)
					seed(t, in, "d/old", "0")
					s := faultstore.New(in, faultstore.When(faultstore.On(phase, op, ""), a.action))
					if err := call(t.Context(), s); !errors.Is(err, a.err) {
						t.Errorf("got %v, want %v", err, a.err)
					}
					want := "old=0"
					if a.name == "die" && (op == faultstore.Write || op == faultstore.Copy || op == faultstore.Create && phase == faultstore.After) {
						want = ".tmp old=0"
					}
					if got := state(t, in); got != want {
						t.Errorf("the inner store holds %q, want %q", got, want)
					}
					if got := s.Land(t.Context()); len(got) != 0 {
						t.Errorf("landed: %v", got)
					}
				})
			}
		}
	}
}

func TestStall(t *testing.T) {
	for _, c := range changes {
		for _, phase := range []faultstore.Phase{faultstore.Before, faultstore.After} {
			in := inner(t)
			seed(t, in, "d/old", "0")
			until := make(chan struct{})
			ctx, cancel := context.WithCancel(t.Context())
			s := faultstore.New(in, faultstore.When(faultstore.On(phase, c.op, ""), faultstore.Stall(until)))
			cancelled := faultstore.New(in, func(call faultstore.Call) faultstore.Action {
				if call.Phase == phase && call.Op == c.op {
					cancel()
					return faultstore.Stall(make(chan struct{}))
				}
				return faultstore.Pass
			})
			err := c.call(ctx, cancelled)
			if !errors.Is(err, objects.ErrUnknown) || !errors.Is(err, context.Canceled) {
				t.Errorf("%s %s, context ended: %v, want ErrUnknown and why", c.op, phase, err)
			}
			if phase == faultstore.After {
				continue
			}
			if got := state(t, in); got != c.undone {
				t.Errorf("%s stalled: %q", c.op, got)
			}
			end := make(chan error)
			go func() { end <- c.call(t.Context(), s) }()
			close(until)
			if err := <-end; err != nil {
				t.Errorf("%s released: %v", c.op, err)
			}
			if got := state(t, in); got != c.applied {
				t.Errorf("%s released: %q", c.op, got)
			}
		}
	}
}

// A stopped process does not notice that its context ended; one that waits for
// an answer does.
func TestFreezeIsDeaf(t *testing.T) {
	in := inner(t)
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			hold func(<-chan struct{}) faultstore.Action
			deaf bool
		}{{faultstore.Freeze, true}, {faultstore.Stall, false}} {
			until := make(chan struct{})
			s := faultstore.New(in, faultstore.When(faultstore.On(faultstore.Before, faultstore.List, ""), c.hold(until)))
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			var ended atomic.Bool
			go func() {
				_, _ = s.List(ctx, "d", "", 1) // either way it ends with the context's error
				ended.Store(true)
			}()
			synctest.Wait()
			if ended.Load() == c.deaf {
				t.Errorf("deaf %v: ended %v", c.deaf, ended.Load())
			}
			close(until)
			synctest.Wait()
			if !ended.Load() {
				t.Error("it does not go on")
			}
		}
	})
}
