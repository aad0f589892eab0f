package faultstore

import (
	"context"
	"fmt"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// Action is what a hook wants done with a call.
type Action struct {
	kind  kind
	err   error
	until <-chan struct{}
	count int
}

type kind int

const (
	pass kind = iota
	fail
	lose
	stall
	freeze
	delay
	short
	die
)

// Pass lets the call go on as if nothing were there.
var Pass = Action{}

// Fail makes the call return err. In phase After it has been done
// nevertheless, which only fits errors that say so.
func Fail(err error) Action { return Action{kind: fail, err: err} }

// Lose loses the call (Before) or its answer (After). The caller gets
// objects.ErrUnknown where a name may have changed, else ErrLost.
func Lose() Action { return Action{kind: lose} }

// Stall holds the call up until the channel is closed or the call's context
// ends; then the outcome of a call that changes a name is unknown. Calls
// without a context wait for the channel alone.
func Stall(until <-chan struct{}) Action { return Action{kind: stall, until: until} }

// Freeze holds the call up until the channel is closed, whatever becomes of
// its context: a process that is stopped does not notice.
func Freeze(until <-chan struct{}) Action { return Action{kind: freeze, until: until} }

// Delay makes a call that changes a name return objects.ErrUnknown at once and
// happen in Store.Land, if ever. In phase After, and for other calls, it is Lose.
func Delay() Action { return Action{kind: delay} }

// Short makes a listing return its first n entries together with err, to find
// callers that use what came with an error. It is for phase After; elsewhere,
// and for other calls, it is Fail.
func Short(n int, err error) Action { return Action{kind: short, err: err, count: n} }

// Die kills the store: this call and all later ones return ErrDead. In phase
// Before it is not done, in phase After it is.
func Die() Action { return Action{kind: die} }

// fate is what became of a call.
type fate int

const (
	undone  fate = iota // the inner store has not seen it and never will
	pending             // it waits for Land
	done                // the inner store returned
)

// call takes one call through the hook to the inner store, which is do. land
// is how a delayed one happens, nil where that makes no sense. The error is the
// caller's; with one, the fate tells what it does not.
func (s *Store) call(ctx context.Context, c Call, do func() error, land func(context.Context) error) (fate, error) {
	s.mu.Lock()
	c.N, c.Phase = len(s.mu.calls), Before
	if s.Dead() {
		s.mu.Unlock()
		return undone, refusal(c, ErrDead)
	}
	s.mu.calls = append(s.mu.calls, c)
	s.mu.Unlock()

	a := s.hook(c)
	if a.kind == delay && land != nil {
		s.mu.Lock()
		s.mu.pending = append(s.mu.pending, land)
		s.mu.Unlock()
		return pending, refusal(c, objects.ErrUnknown)
	}
	if err := s.act(ctx, c, a); err != nil {
		return undone, err
	}
	c.Phase, c.Err = After, do()
	if err := s.act(ctx, c, s.hook(c)); err != nil {
		return done, err
	}
	return done, c.Err
}

// act does what the hook wants. An error ends the call.
func (s *Store) act(ctx context.Context, c Call, a Action) error {
	switch a.kind {
	case fail:
		return refusal(c, a.err)
	case short:
		return refusal(c, &cut{a.count, a.err})
	case lose, delay:
		if c.Op.changes() {
			return refusal(c, objects.ErrUnknown)
		}
		return refusal(c, ErrLost)
	case die:
		s.Kill()
	case stall:
		if err := s.hold(ctx, a.until); err != nil && c.Op.changes() {
			return refusal(c, fmt.Errorf("%w: %w", objects.ErrUnknown, err))
		} else if err != nil {
			return refusal(c, err)
		}
	case freeze:
		// Without a context that could end, hold returns no error.
		_ = s.hold(context.Background(), a.until)
	}
	if s.Dead() {
		return refusal(c, ErrDead)
	}
	return nil
}

// hold waits for the channel, the end of the context, or the store's.
func (s *Store) hold(ctx context.Context, until <-chan struct{}) error {
	select {
	case <-until: // first of all, so that what was released does not depend on luck
		return nil
	default:
	}
	select {
	case <-until:
	case <-s.dead:
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// cut is the error of a listing that ends early.
type cut struct {
	count int
	err   error
}

func (c *cut) Error() string { return c.err.Error() }
func (c *cut) Unwrap() error { return c.err }

func refusal(c Call, err error) error {
	return fmt.Errorf("%s %s: %w", c.Op, c.Name, err)
}
