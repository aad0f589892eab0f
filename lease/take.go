package lease

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seaweedfs/seaweed-lance/internal/pin"
	"github.com/seaweedfs/seaweed-lance/session"
)

// key is what holders must have in common to share a tag. The ETag separates
// equal version numbers of two tables that had the same place one after the
// other; a version whose ETag is not known shares with its like only.
type key struct {
	location string
	version  uint64
	token    string
}

// slot is where the readers of a version meet.
type slot struct {
	// takers are the reads inside Take: each of them keeps the slot in the map, or
	// there would be two slots of one key and two tags.
	takers int
	// flight makes a tag just now.
	flight *flight
	// current is the newest tag, as long as it is not being removed.
	current *held
}

func (s *slot) used() bool { return s.takers > 0 || s.flight != nil || s.current != nil }

// flight is the making of one tag. It belongs to none of those who wait for it:
// the one that started it may leave like any other.
type flight struct {
	waiters int
	done    chan struct{}
	// ended is true when done is closed; held and err are how: both nil when the
	// store refuses this process.
	ended bool
	held  *held
	err   error
}

// Take pins the version until the Lease is released. It waits for a tag that
// another call is making for the same version, but under its own context.
//
// An error is ErrGone, ErrClosed, the context's, session.ErrRefused for a version of a branch, whose
// readers have to do without, or that of a store that could
// not be asked; the caller then has no lease and must not rely on the version.
func (l *Leases) Take(ctx context.Context, t *session.Table) (*Lease, error) {
	return l.pin(ctx, pin.Of(t))
}

func (l *Leases) pin(ctx context.Context, v pin.Version) (*Lease, error) {
	le, err := l.take(ctx, v)
	if err != nil {
		return nil, fmt.Errorf("leasing version %d of %s: %w", v.Table.Version(), v.Location, err)
	}
	return le, nil
}

func (l *Leases) take(ctx context.Context, v pin.Version) (*Lease, error) {
	if b := v.Table.Manifest().GetBranch(); b != "" {
		return nil, fmt.Errorf("%w: it is of branch %q, whose tags belong to the root of the table", session.ErrRefused, b)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.mu.slots.get(key{v.Location, v.Table.Version(), v.Table.Ref().Token}, (*slot).used)
	s.takers++
	defer func() { s.takers-- }()
	for {
		now := l.now()
		switch {
		case l.mu.closed:
			return nil, ErrClosed
		case s.current != nil && now.Sub(s.current.since).Abs() <= reuseWindow:
			l.mu.stats.Shared++
			return l.use(s.current), nil
		case now.Before(l.place(v.Location, now).deniedUntil):
			return l.unpinned(), nil
		}
		f := s.flight
		mine := f == nil
		if mine {
			f = l.start(ctx, s, v)
		}
		switch err := l.wait(ctx, f); {
		case err != nil:
			return nil, err
		case f.held != nil:
			if !mine {
				l.mu.stats.Shared++
			}
			return &Lease{leases: l, held: f.held}, nil
		case f.err == nil:
			return l.unpinned(), nil
		case mine, errors.Is(f.err, ErrGone):
			return nil, f.err
		}
		// Somebody else's failure is not this reader's: it tries itself, or
		// waits for the next one that does.
	}
}

// wait waits for the end of a flight without the lock. Unless it returns an
// error, the flight's tag, if there is one, counts the caller as a user. Needs the lock.
func (l *Leases) wait(ctx context.Context, f *flight) error {
	f.waiters++
	l.mu.Unlock()
	select {
	case <-f.done:
	case <-ctx.Done():
	}
	l.mu.Lock()
	err := ctx.Err()
	switch {
	case err == nil:
	case !f.ended:
		f.waiters--
	case f.held != nil:
		l.back(f.held)
	}
	return err
}

// start begins to make a tag. Needs the lock.
func (l *Leases) start(ctx context.Context, s *slot, v pin.Version) *flight {
	f := &flight{done: make(chan struct{})}
	s.flight = f
	l.mu.flights++
	go func() {
		// Others may wait for it when the caller has left.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), takeTimeout)
		defer cancel()
		h, err := l.acquire(ctx, s, v)
		l.mu.Lock()
		defer l.mu.Unlock()
		f.held, f.err, f.ended = h, err, true
		s.flight = nil
		l.mu.flights--
		if h != nil {
			l.mu.stats.Taken++
			s.current, h.made, h.users = h, true, f.waiters
			if h.users == 0 {
				l.idle(h)
			}
		}
		close(f.done)
		l.settle()
	}()
	return f
}

func (l *Leases) unpinned() *Lease {
	l.mu.stats.Denied++
	return &Lease{leases: l}
}

// place is what is remembered of a location.
type place struct {
	// reaped is when the last look for abandoned tags began.
	reaped time.Time
	// deniedUntil is how long no tag is tried, since the store refused one.
	deniedUntil time.Time
}

// place needs the lock.
func (l *Leases) place(location string, now time.Time) *place {
	return l.mu.places.get(location, func(p *place) bool {
		return now.Sub(p.reaped) < reapInterval || now.Before(p.deniedUntil)
	})
}
