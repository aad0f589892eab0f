package lease

import (
	"context"
	"time"

	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/pin"
)

const (
	// ownTTL is when a tag of this process that it no longer cares for is
	// removed: one whose removal failed for too long.
	ownTTL = time.Hour

	// reapInterval is how long a table's tags are not looked at again: abandoned
	// tags are as rare as processes that die, and each look is a listing.
	reapInterval = time.Minute

	// reapTimeout is how much of takeTimeout the removal of abandoned tags may
	// use up, however many there are: the reader behind it wants its own.
	reapTimeout = takeTimeout / 4
)

// reap removes the abandoned tags of a table: those that only this package and
// the vector server name so, by the time in the name. It is done before a tag is made, so that a
// table which is read stays clean by itself; errors are left to the next time.
func (l *Leases) reap(ctx context.Context, v pin.Version) {
	l.mu.Lock()
	now := l.now()
	p := l.place(v.Location, now)
	due := now.Sub(p.reaped) >= reapInterval
	if due {
		p.reaped = now
	}
	l.mu.Unlock()
	if !due {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, reapTimeout)
	defer cancel()
	store := v.Table.Store()
	names, err := table.TagNames(ctx, store)
	if err != nil {
		l.log.Debug("abandoned leases were not looked for", "table", v.Location, "error", err)
		return
	}
	for _, tag := range names {
		if ctx.Err() != nil {
			return
		}
		if !l.abandoned(tag, now) {
			continue
		}
		if err := table.DeleteTag(ctx, store, tag); err != nil {
			l.log.Warn("an abandoned lease's tag could not be removed", "table", v.Location, "tag", tag, "error", err)
			continue
		}
		l.log.Info("removed the tag of an abandoned lease", "table", v.Location, "tag", tag)
		l.mu.Lock()
		l.mu.stats.Reaped++
		l.mu.Unlock()
	}
}

// abandoned tells that a tag is a lease's and too old to be in use.
func (l *Leases) abandoned(tag string, now time.Time) bool {
	n, ok := pin.ParseTag(tag)
	own := ok && n.Holder == l.holder && now.Sub(n.Since) > ownTTL
	if !own && !pin.Abandoned(tag, now) {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	_, live := l.mu.live[tag]
	return !live
}
