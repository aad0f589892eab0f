package e2e

import (
	"context"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seaweedfs/seaweed-lance/internal/pin"
	"github.com/seaweedfs/seaweed-lance/internal/weed/cluster"
	"github.com/seaweedfs/seaweed-lance/lease"
	"github.com/seaweedfs/seaweed-lance/session"
	tables "github.com/seaweedfs/seaweed-lance/session/cluster"
)

// isLease tells whether an object is the tag of a lease.
func isLease(name string) bool {
	_, ok := pin.ParseTag(strings.TrimSuffix(path.Base(name), ".json"))
	return ok
}

// TestSlowScanOnCluster reads a version row by row while the worker compacts the table and removes
// every version that it can: the scan ends with every row, and then the version goes, too.
func TestSlowScanOnCluster(t *testing.T) {
	t.Parallel()
	c := startCluster(t, cluster.Options{Buckets: []string{"lab"}})
	where := c.manyAppends(t, "lab", "ml", "read")
	connected, err := tables.Connect(t.Context(), tables.Options{Filers: []string{c.Filer()}})
	if err != nil {
		t.Fatal(err)
	}
	defer connected.Close()
	s, err := session.New(session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	leases := lease.New(lease.Options{Holder: "reader"})
	at, err := connected.Find(t.Context(), "lab", "ml", "read")
	if err != nil {
		t.Fatal(err)
	}
	old, err := s.Open(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	held, err := leases.Take(t.Context(), old)
	if err != nil || !held.Pinned() {
		t.Fatalf("pinned %v, error %v", held.Pinned(), err)
	}
	// One row at a time, and next to nothing read ahead.
	rows, err := old.Scan(t.Context(), session.ScanOptions{BatchRows: 1, ReadAhead: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	n := uint64(0)
	read := func(most uint64) {
		t.Helper()
		for batch, err := range rows.All(t.Context()) {
			if err != nil {
				t.Fatalf("after %d rows: %v", n, err)
			}
			if n += uint64(batch.NumRows()); n >= most {
				return
			}
		}
	}
	read(10)
	if run := c.runJob(t, compactJob); run.Succeeded != 1 {
		t.Fatalf("compaction: %+v, want one job", *run)
	}
	read(100)
	if err := c.Admin().Configure(t.Context(), cleanupJob, map[string]int64{"retain_hours": 0, "min_versions_to_keep": 1}); err != nil {
		t.Fatal(err)
	}
	if run := c.runJob(t, cleanupJob); run.Succeeded != 1 {
		t.Fatalf("cleanup: %+v, want one job", *run)
	}
	if v := c.inspect(t, where).Versions; v != 3 {
		t.Errorf("%d versions are left, want the newest, the tagged one and the one that is read", v)
	}
	read(old.Rows() + 1)
	if n != old.Rows() {
		t.Errorf("%d rows of %d", n, old.Rows())
	}
	newer, err := s.Open(t.Context(), at)
	if err != nil || newer.Version() == old.Version() || newer.Rows() != old.Rows() {
		t.Fatalf("%v, error %v", newer, err)
	}
	held.Release()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := leases.Close(ctx); err != nil {
		t.Error(err)
	}
	if names := c.list(t, where); slices.ContainsFunc(names, isLease) {
		t.Errorf("a lease is left in %q", names)
	}
	var r struct{ Changed bool }
	if out := c.lance(t, &r, "cleanup-versions", where, "-retain_hours=0", "-min_versions_to_keep=1"); out.status != 0 {
		t.Fatalf("status %d: %s", out.status, out.stderr)
	}
	if v := c.inspect(t, where).Versions; v != 2 {
		t.Errorf("%d versions are left", v)
	}
}
