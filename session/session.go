package session

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/location"
)

const (
	// DefaultTables is more than a server reads from at a time; each open one costs a few hundred
	// bytes, and a file descriptor where it is a directory.
	DefaultTables = 1024
	// DefaultIndexBytes and DefaultMetadataBytes leave room for others in a process that does not
	// live for Lance alone. Lance's own sessions take up to 6 GiB and 1 GiB.
	DefaultIndexBytes    = 512 << 20
	DefaultMetadataBytes = 256 << 20
	// DefaultIDKey is where a table's id is looked for.
	DefaultIDKey = "seaweedfs.table_id"

	// Freshness is how long Recent, Versions and Fact take for true what the session has seen:
	// one look at a table then serves all that sweep over it in the same round.
	Freshness = time.Minute

	// maxRetired is how many directories that are no longer at their paths can still be read from.
	maxRetired = 64

	// maxRecords bounds the tables that are remembered; a record takes some hundred bytes
	// and what is kept of it by Fact. What is forgotten costs a few more calls, no mistake.
	maxRecords = 1 << 17
)

// Options of a Session. The zero value is right for most.
type Options struct {
	// Tables is how many tables are kept open at most: the session has that many descriptors of
	// directories, at most 64 of such that moved away while they were read, and those of the calls under way, whatever was opened before. It has to be below what the
	// process may have. A Table whose table is no longer among them is used on as before, for which it opens
	// the directory anew each time.
	Tables int
	// IndexBytes bounds what is kept of indices, MetadataBytes what is kept of manifests, of lists of
	// them, and of the footers and column metadata of data files. Less than 0 keeps nothing.
	IndexBytes, MetadataBytes int64
	// IDKey is the key of a table's id in the metadata of its schema.
	IDKey string
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Session keeps tables open. All methods may be called from many goroutines at once.
type Session struct {
	idKey    string
	now      func() time.Time
	metadata *cache
	index    *cache

	looks     flights[string, view]
	manifests flights[cacheKey, *table.Table]
	files     flights[cacheKey, fileMetadata]
	lists     flights[cacheKey, []Version]
	facts     flights[cacheKey, any]

	counts struct {
		opens, moves, unchanged, shared, startOvers, lagging atomic.Int64
	}

	mu struct {
		sync.Mutex
		closed bool
		// places are the open ones, records what is known of tables, by key of location.
		places   recent[*location.Place]
		records  recent[*record]
		refusals recent[refusal]
		// retired are places that moved away or whose table was dropped, by the number of their retirement.
		retired     recent[*location.Place]
		retirements uint64
		// generation is the last one given to a table; numbers are never used again.
		generation uint64
	}
}

// New makes a Session.
func New(o Options) (*Session, error) {
	if o.Tables < 0 {
		return nil, fmt.Errorf("making a session: %d tables", o.Tables)
	}
	s := &Session{idKey: o.IDKey, now: o.Now,
		metadata: newCache(orDefault(o.MetadataBytes, DefaultMetadataBytes)),
		index:    newCache(orDefault(o.IndexBytes, DefaultIndexBytes))}
	if s.idKey == "" {
		s.idKey = DefaultIDKey
	}
	if s.now == nil {
		s.now = time.Now
	}
	s.mu.places = newRecent[*location.Place](int(orDefault(int64(o.Tables), DefaultTables)))
	s.mu.records = newRecent[*record](maxRecords)
	s.mu.refusals = newRecent[refusal](maxRecords)
	s.mu.retired = newRecent[*location.Place](maxRetired)
	return s, nil
}

// lately tells whether something of that time is younger than age. What the clock has gone back before is not.
func (s *Session) lately(at time.Time, age time.Duration) bool {
	passed := s.now().Sub(at)
	return passed >= 0 && passed < age
}

func orDefault(v, otherwise int64) int64 {
	if v == 0 {
		return otherwise
	}
	return v
}

// Forget drops all that is known of a table: the next use begins anew. Tables that
// were opened stay usable, those in a directory as long as that is at its path.
func (s *Session) Forget(l Location) {
	key := location.Key(l)
	s.mu.Lock()
	s.mu.records.remove(key)
	s.mu.refusals.remove(key)
	dropped := s.mu.places.remove(key)
	s.mu.Unlock()
	release(dropped)
	s.metadata.forget(key)
	s.index.forget(key)
}

// Close ends the session and drops what it keeps. Calls under way return ErrClosed; tables
// that were opened, and their scans, stay usable, those in a directory as long as that is at its path.
func (s *Session) Close() error {
	s.mu.Lock()
	s.mu.closed = true
	s.mu.records.clear()
	s.mu.refusals.clear()
	dropped := append(s.mu.places.clear(), s.mu.retired.clear()...)
	s.mu.Unlock()
	release(dropped)
	s.looks.close()
	s.manifests.close()
	s.files.close()
	s.lists.close()
	s.facts.close()
	s.metadata.clear()
	s.index.clear()
	return nil
}
