package lanceworker

import (
	"math/rand/v2"
	"sync"
	"time"
)

const (
	// allowanceShare of the tables may be looked at once more in allowanceTime, which is as long as it
	// usually is between two sweeps; but allowanceLeast in any case, so that few tables
	// are always looked at.
	allowanceShare = 0.05
	allowanceLeast = 10
	allowanceTime  = detectionInterval * time.Minute
)

// allowance bounds how many calls sweeps make to see whether what they know of unchanged tables
// still holds: many tables must not cost more than their listings, and few can be known exactly. Where more
// is asked for than there is, chance decides, so that the tables that a sweep comes to last get their share.
type allowance struct {
	now func() time.Time
	// chance is a random number from 0 to less than 1; nil stands for rand.Float64.
	chance func() float64
	mu     struct {
		sync.Mutex
		most, left float64
		at         time.Time
		// asked are the calls that were asked for since began, before those in the time as long before.
		asked, before float64
		began         time.Time
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
	if passed := now.Sub(a.mu.began); passed < 0 || passed >= allowanceTime {
		a.mu.asked, a.mu.before, a.mu.began = 0, a.mu.asked, now
	}
	a.mu.asked += float64(calls)
	chance := a.chance
	if chance == nil {
		chance = rand.Float64
	}
	if a.mu.left < float64(calls) || chance()*a.mu.before > max(a.mu.most, allowanceLeast) {
		return false
	}
	a.mu.left -= float64(calls)
	return true
}
