package lanceworker

import (
	"sync"
	"time"
)

const (
	// allowanceShare of the tables may be looked at once more in allowanceTime, which is as long as it
	// usually is between two sweeps; but allowanceLeast in any case, so that few tables
	// are always looked at.
	allowanceShare = 0.03
	allowanceLeast = 5
	allowanceTime  = detectionInterval * time.Minute
)

// allowance bounds how many calls sweeps make to see whether what they know of unchanged tables
// still holds: many tables must not cost more than their listings, and few can be known exactly.
type allowance struct {
	now func() time.Time
	mu  struct {
		sync.Mutex
		most, left float64
		at         time.Time
	}
}

// grow sets the number of tables.
func (a *allowance) grow(tables int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.mu.most = max(allowanceLeast, allowanceShare*float64(tables))
}

// take asks for a number of calls.
func (a *allowance) take(calls int) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.now()
	passed := now.Sub(a.mu.at)
	if most := max(a.mu.most, allowanceLeast); passed < 0 || passed >= allowanceTime {
		a.mu.left = most
	} else {
		a.mu.left = min(most, a.mu.left+most*float64(passed)/float64(allowanceTime))
	}
	a.mu.at = now
	if a.mu.left < float64(calls) {
		return false
	}
	a.mu.left -= float64(calls)
	return true
}
