package session

import (
	"sync"
	"time"

	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/location"
)

// record is the little that outlives an opened table: what is needed to tell whether it
// has changed. A record is never changed; another takes its place.
type record struct {
	// generation differs between tables that were at one location one after the other.
	generation uint64
	id         string
	ref        table.VersionRef
	naming     table.Naming
	// checked is when the store was last asked, confirmed when it last showed this version.
	checked, confirmed time.Time
	// lagging tells that the store showed an older one when it was last asked.
	lagging bool
	// seen are the newest versions of before, the last one seen last.
	seen []sighting
	// extra belongs to this version of the table.
	extra *extra
}

// sighting is a version that was the newest at a time.
type sighting struct {
	version uint64
	token   string
}

// maxSeen is how many versions back a filer that lags behind is recognised by.
const maxSeen = 16

// newer is the record of a further version of the same table.
func (r *record) newer(ref table.VersionRef, n table.Naming, id string, now time.Time) *record {
	seen := append(r.seen[:len(r.seen):len(r.seen)], sighting{r.ref.Version, r.ref.Token})
	if len(seen) > maxSeen {
		seen = seen[len(seen)-maxSeen:]
	}
	return &record{generation: r.generation, id: id, ref: ref, naming: n, checked: now, confirmed: now, seen: seen, extra: new(extra)}
}

// again is the record after the store has shown the same version.
func (r *record) again(now time.Time) *record {
	next := *r
	next.checked, next.confirmed, next.lagging = now, now, false
	return &next
}

// unconfirmed is the record after the store has shown an older version.
func (r *record) unconfirmed(now time.Time) *record {
	next := *r
	next.checked, next.lagging = now, true
	return &next
}

// doubted is the record when what it says does not hold any more.
func (r *record) doubted() *record {
	next := *r
	next.checked = time.Time{}
	return &next
}

// extra is what was found out about a version besides.
type extra struct {
	mu    sync.Mutex
	facts map[string]any
}

func (x *extra) fact(name string) (any, bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	fact, ok := x.facts[name]
	return fact, ok
}

// record returns what is known of the table at a location, nil when nothing is.
func (s *Session) record(key string) *record {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, _ := s.mu.records.get(key)
	return r
}

// publish puts next in the place of prev, nil for none. False means that another has
// taken its place already.
func (s *Session) publish(key string, prev, next *record) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.closed {
		return false, ErrClosed
	}
	if now, _ := s.mu.records.get(key); now != prev {
		return false, nil
	}
	if next.generation == 0 {
		s.mu.generation++
		next.generation = s.mu.generation
	}
	s.mu.records.put(key, next)
	return true, nil
}

// leave forgets a table that is no longer there, unless another has already been found in
// its place.
func (s *Session) leave(key string, prev *record) {
	s.mu.Lock()
	now, _ := s.mu.records.get(key)
	same := prev != nil && now == prev
	var dropped []*location.Place
	if same {
		s.mu.records.remove(key)
		dropped = s.retire(s.mu.places.remove(key))
	}
	s.mu.Unlock()
	release(dropped)
	if same {
		s.startOver(key)
	}
}

// startOver drops what is kept of the table that was at a location. Whoever
// still reads that one finds its generation gone, and keeps nothing.
func (s *Session) startOver(key string) {
	s.counts.startOvers.Add(1)
	s.metadata.forget(key)
	s.index.forget(key)
}

// current returns a function that tells whether the table at a location is still the one
// of that generation.
func (s *Session) current(key string, generation uint64) func() bool {
	return func() bool {
		r := s.record(key)
		return r != nil && r.generation == generation
	}
}
