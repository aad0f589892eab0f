package e2e

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os/exec"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/seaweedfs/seaweed-lance/internal/weed/cluster"
)

// Job types of this build.
const (
	compactJob = "lance_compact"
	cleanupJob = "lance_cleanup_versions"
)

// waitLimit bounds what is waited for on a busy machine.
const waitLimit = time.Minute

// testCluster is a cluster whose helpers fail the test.
type testCluster struct {
	*cluster.Cluster
	options cluster.Options
}

// startCluster starts a cluster that ends with the test.
func startCluster(t *testing.T, options cluster.Options) *testCluster {
	t.Helper()
	options.Dir = t.TempDir()
	options.Env = append(options.Env, asWeed+"=1")
	if options.WaitForJobs == nil && (!options.Separate || options.Workers > 0) {
		options.WaitForJobs = []string{compactJob, cleanupJob}
	}
	if options.Separate && options.Jobs == "" {
		options.Jobs = compactJob + "," + cleanupJob
	}
	c, err := cluster.Start(t.Context(), options)
	if err != nil {
		t.Fatalf("starting a cluster: %v", err)
	}
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Errorf("stopping the cluster: %v", err)
		}
		if t.Failed() {
			t.Log(c.LogTails())
		}
	})
	return &testCluster{Cluster: c, options: options}
}

// makeTable declares a table and returns its path, bucket/namespace/table.
func (c *testCluster) makeTable(t *testing.T, name ...string) string {
	t.Helper()
	location, err := c.Lance().CreateTable(t.Context(), name...)
	if err != nil {
		t.Fatalf("declaring table %v: %v", name, err)
	}
	return strings.TrimPrefix(location, "s3://")
}

// upload puts a tree of files below a path, through the S3 gateway.
func (c *testCluster) upload(t *testing.T, to string, tree fs.FS) {
	t.Helper()
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		return c.S3().Put(t.Context(), path.Join(to, name), content)
	})
	if err != nil {
		t.Fatalf("uploading to %s: %v", to, err)
	}
}

// runJob has admin detect and execute a job type, and fails on failed jobs.
func (c *testCluster) runJob(t *testing.T, jobType string) *cluster.JobRun {
	t.Helper()
	run, err := c.Admin().Run(t.Context(), jobType)
	if err != nil {
		t.Fatalf("running %s: %v", jobType, err)
	}
	if run.Failed > 0 || run.Canceled > 0 {
		jobs, err := c.Admin().Jobs(t.Context(), jobType)
		t.Fatalf("running %s: %+v; jobs: %+v (%v)", jobType, *run, jobs, err)
	}
	return run
}

// output is what a command printed and how it ended.
type output struct {
	stdout, stderr string
	status         int
}

// weed runs a weed command that belongs to the cluster, to its end.
func (c *testCluster) weed(t *testing.T, args ...string) output {
	t.Helper()
	return runCommand(t, c.Command(args...))
}

func runCommand(t *testing.T, cmd *exec.Cmd) output {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("running %v: %v", cmd.Args, err)
	}
	return output{stdout: stdout.String(), stderr: stderr.String(), status: cmd.ProcessState.ExitCode()}
}

// eventually waits until f returns nil.
func eventually(t *testing.T, what string, f func(ctx context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	defer cancel()
	if err := cluster.Until(ctx, what, f); err != nil {
		t.Fatal(err)
	}
}
