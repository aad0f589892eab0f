package lease

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
	"github.com/seaweedfs/seaweed-lance/internal/pin"
)

// held is one tag of this process, from before it is made until it is removed.
type held struct {
	tag   string
	where string // the location, for logs
	store objects.Store
	slot  *slot
	// since is when the making of the tag began: the stamp in its name.
	since time.Time

	// The rest is guarded by the Leases' lock.

	// made tells that the tag is there for readers: it was made for a version that
	// was found to be there, and its removal hasn't begun.
	made  bool
	users int
	// uses counts how often users went from none to one, so that a timer knows
	// whether it is still meant.
	uses int
	// stop stops the timer of an idle tag, or of one whose removal is to be tried again.
	stop func() bool
	// retired tells that the tag is being removed and given to nobody any more.
	retired bool
	// tries are the removals that failed.
	tries int
}

// acquire makes the tag of a version and makes sure that the version is still
// there. It returns nil when the store denies the tag.
func (l *Leases) acquire(ctx context.Context, s *slot, v pin.Version) (*held, error) {
	l.reap(ctx, v)
	t := v.Table
	since := l.now()
	h := &held{tag: pin.NewTag(l.holder, since), where: v.Location, store: t.Store(), slot: s, since: since}
	l.mu.Lock()
	l.mu.live[h.tag] = h
	l.mu.Unlock()

	err := table.CreateTag(ctx, h.store, table.Tag{Name: h.tag, Version: t.Version()}, t.Ref().Size, since)
	switch {
	case errors.Is(err, objects.ErrUnknown):
		// It may be there, or come yet: it is removed when it has had time to come.
		l.mu.Lock()
		defer l.mu.Unlock()
		l.retire(h)
		l.later(h, releaseDelay)
		return nil, err
	case errors.Is(err, objects.ErrDenied):
		l.mu.Lock()
		defer l.mu.Unlock()
		l.forget(h)
		now := l.now()
		l.place(v.Location, now).deniedUntil = now.Add(reuseWindow)
		l.log.Warn("reading without a lease: the table may be read but not tagged", "table", v.Location, "error", err)
		return nil, nil
	case err != nil:
		// A directory that was removed takes no tag, and has no version either.
		if gone := present(ctx, t); errors.Is(gone, ErrGone) {
			err = gone
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		l.forget(h)
		return nil, err
	}
	if err := present(ctx, t); err != nil {
		l.mu.Lock()
		l.retire(h)
		l.mu.Unlock()
		// Before the reader learns of it: on a table that was removed, the tag
		// would be what keeps its place from being empty.
		l.remove(h)
		return nil, err
	}
	return h, nil
}

// present asks the storage for the manifest that the version was read from. It must
// follow the tag: a cleanup that listed the tags before may have taken the version.
func present(ctx context.Context, t *table.Table) error {
	ref := t.Ref()
	r, err := t.Store().Open(ctx, ref.Name)
	if errors.Is(err, objects.ErrNotFound) {
		return fmt.Errorf("%s was removed: %w", ref.Name, ErrGone)
	}
	if err != nil {
		return fmt.Errorf("looking for %s: %w", ref.Name, err)
	}
	defer r.Close()
	if token := r.Entry().Token; token != ref.Token && token != "" && ref.Token != "" {
		return fmt.Errorf("%s is another object than the one that was opened: %w", ref.Name, ErrGone)
	}
	return nil
}
