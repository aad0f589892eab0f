package lanceworker

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/seaweedfs/seaweedfs/weed/stats"

	"github.com/seaweedfs/seaweed-lance/lease"
	"github.com/seaweedfs/seaweed-lance/session"
)

// cacheMetrics tells of sessions and leases what they count themselves: the sum of all that were
// added, for workers in one process share a registry.
type cacheMetrics struct {
	opens, moves, unchanged, shared, startOvers, tables *prometheus.Desc
	hits, misses, evicted, bytes                        *prometheus.Desc
	taken, leasesShared, denied, reaped, held           *prometheus.Desc

	mu       sync.Mutex
	sessions []func() session.Stats
	leases   []func() lease.Stats
}

func newCacheMetrics() *cacheMetrics {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(prometheus.BuildFQName(stats.Namespace, metricsSubsystem, "lance_"+name), help, labels, nil)
	}
	return &cacheMetrics{
		opens:      desc("table_opens_total", "Places of tables that were opened."),
		moves:      desc("table_moves_total", "Times that an open table went on to a newer version."),
		unchanged:  desc("table_unchanged_total", "Looks at a table that found no newer version."),
		shared:     desc("table_looks_shared_total", "Looks at a table that were answered by another one under way."),
		startOvers: desc("table_start_overs_total", "Tables that were found to be dropped or replaced by another."),
		tables:     desc("tables_open", "Tables that are kept open."),

		hits:    desc("cache_hits_total", "Times that a cache had what was looked for.", "cache"),
		misses:  desc("cache_misses_total", "Times that a cache had not what was looked for.", "cache"),
		evicted: desc("cache_evicted_total", "Entries that left a cache for want of room.", "cache"),
		bytes:   desc("cache_bytes", "Bytes that a cache holds.", "cache"),

		taken:        desc("leases_taken_total", "Tags made to pin a version."),
		leasesShared: desc("leases_shared_total", "Uses of a tag that another use had made."),
		denied:       desc("leases_denied_total", "Uses of a version that could not be pinned for want of rights."),
		reaped:       desc("leases_reaped_total", "Tags of leases that were abandoned, and removed."),
		held:         desc("leases_held", "Tags that pin a version now."),
	}
}

func (m *cacheMetrics) add(s func() session.Stats, l func() lease.Stats) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sessions, m.leases = append(m.sessions, s), append(m.leases, l)
}

// Describe implements prometheus.Collector.
func (m *cacheMetrics) Describe(ch chan<- *prometheus.Desc) { prometheus.DescribeByCollect(m, ch) }

// Collect implements prometheus.Collector.
func (m *cacheMetrics) Collect(ch chan<- prometheus.Metric) {
	m.mu.Lock()
	sessions, leases := m.sessions, m.leases
	m.mu.Unlock()
	send := func(kind prometheus.ValueType, d *prometheus.Desc, v int64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, kind, float64(v), labels...)
	}
	var s session.Stats
	for _, stats := range sessions {
		x := stats()
		s.Opens += x.Opens
		s.Moves += x.Moves
		s.Unchanged += x.Unchanged
		s.Shared += x.Shared
		s.StartOvers += x.StartOvers
		s.Tables += x.Tables
		s.Metadata, s.Index = sum(s.Metadata, x.Metadata), sum(s.Index, x.Index)
	}
	send(prometheus.CounterValue, m.opens, s.Opens)
	send(prometheus.CounterValue, m.moves, s.Moves)
	send(prometheus.CounterValue, m.unchanged, s.Unchanged)
	send(prometheus.CounterValue, m.shared, s.Shared)
	send(prometheus.CounterValue, m.startOvers, s.StartOvers)
	send(prometheus.GaugeValue, m.tables, int64(s.Tables))
	for name, c := range map[string]session.CacheStats{"metadata": s.Metadata, "index": s.Index} {
		send(prometheus.CounterValue, m.hits, c.Hits, name)
		send(prometheus.CounterValue, m.misses, c.Misses, name)
		send(prometheus.CounterValue, m.evicted, c.Evicted, name)
		send(prometheus.GaugeValue, m.bytes, c.Bytes, name)
	}
	var l lease.Stats
	for _, stats := range leases {
		x := stats()
		l.Taken += x.Taken
		l.Shared += x.Shared
		l.Denied += x.Denied
		l.Reaped += x.Reaped
		l.Held += x.Held
	}
	send(prometheus.CounterValue, m.taken, l.Taken)
	send(prometheus.CounterValue, m.leasesShared, l.Shared)
	send(prometheus.CounterValue, m.denied, l.Denied)
	send(prometheus.CounterValue, m.reaped, l.Reaped)
	send(prometheus.GaugeValue, m.held, l.Held)
}

func sum(a, b session.CacheStats) session.CacheStats {
	a.Hits += b.Hits
	a.Misses += b.Misses
	a.Evicted += b.Evicted
	a.Bytes += b.Bytes
	return a
}
