package e2e

import (
	"bytes"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seaweedfs/seaweed-lance/internal/e2e/oracle"
	"github.com/seaweedfs/seaweed-lance/internal/pin"
	"github.com/seaweedfs/seaweed-lance/internal/weed/cluster"
)

// compaction is a `weed lance compact` in a process of its own.
type compaction struct {
	cmd    *exec.Cmd
	stderr bytes.Buffer
	ended  chan struct{}
	err    error
}

// compactionUnderWay starts one on a table with much to merge and returns when
// its journal is there, which is before its first byte of output.
func (c *testCluster) compactionUnderWay(t *testing.T, path string) *compaction {
	t.Helper()
	p := &compaction{cmd: c.Command("lance", "compact", path, "-json", "-filer="+c.Filer()), ended: make(chan struct{})}
	p.cmd.Stderr = &p.stderr
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.ended)
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.ended
	})
	for !slices.ContainsFunc(c.list(t, path), isJournal) {
		select {
		case <-p.ended:
			t.Fatalf("the compaction ended before it could be caught: %v, %s", p.err, &p.stderr)
		default:
		}
	}
	return p
}

func (p *compaction) signal(t *testing.T, s syscall.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// tidy compacts and cleans the table, and checks that nothing is left over.
func (c *testCluster) tidy(t *testing.T, path string) {
	t.Helper()
	var r struct {
		Changed bool
	}
	for _, args := range [][]string{{"compact"}, {"cleanup-versions", "-retain_hours=0", "-min_versions_to_keep=1"}} {
		if out := c.lance(t, &r, args[0], path, args[1:]...); out.status != 0 && out.status != 3 {
			t.Fatalf("%s: status %d: %s", args[0], out.status, out.stderr)
		}
	}
	c.checkNoOrphans(t, path)
}

// ageLeases makes the leases of a table a day older, by their names.
func (c *testCluster) ageLeases(t *testing.T, path string) (leases int) {
	t.Helper()
	for _, name := range c.list(t, path) {
		tag := strings.TrimSuffix(filepath.Base(name), ".json")
		lease, ok := pin.ParseTag(tag)
		if !ok {
			continue
		}
		content, err := c.S3().Get(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		older := pin.NewTag(lease.Holder, lease.Since.Add(-pin.TTL-time.Hour))
		if err := c.S3().Put(t.Context(), strings.Replace(name, tag, older, 1), content.Body); err != nil {
			t.Fatal(err)
		}
		if _, err := c.S3().Do(t.Context(), http.MethodDelete, name, nil, nil); err != nil {
			t.Fatal(err)
		}
		leases++
	}
	return leases
}

// TestKilledOnCluster kills a compaction in the middle: Lance reads the table
// as it was, and the next compaction and cleanup leave no orphan, once its lease is a day old.
func TestKilledOnCluster(t *testing.T) {
	t.Parallel()
	c := startCluster(t, cluster.Options{Buckets: []string{"lab"}})
	lance := startLance(t)
	path := c.wideTable(t, 3000, "lab", "ml", "killed")
	before := lance.Snapshot(t, "s3://"+path, c.storage())
	p := c.compactionUnderWay(t, path)
	p.signal(t, syscall.SIGKILL)
	<-p.ended
	killed := lance.Check(t, before, oracle.Compacted, c.storage())
	if n := c.ageLeases(t, path); n != 1 {
		t.Errorf("the killed compaction left %d leases, want 1", n)
	}
	c.tidy(t, path)
	after := lance.Check(t, killed, oracle.Both, c.storage())
	if n := len(after.Rows()); n != 1 {
		t.Errorf("%d fragments are left, want 1", n)
	}
}

// TestStoppedOnCluster stops a compaction in the middle while Lance writes
// and other runs maintain the table, and lets it go on: what was written stays,
// and no version misses a file.
func TestStoppedOnCluster(t *testing.T) {
	t.Parallel()
	c := startCluster(t, cluster.Options{Buckets: []string{"lab"}})
	lance := startLance(t)
	path := c.wideTable(t, 3000, "lab", "ml", "stopped")
	uri := "s3://" + path
	at := func(more oracle.Args) oracle.Args {
		more["uri"], more["storage_options"] = uri, c.storage()
		return more
	}
	before := lance.Snapshot(t, uri, c.storage())
	p := c.compactionUnderWay(t, path)
	p.signal(t, syscall.SIGSTOP)
	lance.Do(t, "delete", at(oracle.Args{"where": "id = 3"}), nil)
	deleted := lance.Snapshot(t, uri, c.storage())
	if deleted.Fold.Rows >= before.Fold.Rows {
		t.Fatalf("%d rows became %d", before.Fold.Rows, deleted.Fold.Rows)
	}
	var r struct{ Changed bool }
	for _, args := range [][]string{{"compact"}, {"cleanup-versions", "-retain_hours=0", "-min_versions_to_keep=1"}} {
		if out := c.lance(t, &r, args[0], path, args[1:]...); out.status != 0 && out.status != 3 {
			t.Fatalf("%s: status %d: %s", args[0], out.status, out.stderr)
		}
	}
	meanwhile := lance.Check(t, deleted, oracle.Both, c.storage())
	p.signal(t, syscall.SIGCONT)
	<-p.ended
	if p.err != nil {
		t.Logf("the stopped one ended with %v: %s", p.err, &p.stderr)
	}
	lance.Check(t, meanwhile, oracle.Compacted, c.storage())
	c.tidy(t, path)
	lance.Check(t, meanwhile, oracle.Both, c.storage())
}
