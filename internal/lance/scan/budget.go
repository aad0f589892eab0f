package scan

import (
	"context"
	"sync"
)

// budget bounds the sum of what is under way. One goroutine acquires; whatever is
// larger than the budget passes when nothing else is under way.
type budget struct {
	mu         sync.Mutex
	used, most int64
	freed      chan struct{}
}

func newBudget(most int64) *budget {
	return &budget{most: most, freed: make(chan struct{}, 1)}
}

// acquire waits until n more fit, or nothing is under way but own, which the caller
// itself has a part in and which does not end before.
func (b *budget) acquire(ctx context.Context, n, own int64) error {
	for !b.try(n, own) {
		select {
		case <-b.freed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

func (b *budget) try(n, own int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.used > own && b.used+n > b.most {
		return false
	}
	b.used += n
	return true
}

// add corrects what an acquire took, by a positive or negative number.
func (b *budget) add(n int64) {
	b.mu.Lock()
	b.used += n
	b.mu.Unlock()
	b.wake()
}

// widen raises the budget.
func (b *budget) widen(to, limit int64) {
	b.mu.Lock()
	b.most = min(max(b.most, to), limit)
	b.mu.Unlock()
	b.wake()
}

func (b *budget) wake() {
	select {
	case b.freed <- struct{}{}:
	default:
	}
}
