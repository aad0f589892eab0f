// Package faultstore breaks a store on purpose, for tests.
//
// A Store wraps another and asks a Hook about every call twice: before it
// reaches the inner store, and after it has been done but before the caller
// learns of it. The hook answers with an Action: let it pass, fail it, lose it or its
// answer, hold it up, let it happen later than its answer, or kill the process
// that makes it. Hooks for the usual faults are in this package; Chain puts
// several together, and Points goes through every moment of a run:
//
//	for p := range faultstore.Points() {
//		table := fresh(t)
//		err := run(faultstore.New(table, p.Hook(faultstore.Die())))
//		check(t, table, err)
//	}
//
// Faults are those that the contract of objects.Store allows: this package
// stands where a store's own resending has ended. A killed store does nothing
// any more, not even tidy up: what the inner store keeps of unfinished writers
// stays, as after SIGKILL.
//
// The store makes no goroutines: nothing happens but within a call and in Land.
// All methods may be called from many goroutines at once; the hook is then too.
package faultstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

var (
	// ErrDead is what every call gets once the store was killed.
	ErrDead = errors.New("killed by the test")

	// ErrThrottled is the error of Throttle.
	ErrThrottled = errors.New("slow down")

	// ErrLost is what a call gets whose answer was lost and that changes no
	// name. For those that do it is objects.ErrUnknown.
	ErrLost = errors.New("connection lost")
)

// Op is the kind of a call.
type Op string

// The methods of objects.Store, Reader and Writer. Closing a reader is no
// call, nor is an Abort after the writer has ended.
const (
	Open    Op = "open"
	Create  Op = "create"
	Publish Op = "publish"
	Replace Op = "replace"
	Delete  Op = "delete"
	List    Op = "list"
	Read    Op = "read"  // Reader.ReadAt
	Write   Op = "write" // Writer.Write
	Copy    Op = "copy"  // RangeCopier.CopyRange
	Finish  Op = "finish"
	Abort   Op = "abort"
)

// changes tells that calls of this kind make, replace or remove a name.
func (o Op) changes() bool {
	return o == Publish || o == Replace || o == Delete || o == Finish
}

// Phase is when a hook is asked.
type Phase string

const (
	// Before: nothing has been done yet.
	Before Phase = "before"
	// After: the inner store has done it, or failed; the caller doesn't know.
	After Phase = "after"
)

// Call describes a call to a hook.
type Call struct {
	// N counts the calls of the store from 0 on.
	N  int
	Op Op
	// Name of the object, or the directory of a listing.
	Name string
	// From is the lower bound of a listing.
	From string
	// Size is how many bytes a read, write, copy, publish or replace is about,
	// or the limit of a listing.
	Size  int64
	Phase Phase
	// Err is what the inner store returned; set in phase After.
	Err error
}

// String is one line for a test's log.
func (c Call) String() string { return fmt.Sprintf("#%d %s %s %s", c.N, c.Phase, c.Op, c.Name) }

// Hook decides about a call, in each phase.
type Hook func(Call) Action

// Store wraps another one.
type Store struct {
	inner objects.Store
	hook  Hook

	// dead is closed by Kill.
	dead chan struct{}
	kill sync.Once

	mu struct {
		sync.Mutex
		calls   []Call // as they were in phase Before
		pending []func(context.Context) error
	}
}

var (
	_ objects.Store      = (*Store)(nil)
	_ objects.ListOpener = (*Store)(nil)
)

// New wraps inner. A nil hook lets everything pass.
func New(inner objects.Store, hook Hook) *Store {
	if hook == nil {
		hook = func(Call) Action { return Pass }
	}
	return &Store{inner: inner, hook: hook, dead: make(chan struct{})}
}

// Calls returns what was called so far, in order.
func (s *Store) Calls() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.mu.calls)
}

// Count is how many calls of the given kinds there were, of all kinds if none is given.
func (s *Store) Count(ops ...Op) int {
	n := 0
	for _, c := range s.Calls() {
		if len(ops) == 0 || slices.Contains(ops, c.Op) {
			n++
		}
	}
	return n
}

// Kill is a Die between two calls. Calls that are held up end.
func (s *Store) Kill() { s.kill.Do(func() { close(s.dead) }) }

// Dead tells that the store was killed.
func (s *Store) Dead() bool {
	select {
	case <-s.dead:
		return true
	default:
		return false
	}
}

// Land lets all delayed calls happen, in their order and even if the store is
// dead, and returns how each of them ended.
func (s *Store) Land(ctx context.Context) []error {
	s.mu.Lock()
	pending := s.mu.pending
	s.mu.pending = nil
	s.mu.Unlock()
	var ends []error
	for _, land := range pending {
		ends = append(ends, land(ctx))
	}
	return ends
}
