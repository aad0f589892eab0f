// Command cluster compares a compaction by a worker of a cluster with one in a directory, on copies of one table.
//
//	go run ./internal/e2e/bench -what cluster
//
// It starts a cluster whose programs are this one, writes the table through its S3 gateway, and has admin run the
// compaction; time is what the worker says that its job took. In turn the same table is compacted in a local directory by a
// process of its own, with everything synced to the disk.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seaweedfs/seaweed-lance/internal/e2e/oracle"
	"github.com/seaweedfs/seaweed-lance/internal/lance/compact"
	"github.com/seaweedfs/seaweed-lance/internal/objects/dirstore"
	"github.com/seaweedfs/seaweed-lance/internal/weed/cli"
	"github.com/seaweedfs/seaweed-lance/internal/weed/cluster"
	_ "github.com/seaweedfs/seaweed-lance/lanceworker/weedcmd"
)

// Variables that make this program a weed, or one measured run in a directory.
const (
	asWeed  = "SEAWEED_LANCE_BENCH_AS_WEED"
	asLocal = "SEAWEED_LANCE_BENCH_LOCAL"
)

const bucket, namespace, job = "lab", "ml", "lance_compact"

type options struct {
	rounds, fragments, rows int
	asJSON                  bool
}

func main() {
	if os.Getenv(asWeed) != "" {
		os.Exit(cli.Main(os.Args[1:]))
	}
	if dir := os.Getenv(asLocal); dir != "" {
		if err := local(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	var o options
	flag.IntVar(&o.rounds, "rounds", 5, "runs of each")
	flag.IntVar(&o.fragments, "fragments", 100, "fragments of the table")
	flag.IntVar(&o.rows, "rows", 5000, "rows of a fragment")
	flag.BoolVar(&o.asJSON, "json", false, "print one JSON object")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := o.bench(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// local compacts a table in a directory, and says how long that took.
func local(dir string) error {
	s, err := dirstore.New(dir, dirstore.Options{})
	if err != nil {
		return err
	}
	start := time.Now()
	r, err := compact.Run(context.Background(), s, compact.Options{})
	if err == nil && !r.Changed {
		err = fmt.Errorf("nothing was merged: %+v", r)
	}
	if err != nil {
		return err
	}
	fmt.Println(time.Since(start).Seconds())
	return nil
}

func (o options) bench(ctx context.Context) (err error) {
	dir, err := os.MkdirTemp("", "lance-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	table := filepath.Join(dir, "table")
	lance, err := oracle.Open(ctx, oracle.Newest)
	if err != nil {
		return err
	}
	err = lance.Try("fragmented", oracle.Args{"uri": table, "shape": "plain", "fragments": o.fragments, "rows": o.rows, "version": "2.2", "deleted": ""}, nil)
	if closing := lance.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return err
	}
	home := filepath.Join(dir, "cluster")
	if err := os.Mkdir(home, 0o755); err != nil {
		return err
	}
	c, err := cluster.Start(ctx, cluster.Options{
		Dir: home, Env: []string{asWeed + "=1"}, Separate: true, Workers: 1,
		Jobs: job, Buckets: []string{bucket}, WaitForJobs: []string{job},
	})
	if err != nil {
		return err
	}
	defer func() {
		if stopping := c.Stop(); err == nil {
			err = stopping
		}
	}()
	var locals, clusters, worker, server []float64
	for i := range o.rounds {
		seconds, err := inDirectory(ctx, table, filepath.Join(dir, "copy"))
		if err != nil {
			return fmt.Errorf("in a directory: %w", err)
		}
		locals = append(locals, seconds)
		m, err := inCluster(ctx, c, table, fmt.Sprintf("table_%d", i))
		if err != nil {
			return fmt.Errorf("in the cluster: %w", err)
		}
		clusters, worker, server = append(clusters, m.job), append(worker, m.worker), append(server, m.server)
	}
	return o.report(locals, clusters, worker, server)
}

// measure is what a compaction in the cluster took, in seconds: the job, and processor time of the worker and of
// master, volume server and filer, with what admin's detection took of them.
type measure struct{ job, worker, server float64 }

// inDirectory compacts a copy of the table.
func inDirectory(ctx context.Context, table, dir string) (float64, error) {
	if err := os.CopyFS(dir, os.DirFS(table)); err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	cmd := exec.CommandContext(ctx, self)
	cmd.Env = append(os.Environ(), asLocal+"="+dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return 0, err
	}
	return strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
}

// inCluster compacts a copy of the table there, and drops it.
func inCluster(ctx context.Context, c *cluster.Cluster, table, name string) (m measure, err error) {
	location, err := c.Lance().CreateTable(ctx, bucket, namespace, name)
	if err != nil {
		return m, err
	}
	to := strings.TrimPrefix(location, "s3://")
	tree := os.DirFS(table)
	err = fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		return c.S3().Put(ctx, path.Join(to, name), content)
	})
	if err != nil {
		return m, err
	}
	before, err := usedBy(ctx, c)
	if err != nil {
		return m, err
	}
	run, err := c.Admin().Run(ctx, job)
	if err == nil && run.Succeeded != 1 {
		err = fmt.Errorf("admin's run: %+v", *run)
	}
	if err != nil {
		return m, err
	}
	after, err := usedBy(ctx, c)
	if err != nil {
		return m, err
	}
	m = measure{after.job - before.job, after.worker - before.worker, after.server - before.server}
	return m, c.Lance().DropTable(ctx, bucket, namespace, name)
}

// usedBy is what was taken so far.
func usedBy(ctx context.Context, c *cluster.Cluster) (m measure, err error) {
	if m.job, err = jobSeconds(ctx, c.Workers[0]); err != nil {
		return m, err
	}
	if m.worker, err = processor(c.Workers[0].Pid()); err != nil {
		return m, err
	}
	m.server, err = processor(c.Main.Pid())
	return m, err
}

// processor is the time that a process has used, in seconds. Linux counts it in hundredths.
func processor(pid int) (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	// The name, in brackets, may have spaces in it.
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	if len(fields) < 13 {
		return 0, fmt.Errorf("/proc/%d/stat: %q", pid, text)
	}
	var sum float64
	for _, f := range fields[11:13] {
		v, err := strconv.ParseFloat(f, 64)
		if err != nil {
			return 0, err
		}
		sum += v / 100
	}
	return sum, nil
}

// jobSeconds is how long all jobs of a worker have taken.
func jobSeconds(ctx context.Context, w *cluster.Worker) (sum float64, err error) {
	_, text, err := cluster.Get(ctx, w.URL("/metrics"))
	if err != nil {
		return 0, err
	}
	for lines := bufio.NewScanner(strings.NewReader(text)); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), " ")
		if !strings.Contains(name, "job_seconds_sum{") || !strings.Contains(name, job) {
			continue
		}
		v, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return 0, fmt.Errorf("metric %s: %w", name, err)
		}
		sum += v
	}
	return sum, nil
}

func (o options) report(locals, clusters, worker, server []float64) error {
	l, c := median(locals), median(clusters)
	if o.asJSON {
		return json.NewEncoder(os.Stdout).Encode(map[string]any{"local_seconds": l, "cluster_seconds": c, "throughput": l / c, "worker_cpu_seconds": median(worker), "server_cpu_seconds": median(server)})
	}
	fmt.Printf("%d fragments of %d rows, medians of %d runs, %s\n", o.fragments, o.rows, o.rounds, time.Now().Format(time.DateOnly))
	fmt.Printf("in a directory        %7.2f s   %s\n", l, each(locals))
	fmt.Printf("by a cluster's worker %7.2f s   %s\n", c, each(clusters))
	fmt.Printf("processor time: worker %.2f s, server %.2f s\n", median(worker), median(server))
	fmt.Printf("the cluster has %.0f %% of the directory's throughput; the goal is 70 %%\n", 100*l/c)
	return nil
}

func each(seconds []float64) string {
	var out []string
	for _, s := range seconds {
		out = append(out, fmt.Sprintf("%.2f", s))
	}
	return strings.Join(out, " ")
}

func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	return v[len(v)/2]
}
