package compact

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

const (
	// leastPercent is how much garbage there may be, in percent of what is in use, before it is collected while something is being
	// rewritten, and fewGarbage how many bytes in any case. What is in use then is mostly large pieces without pointers:
	// collecting them often costs little, and keeps a run's memory small.
	leastPercent = 40
	fewGarbage   = 24 << 20
)

// collector has garbage collected more often as long as runs are under way, if the process does not so anyway.
var collector struct {
	sync.Mutex
	runs   int
	before int
}

// collectOften lasts until end is called. budget is what a run may take.
func collectOften(budget int64) (end func()) {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	if metrics.Read(live); live[0].Value.Kind() == metrics.KindUint64 && live[0].Value.Uint64() > uint64(budget) {
		return func() {}
	}
	collector.Lock()
	defer collector.Unlock()
	if collector.runs++; collector.runs == 1 {
		collector.before = debug.SetGCPercent(leastPercent)
		if collector.before < leastPercent {
			debug.SetGCPercent(collector.before) // below 0 it is off, or goes by a limit
		} else {
			adjust()
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

// adjust goes by what is in use, again after each collection.
func adjust() {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	debug.SetGCPercent(percentOf(live[0].Value.Uint64(), collector.before))
	runtime.AddCleanup(new([16]byte), func(struct{}) {
		// Not while a collection is under way, which is when this is called.
		go func() {
			collector.Lock()
			defer collector.Unlock()
			if collector.runs > 0 {
				adjust()
			}
		}()
	}, struct{}{})
}

// percentOf is how much garbage there may be beside so many bytes in use where otherwise it would be before.
func percentOf(live uint64, before int) int {
	if live == 0 {
		return before
	}
	return int(min(max(fewGarbage*100/live, leastPercent), uint64(before)))
}
