package e2e

import (
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/e2e/oracle"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/weed/cluster"
)

// storage is what Lance needs to know to reach the cluster's S3 gateway.
func (c *testCluster) storage() map[string]string {
	return map[string]string{
		"aws_endpoint":          c.S3().Endpoint,
		"aws_access_key_id":     cluster.AccessKey,
		"aws_secret_access_key": cluster.SecretKey,
		"aws_region":            cluster.Region,
		"allow_http":            "true",
	}
}

// startLance starts real Lance in an environment where it does not look for
// credentials anywhere else.
func startLance(t *testing.T) *oracle.Lance {
	t.Helper()
	return oracle.Start(t, oracle.Newest, "AWS_EC2_METADATA_DISABLED=true")
}

// lanceTable has Lance write a table through the gateway.
func (c *testCluster) lanceTable(t *testing.T, lance *oracle.Lance, recipe string, o oracle.Table, name ...string) (path, uri string, made oracle.Made) {
	t.Helper()
	path = c.makeTable(t, name...)
	uri = "s3://" + path
	o.Storage = c.storage()
	return path, uri, lance.Make(t, recipe, uri, o)
}

// maintainForLance: a table that Lance wrote through the gateway is proposed,
// compacted and cleaned, and Lance finds it whole and goes on with it.
func maintainForLance(t *testing.T, c *testCluster) {
	lance := startLance(t)
	path, uri, made := c.lanceTable(t, lance, "many_appends", oracle.Table{Fragments: 30, Rows: 40}, "lab", "ml", "written")
	before := lance.Snapshot(t, uri, c.storage())
	if run := c.runJob(t, compactJob); run.Succeeded != 1 {
		t.Fatalf("compaction: %+v, want one job", *run)
	}
	compacted := lance.Check(t, before, oracle.Compacted, c.storage())
	if n := len(compacted.Rows()); n != 1 {
		t.Errorf("%d fragments are left, want 1", n)
	}
	if err := c.Admin().Configure(t.Context(), cleanupJob, map[string]int64{"retain_hours": 0, "min_versions_to_keep": 1}); err != nil {
		t.Fatal(err)
	}
	if run := c.runJob(t, cleanupJob); run.Succeeded != 1 {
		t.Fatalf("cleanup: %+v, want one job", *run)
	}
	lance.Check(t, compacted, oracle.Cleaned, c.storage())
	c.checkNoOrphans(t, path)
	lance.Do(t, "on_top", oracle.Args{"uri": uri, "start": made.Next, "storage_options": c.storage()}, nil)
}

// checkNoOrphans compares what lies in a table of one version with what that
// version names.
func (c *testCluster) checkNoOrphans(t *testing.T, path string) {
	t.Helper()
	var manifests, left []string
	for _, name := range c.list(t, path) {
		name = strings.TrimPrefix(name, path+"/")
		dir, base, _ := strings.Cut(name, "/")
		switch {
		case strings.HasSuffix(name, ".manifest"):
			manifests = append(manifests, name)
		case dir != table.VersionsDir && base != "":
			left = append(left, name)
		}
	}
	if len(manifests) != 1 {
		t.Fatalf("versions that are left of %s: %v, want one", path, manifests)
	}
	answer, err := c.S3().Get(t.Context(), path+"/"+manifests[0])
	if err != nil {
		t.Fatal(err)
	}
	v, err := strconv.ParseUint(strings.TrimSuffix(strings.TrimPrefix(manifests[0], table.VersionsDir+"/"), ".manifest"), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	newest, err := table.Decode(nil, table.VersionRef{Version: math.MaxUint64 - v, Name: manifests[0]}, table.NamingV2, answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{table.TransactionsDir + "/" + newest.Manifest().GetTransactionFile(): true}
	for _, f := range newest.Fragments() {
		for _, d := range f.GetFiles() {
			want[table.DataName(d)] = true
		}
		if d := f.GetDeletionFile(); d != nil {
			want[table.DeletionName(f.GetId(), d)] = true
		}
	}
	if names := slices.Sorted(maps.Keys(want)); !slices.Equal(left, names) {
		t.Errorf("in %s lie\n%q\nand its version names\n%q", path, left, names)
	}
}

func TestLanceInMini(t *testing.T) {
	t.Parallel()
	c := startCluster(t, cluster.Options{Buckets: []string{"lab"}})
	maintainForLance(t, c)
	rewriteForLance(t, c)
}

// rewriteForLance: tables whose rows can't be copied as they are, since some are deleted, moved or without a column, are
// merged by one job and cleaned by another; Lance finds them whole and goes on with them.
func rewriteForLance(t *testing.T, c *testCluster) {
	lance := startLance(t)
	type table struct {
		path, uri string
		made      oracle.Made
		before    *oracle.Snapshot
	}
	var all []table
	for _, recipe := range []string{"deletions", "stable_updates", "evolved"} {
		var x table
		x.path, x.uri, x.made = c.lanceTable(t, lance, recipe, oracle.Table{FileVersion: "2.2"}, "lab", "rewritten", recipe)
		x.before = lance.Snapshot(t, x.uri, c.storage())
		all = append(all, x)
	}
	if run := c.runJob(t, compactJob); run.Succeeded != len(all) {
		t.Fatalf("compaction: %+v, want %d jobs", *run, len(all))
	}
	if err := c.Admin().Configure(t.Context(), cleanupJob, map[string]int64{"retain_hours": 0, "min_versions_to_keep": 1}); err != nil {
		t.Fatal(err)
	}
	for i, x := range all {
		all[i].before = lance.Check(t, x.before, oracle.Compacted, c.storage())
		if n := len(all[i].before.Rows()); n != 1 {
			t.Errorf("%s: %d fragments are left, want 1", x.path, n)
		}
	}
	if run := c.runJob(t, compactJob); run.Detected != 0 {
		t.Errorf("a second compaction: %+v, want nothing proposed", *run)
	}
	c.runJob(t, cleanupJob)
	for _, x := range all {
		lance.Check(t, x.before, oracle.Cleaned, c.storage())
		c.checkNoOrphans(t, x.path)
		lance.Do(t, "on_top", oracle.Args{"uri": x.uri, "start": x.made.Next, "storage_options": c.storage()}, nil)
	}
}

func TestLanceInSeparateProcesses(t *testing.T) {
	t.Parallel()
	maintainForLance(t, startCluster(t, cluster.Options{Separate: true, Workers: 1, Buckets: []string{"lab"}}))
}

func TestLanceInSecuredClusters(t *testing.T) {
	for name, secure := range map[string]func(*testing.T, cluster.Options) cluster.Options{
		"keys and encryption": func(_ *testing.T, o cluster.Options) cluster.Options { return withKeys(withEncryption(o)) },
		"TLS":                 withTLS,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			maintainForLance(t, startCluster(t, secure(t, cluster.Options{Separate: true, Workers: 1, Buckets: []string{"lab"}})))
		})
	}
}

// rounds is how often a test of races repeats; SEAWEED_LANCE_ROUNDS overrides it.
func rounds(t *testing.T, short, long int) int {
	t.Helper()
	if text := os.Getenv("SEAWEED_LANCE_ROUNDS"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if os.Getenv("SEAWEED_LANCE_FULL") != "" {
		return long
	}
	return short
}

// TestWritersThroughS3 lets Lance append and delete through the gateway while
// both jobs run through the filer without a pause.
func TestWritersThroughS3(t *testing.T) {
	t.Parallel()
	c := startCluster(t, cluster.Options{Buckets: []string{"lab"}})
	lance, writer := startLance(t), startLance(t)
	path, uri, made := c.lanceTable(t, lance, "many_appends", oracle.Table{Fragments: 20, Rows: 20}, "lab", "ml", "busy")
	var at struct {
		Rounds      int
		Alive, Dead []int64
		Errors      []string
	}
	done := make(chan error, 1)
	go func() {
		done <- writer.Try("churn", oracle.Args{
			"uri": uri, "rounds": rounds(t, 15, 50), "start": made.Next, "seed": 3, "storage_options": c.storage(),
		}, &at)
	}()
	merged, removed := 0, 0
	for last := false; !last; {
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			last = true
		default:
		}
		var compacted struct {
			Fragments int `json:"fragments_removed"`
		}
		if out := c.lance(t, &compacted, "compact", path, "-target_rows_per_fragment=2000"); out.status != 0 && out.status != 3 && !strings.Contains(out.stderr, "other writers won") {
			t.Fatalf("compaction: status %d: %s", out.status, out.stderr)
		}
		merged += compacted.Fragments
		var cleaned struct {
			Versions int `json:"old_versions_removed"`
		}
		// Lance itself needs the versions that it is still building on.
		if out := c.lance(t, &cleaned, "cleanup-versions", path, "-retain_hours=0", "-min_versions_to_keep=20"); out.status != 0 {
			t.Fatalf("cleanup: status %d: %s", out.status, out.stderr)
		}
		removed += cleaned.Versions
	}
	t.Logf("%d rounds, %d deletes that lost their race, %d fragments merged, %d versions removed", at.Rounds, len(at.Errors), merged, removed)
	if merged == 0 || removed == 0 {
		t.Error("the jobs did nothing beside the writer")
	}
	var ids []int64
	lance.Do(t, "ids", oracle.Args{"uri": uri, "storage_options": c.storage()}, &ids)
	want := slices.Clone(at.Alive)
	for id := range made.Next {
		want = append(want, int64(id))
	}
	slices.Sort(ids)
	slices.Sort(want)
	if !slices.Equal(ids, want) {
		t.Errorf("%d rows are there, %d were written and not deleted", len(ids), len(want))
	}
	lance.Do(t, "on_top", oracle.Args{"uri": uri, "start": 1_000_000, "storage_options": c.storage()}, nil)
}
