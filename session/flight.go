package session

import (
	"context"
	"errors"
	"sync"
)

var errAbandoned = errors.New("nobody waits for it any more")

// flights do a thing once for all who want it at the same time. Each waits under a context of
// its own; the work goes on as long as somebody waits.
type flights[K comparable, V any] struct {
	mu     sync.Mutex
	closed bool
	calls  map[K]*flight[V]
	wg     sync.WaitGroup
}

// flight is one call under way. waiters is guarded by flights.mu; value and err are
// set before done is closed.
type flight[V any] struct {
	waiters int
	stop    context.CancelCauseFunc
	done    chan struct{}
	value   V
	err     error
}

// do returns what fn returns, of this call or of one for the same key that is under way. shared
// is false exactly when this call started fn. The context of fn has the values of the first caller's but not its end.
func (f *flights[K, V]) do(ctx context.Context, key K, fn func(context.Context) (V, error)) (v V, shared bool, err error) {
	if ctx.Err() != nil {
		return v, true, context.Cause(ctx)
	}
	f.mu.Lock()
	if f.closed {
		f.mu.Unlock()
		v, err = fn(ctx)
		return v, false, err
	}
	c, shared := f.calls[key]
	if !shared {
		c = f.start(ctx, key, fn)
	}
	c.waiters++
	f.mu.Unlock()
	select {
	case <-c.done:
		return c.value, shared, c.err
	case <-ctx.Done():
		f.leave(key, c)
		return v, shared, context.Cause(ctx)
	}
}

// start begins a call; mu is held.
func (f *flights[K, V]) start(ctx context.Context, key K, fn func(context.Context) (V, error)) *flight[V] {
	inner, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	c := &flight[V]{stop: stop, done: make(chan struct{})}
	if f.calls == nil {
		f.calls = make(map[K]*flight[V])
	}
	f.calls[key] = c
	f.wg.Go(func() {
		defer stop(nil)
		c.value, c.err = fn(inner)
		f.mu.Lock()
		f.end(key, c)
		f.mu.Unlock()
		close(c.done)
	})
	return c
}

// leave takes a waiter away. A call that nobody waits for is stopped, and nobody
// joins it any more.
func (f *flights[K, V]) leave(key K, c *flight[V]) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if c.waiters--; c.waiters == 0 {
		f.end(key, c)
		c.stop(errAbandoned)
	}
}

// end makes room for another call; mu is held.
func (f *flights[K, V]) end(key K, c *flight[V]) {
	if f.calls[key] == c {
		delete(f.calls, key)
	}
}

// close waits until nothing is under way. What is wanted after it each caller does alone.
func (f *flights[K, V]) close() {
	f.mu.Lock()
	f.closed = true
	f.mu.Unlock()
	f.wg.Wait()
}
