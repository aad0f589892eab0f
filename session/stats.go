package session

// Stats are counters of a Session since it was made, and what it holds now.
type Stats struct {
	// Opens counts how often a place was opened, Moves how often an opened table went on to a
	// newer version, Unchanged how often there was none.
	Opens, Moves, Unchanged int64
	// Shared counts the calls that were answered by one already under way.
	Shared int64
	// StartOvers counts the tables found to be replaced by another or dropped.
	StartOvers int64
	// Lagging counts the times that the store showed an older version than it had before.
	Lagging int64
	// Tables are open now; Records are remembered, opened or not.
	Tables, Records int
	// Metadata and Index are the two caches.
	Metadata, Index CacheStats
}

// CacheStats are the counters of a cache.
type CacheStats struct {
	Hits, Misses, Evicted int64
	// Bytes in use, of Limit at most, by that many entries.
	Bytes, Limit int64
	Entries      int
}

// Stats returns the counters.
func (s *Session) Stats() Stats {
	s.mu.Lock()
	tables, records := s.mu.places.len(), s.mu.records.len()
	s.mu.Unlock()
	return Stats{
		Opens: s.counts.opens.Load(), Moves: s.counts.moves.Load(), Unchanged: s.counts.unchanged.Load(),
		Shared: s.counts.shared.Load(), StartOvers: s.counts.startOvers.Load(), Lagging: s.counts.lagging.Load(),
		Tables: tables, Records: records,
		Metadata: s.metadata.stats(), Index: s.index.stats(),
	}
}
