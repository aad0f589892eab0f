package lease

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/seaweedfs/seaweed-lance/internal/location"
	"github.com/seaweedfs/seaweed-lance/session"
)

// ReleaseIdle removes at once the tags of a table that wait for another use, for a cleanup that this
// process is about to begin: it would keep what they name, though nobody reads it.
// Tags in use stay. With an error some may be left, which go as they would have without it.
func (l *Leases) ReleaseIdle(ctx context.Context, at session.Location) error {
	var idle []*held
	l.mu.Lock()
	for _, h := range l.mu.live {
		if h.where != location.Key(at) || !h.made || h.users > 0 {
			continue
		}
		if h.stop != nil {
			h.stop()
		}
		l.retire(h)
		idle = append(idle, h)
	}
	l.mu.Unlock()
	var wg sync.WaitGroup
	for _, h := range idle {
		wg.Go(func() { l.remove(h) })
	}
	done := make(chan struct{})
	go func() {
		wg.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	var errs []error
	for _, h := range idle {
		if _, there := l.mu.live[h.tag]; there {
			errs = append(errs, fmt.Errorf("the tag %s of %s could not be removed yet", h.tag, at))
		}
	}
	return errors.Join(errs...)
}
