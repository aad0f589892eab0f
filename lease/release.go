package lease

import (
	"context"
	"errors"
	"time"

	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// use makes the caller one more user of a tag. Needs the lock.
func (l *Leases) use(h *held) *Lease {
	if h.users == 0 {
		h.uses++
		if h.stop != nil {
			h.stop() // when it is too late, the timer sees that uses has moved on
			h.stop = nil
		}
	}
	h.users++
	return &Lease{leases: l, held: h}
}

// back is the end of a use. Needs the lock.
func (l *Leases) back(h *held) {
	h.users--
	if h.users == 0 {
		l.idle(h)
	}
}

// idle has an unused tag removed after a while, or at once when all is being
// closed. Needs the lock.
func (l *Leases) idle(h *held) {
	if l.mu.closed {
		l.hurry(h)
		return
	}
	uses := h.uses
	h.stop = l.after(releaseDelay, func() { l.expire(h, uses) })
}

// expire removes a tag that nobody has used since the timer was set.
func (l *Leases) expire(h *held, uses int) {
	l.mu.Lock()
	if h.retired || h.users > 0 || h.uses != uses {
		l.mu.Unlock()
		return
	}
	l.retire(h)
	l.mu.Unlock()
	l.remove(h)
}

// hurry removes a tag at once that would be removed later. Tags in use, and
// those that are being made, are left for those who do. Needs the lock.
func (l *Leases) hurry(h *held) {
	switch {
	case h.retired:
		if h.stop == nil || !h.stop() {
			return // it is being removed
		}
		h.stop = nil
	case !h.made, h.users > 0:
		return
	default:
		if h.stop != nil {
			h.stop()
		}
		l.retire(h)
	}
	go l.remove(h)
}

// retire makes sure that nobody gets the tag any more. Needs the lock.
func (l *Leases) retire(h *held) {
	h.retired, h.made, h.stop = true, false, nil
	if h.slot.current == h {
		h.slot.current = nil
	}
}

// remove tries to remove the tag of a retired lease, and again later if that fails.
// A name is used once, so that a removal which comes late hits nobody else's tag,
// and it never makes anything, so that it leaves a removed table alone.
func (l *Leases) remove(h *held) {
	l.removing <- struct{}{}
	// The reader may be gone, and its context with it.
	ctx, cancel := context.WithTimeout(context.Background(), releaseTimeout)
	err := table.DeleteTag(ctx, h.store, h.tag)
	cancel()
	<-l.removing

	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil {
		l.forget(h)
		return
	}
	h.tries++
	if l.mu.closed || h.tries == releaseTries || errors.Is(err, objects.ErrDenied) {
		l.log.Error("a lease's tag stays until it is reaped", "table", h.where, "tag", h.tag, "error", err)
		l.mu.left++
		l.forget(h)
		return
	}
	l.log.Warn("a lease's tag could not be removed yet", "table", h.where, "tag", h.tag, "error", err)
	l.later(h, releaseDelay<<h.tries)
}

// later removes the tag of a retired lease after a while. Needs the lock.
func (l *Leases) later(h *held, d time.Duration) {
	if l.mu.closed {
		go l.remove(h)
		return
	}
	h.stop = l.after(d, func() { l.remove(h) })
}

// forget ends the care for a tag. Needs the lock.
func (l *Leases) forget(h *held) {
	delete(l.mu.live, h.tag)
	l.settle()
}
