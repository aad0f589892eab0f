package lanceworker

import (
	"sync"
	"time"
)

const (
	// firstPause and longestPause bound how long a table is left alone after a
	// failure. Doubling from one to the other makes six tries in a first hour
	// and one in each further hour.
	firstPause   = time.Minute
	longestPause = time.Hour
)

// step is how far a job got with a table.
type step int

const (
	// reading a table, to see whether there is something to do.
	reading step = iota + 1
	// running a job on it.
	running
)

// failure is what is remembered of a table that failed.
type failure struct {
	step  step
	text  string
	count int
	until time.Time
}

// backoff remembers which tables failed, and until when they are left alone.
type backoff struct {
	mu struct {
		sync.Mutex
		failures map[string]failure
	}
}

// fail notes that a step failed. A failure that came after some progress
// starts the count anew.
func (b *backoff) fail(table string, now time.Time, s step, text string, progress bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f := b.mu.failures[table]
	if progress {
		f.count = 0
	}
	pause := longestPause
	if shift := f.count; shift < 6 {
		pause = min(firstPause<<shift, longestPause)
	}
	if b.mu.failures == nil {
		b.mu.failures = make(map[string]failure)
	}
	b.mu.failures[table] = failure{step: s, text: text, count: f.count + 1, until: now.Add(pause)}
}

// held tells whether a table is to be left alone still, and why.
func (b *backoff) held(table string, now time.Time) (failure, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f, ok := b.mu.failures[table]
	return f, ok && now.Before(f.until)
}

// succeed forgets a failure of this step or an earlier one: that a table can be
// read does not prove that a job on it would succeed.
func (b *backoff) succeed(table string, s step) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.mu.failures[table].step <= s {
		delete(b.mu.failures, table)
	}
}

// keep forgets the tables that are no more.
func (b *backoff) keep(exists func(table string) bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for table := range b.mu.failures {
		if !exists(table) {
			delete(b.mu.failures, table)
		}
	}
}
