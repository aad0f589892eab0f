package e2e

import (
	"runtime"
	"testing"
	"time"

	"github.com/seaweedfs/seaweed-lance/internal/e2e/manytables"
	"github.com/seaweedfs/seaweed-lance/internal/weed/cluster"
	"github.com/seaweedfs/seaweed-lance/session"
)

// maxSweepMemory is what a worker may take that sweeps over ten thousand small tables.
const maxSweepMemory = 512 << 20

// TestSweepMemory has a worker sweep with all job types over many tables of one bucket.
func TestSweepMemory(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("reads the worker's memory from /proc")
	}
	n := 200
	if full() {
		n = 10_000
	}
	l := startLake(t, n, cluster.Options{Separate: true, Workers: 1})
	for i := range 3 {
		if i > 0 && full() {
			// Till then a sweep takes for true what the one before has seen.
			select {
			case <-time.After(session.Freshness):
			case <-t.Context().Done():
			}
		}
		m, err := manytables.Sweep(t.Context(), l.Cluster, l.counter, []string{compactJob, cleanupJob})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("sweep %d over %d tables: %s", i+1, n, m.String(n))
		if m.Proposed < n/10 {
			t.Errorf("sweep %d: %d jobs proposed for %d tables, of which one in ten is to be compacted", i+1, m.Proposed, n)
		}
		if m.Peak > maxSweepMemory {
			t.Errorf("sweep %d: the worker took %d bytes, more than %d", i+1, m.Peak, maxSweepMemory)
		}
	}
}
