package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/weed/cluster"
	"github.com/seaweedfs/seaweed-lance/testdata"
)

// report is what these tests look at of `weed lance inspect -json`.
type report struct {
	Version   uint64 `json:"version"`
	Rows      uint64 `json:"rows"`
	Fragments int    `json:"fragments"`
	DataFiles int    `json:"data_files"`
	Versions  int    `json:"versions"`
	Stored    struct {
		Files int   `json:"files"`
		Bytes int64 `json:"bytes"`
	} `json:"stored"`
}

// lance runs `weed lance …` on a table of the cluster and decodes its object.
func (c *testCluster) lance(t *testing.T, into any, subcommand, table string, flags ...string) output {
	t.Helper()
	args := append([]string{"lance", subcommand, table, "-json", "-filer=" + c.Filer()}, flags...)
	out := c.weed(t, args...)
	if err := json.Unmarshal([]byte(out.stdout), into); err != nil {
		t.Fatalf("weed %v: status %d, %v\nstdout %s\nstderr %s", args, out.status, err, out.stdout, out.stderr)
	}
	return out
}

func (c *testCluster) inspect(t *testing.T, table string) report {
	t.Helper()
	var r report
	if out := c.lance(t, &r, "inspect", table); out.status != 0 {
		t.Fatalf("inspecting %s: status %d: %s", table, out.status, out.stderr)
	}
	return r
}

// manyAppends makes a table of many fragments and versions, as Lance wrote it.
func (c *testCluster) manyAppends(t *testing.T, name ...string) string {
	t.Helper()
	table := c.makeTable(t, name...)
	c.upload(t, table, testdata.ManyAppends())
	return table
}

// jobOf returns the one job of a type that admin knows.
func (c *testCluster) jobOf(t *testing.T, jobType string) *cluster.Job {
	t.Helper()
	jobs, err := c.Admin().Jobs(t.Context(), jobType)
	if err != nil {
		t.Fatal(err)
	}
	if len(jobs) != 1 {
		t.Fatalf("admin tracks %d jobs of %s, want 1: %+v", len(jobs), jobType, jobs)
	}
	// Admin shows a job as ended a moment before it has kept what the job reported.
	var job *cluster.Job
	eventually(t, "what the job reported", func(ctx context.Context) error {
		var err error
		if job, err = c.Admin().Job(ctx, jobs[0].ID); err == nil && len(job.Outputs) == 0 {
			err = fmt.Errorf("job %s has no outputs", job.ID)
		}
		return err
	})
	return job
}

// maintain has admin propose a table's compaction and its cleanup, and workers
// do both, and checks what changes with each.
func maintain(t *testing.T, c *testCluster) {
	table := c.manyAppends(t, "lab", "ml", "vectors")
	before := c.inspect(t, table)
	if before.Fragments < 8 || before.Versions < 8 {
		t.Fatalf("the table is not what this test needs: %+v", before)
	}
	admin := c.Admin()

	found, err := admin.Detect(t.Context(), compactJob, 0)
	if err != nil {
		t.Fatal(err)
	}
	if len(found.Proposals) != 1 || !strings.Contains(found.Proposals[0].Summary, "vectors") {
		t.Fatalf("proposed %+v, want the one table", found.Proposals)
	}
	if run := c.runJob(t, compactJob); run.Succeeded != 1 {
		t.Fatalf("compaction: %+v, want one job", *run)
	}
	job := c.jobOf(t, compactJob)
	for output, want := range map[string]int{"fragments_removed": before.Fragments, "fragments_added": 1, "files_removed": before.DataFiles} {
		if got, err := job.Output(output); err != nil || got != int64(want) {
			t.Errorf("the job reports %s = %d (%v), want %d", output, got, err, want)
		}
	}
	compacted := c.inspect(t, table)
	if compacted.Rows != before.Rows || compacted.Fragments != 1 || compacted.Version <= before.Version {
		t.Errorf("after compaction: %+v, before: %+v", compacted, before)
	}
	if run := c.runJob(t, compactJob); run.Detected != 0 {
		t.Errorf("a second compaction: %+v, want nothing proposed", *run)
	}

	if err := admin.Configure(t.Context(), cleanupJob, map[string]int64{"retain_hours": 0, "min_versions_to_keep": 1}); err != nil {
		t.Fatal(err)
	}
	if run := c.runJob(t, cleanupJob); run.Succeeded != 1 {
		t.Fatalf("cleanup: %+v, want one job", *run)
	}
	cleaned := c.inspect(t, table)
	// The newest version, and version 5, which has a tag.
	if cleaned.Version != compacted.Version || cleaned.Versions != 2 || cleaned.Rows != before.Rows || cleaned.Stored.Bytes >= before.Stored.Bytes {
		t.Errorf("after cleanup: %+v, before: %+v", cleaned, compacted)
	}
	left := c.list(t, table)
	for part, want := range map[string]int{"/_versions/": 2, "/data/": 1 + 5, "/_transactions/": 2, "/_refs/": 1, "/_maintenance/": 0} {
		got := 0
		for _, name := range left {
			if strings.Contains(name, part) && !strings.HasSuffix(name, "_hint.json") {
				got++
			}
		}
		if got != want {
			t.Errorf("%d files of %s are left, want %d: %v", got, part, want, left)
		}
	}
	if run := c.runJob(t, cleanupJob); run.Detected != 0 {
		t.Errorf("a second cleanup: %+v, want nothing proposed", *run)
	}
}

func TestMini(t *testing.T) {
	t.Parallel()
	maintain(t, startCluster(t, cluster.Options{Buckets: []string{"lab"}, Graceful: true}))
}

func TestSeparateProcesses(t *testing.T) {
	t.Parallel()
	c := startCluster(t, cluster.Options{Separate: true, Workers: 1, Buckets: []string{"lab"}})
	worker := c.Workers[0]
	maintain(t, c)
	m := scrape(t, worker)
	for _, s := range []struct {
		name   string
		labels []string
		want   float64
	}{
		{"build_info", nil, 1},
		{"detections_total", []string{"job_type", compactJob, "result", "ok"}, 3},
		{"detections_total", []string{"result", "failed"}, 0},
		{"detection_seconds", []string{"job_type", compactJob}, 3},
		{"proposals_total", []string{"job_type", compactJob}, 2},
		{"objects_seen_total", []string{"job_type", compactJob}, 3},
		{"objects_skipped_total", nil, 0},
		{"jobs_total", []string{"job_type", compactJob, "result", "ok"}, 1},
		{"jobs_total", []string{"result", "failed"}, 0},
		{"job_seconds", []string{"job_type", compactJob}, 1},
	} {
		if got := m.value(s.name, s.labels...); got != s.want {
			t.Errorf("%s%v is %v, want %v", s.name, s.labels, got, s.want)
		}
	}
	for _, name := range []string{"lance_fragments_removed_total", "lance_versions_removed_total", "lance_bytes_reclaimed_total"} {
		if got := m.value(name); got <= 0 {
			t.Errorf("%s is %v", name, got)
		}
	}
}

func TestSecured(t *testing.T) {
	for name, secure := range map[string]func(*testing.T, cluster.Options) cluster.Options{
		"keys and encryption": func(_ *testing.T, o cluster.Options) cluster.Options { return withKeys(withEncryption(o)) },
		"and TLS":             func(t *testing.T, o cluster.Options) cluster.Options { return withTLS(t, withKeys(withEncryption(o))) },
		"and HTTPS": func(t *testing.T, o cluster.Options) cluster.Options {
			return withHTTPS(t, withKeys(withEncryption(o)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := startCluster(t, secure(t, cluster.Options{Separate: true, Workers: 1, Buckets: []string{"lab"}}))
			maintain(t, c)
			c.maintainFromShell(t)
		})
	}
}

// maintainFromShell does to a second table with `weed lance` what the jobs do.
func (c *testCluster) maintainFromShell(t *testing.T) {
	t.Helper()
	table := c.manyAppends(t, "lab", "a.b", "by_hand")
	before := c.inspect(t, table)
	var result struct {
		Changed            bool
		FragmentsRemoved   int    `json:"fragments_removed"`
		OldVersionsRemoved int    `json:"old_versions_removed"`
		Error              string `json:"error"`
	}
	for _, step := range []struct {
		subcommand          string
		flags               []string
		changed             bool
		fragments, versions int
	}{
		{"compact", []string{"-dry-run"}, false, 0, 0},
		{"compact", nil, true, before.Fragments, 0},
		{"compact", nil, false, 0, 0},
		{"cleanup-versions", []string{"-retain_hours=0", "-min_versions_to_keep=1"}, true, 0, before.Versions},
		{"cleanup-versions", []string{"-retain_hours=0", "-min_versions_to_keep=1"}, false, 0, 0},
	} {
		result.FragmentsRemoved, result.OldVersionsRemoved = 0, 0
		out := c.lance(t, &result, step.subcommand, table, step.flags...)
		if out.status != 0 || result.Changed != step.changed || result.FragmentsRemoved != step.fragments || result.OldVersionsRemoved < step.versions {
			t.Errorf("%s %v: status %d, %+v, stderr %s", step.subcommand, step.flags, out.status, result, out.stderr)
		}
	}
	if after := c.inspect(t, table); after.Fragments != 1 || after.Rows != before.Rows || after.Versions != 2 {
		t.Errorf("afterwards: %+v, before: %+v", after, before)
	}
}

func TestBrokenTable(t *testing.T) {
	t.Parallel()
	c := startCluster(t, cluster.Options{Separate: true, Workers: 1, Buckets: []string{"lab"}})
	c.manyAppends(t, "lab", "ml", "good")
	bad := c.makeTable(t, "lab", "ml", "bad")
	// Version 1 of a table, in the names of today, cut off.
	if err := c.S3().Put(t.Context(), bad+"/_versions/18446744073709551614.manifest", []byte("cut")); err != nil {
		t.Fatal(err)
	}
	if run := c.runJob(t, compactJob); run.Succeeded != 1 {
		t.Errorf("%+v, want the good table compacted", *run)
	}
	m := scrape(t, c.Workers[0])
	if got := m.value("objects_skipped_total", "job_type", compactJob, "reason", "corrupt"); got != 1 {
		t.Errorf("objects_skipped_total for the broken table is %v, want 1", got)
	}
	if got := m.value("objects_seen_total", "job_type", compactJob); got != 1 {
		t.Errorf("objects_seen_total is %v, want 1", got)
	}
	var failed struct {
		Changed bool   `json:"changed"`
		Error   string `json:"error"`
	}
	for _, subcommand := range []string{"inspect", "plan", "compact", "cleanup-versions"} {
		out := c.lance(t, &failed, subcommand, bad)
		if out.status != 3 || failed.Changed || !strings.Contains(out.stderr, "18446744073709551614.manifest") {
			t.Errorf("%s of the broken table: status %d, %+v, stderr %s", subcommand, out.status, failed, out.stderr)
		}
	}
}

func TestReady(t *testing.T) {
	t.Parallel()
	c := startCluster(t, cluster.Options{Separate: true, Workers: 1})
	status := func(want int) func(context.Context) error {
		return func(ctx context.Context) error {
			got, _, err := cluster.Get(ctx, c.Workers[0].URL("/ready"))
			if err == nil && got != want {
				err = fmt.Errorf("status %d, want %d", got, want)
			}
			return err
		}
	}
	if err := c.AdminProcess.Stop(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "/ready without admin", status(http.StatusServiceUnavailable))
	if err := c.StartAdmin(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "/ready with admin back", status(http.StatusOK))
	health, _, err := cluster.Get(t.Context(), c.Workers[0].URL("/health"))
	if err != nil || health != http.StatusOK {
		t.Errorf("/health: %d, %v", health, err)
	}
	eventually(t, "admin to know the worker again", func(ctx context.Context) error {
		known, err := c.Admin().Workers(ctx)
		if err == nil && len(known) != 1 {
			err = errors.New("no worker")
		}
		return err
	})
}
