package compact

import (
	"runtime/debug"
	"sync"
)

// collectAt is how much garbage there may be, in percent of what is in use, before it is collected while something is being
// rewritten. That is large pieces without pointers: collecting them often costs little, and keeps a run's memory small.
const collectAt = 40

// collector has garbage collected more often as long as runs are under way, unless the process does so anyway.
var collector struct {
	sync.Mutex
	runs   int
	before int
}

// collectOften lasts until end is called.
func collectOften() (end func()) {
	collector.Lock()
	defer collector.Unlock()
	if collector.runs++; collector.runs == 1 {
		collector.before = debug.SetGCPercent(collectAt)
		if collector.before < collectAt {
			debug.SetGCPercent(collector.before) // below 0 it is off, or goes by a limit
		}
	}
	return sync.OnceFunc(func() {
		collector.Lock()
		defer collector.Unlock()
		if collector.runs--; collector.runs == 0 {
			debug.SetGCPercent(collector.before)
		}
	})
}
