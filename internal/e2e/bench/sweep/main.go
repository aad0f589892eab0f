// Command sweep measures what sweeps of a worker over many small tables cost: time, calls to the
// filer, and the worker's memory.
//
//	go run ./internal/e2e/bench -what sweep
//
// It starts a cluster whose programs are this one, makes the tables, and has admin ask the worker for a
// detection of each job type, one after the other, through a filer that counts. Between sweeps it
// waits until the worker does not take for true any more what it has seen. It needs Linux, for /proc.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/seaweedfs/seaweed-lance/internal/e2e/counting"
	"github.com/seaweedfs/seaweed-lance/internal/e2e/manytables"
	"github.com/seaweedfs/seaweed-lance/internal/weed/cli"
	"github.com/seaweedfs/seaweed-lance/internal/weed/cluster"
	_ "github.com/seaweedfs/seaweed-lance/lanceworker/weedcmd"
	"github.com/seaweedfs/seaweed-lance/session"
)

// asWeed is the variable that makes this program a weed.
const asWeed = "SEAWEED_LANCE_BENCH_AS_WEED"

const bucket, namespace = "lab", "ml"

type options struct {
	tables   []int
	sweeps   int
	jobs     []string
	testdata string
	asJSON   bool
}

func main() {
	if os.Getenv(asWeed) != "" {
		os.Exit(cli.Main(os.Args[1:]))
	}
	tables := flag.String("tables", "1000,10000", "numbers of tables, each in a cluster of its own")
	sweeps := flag.Int("sweeps", 3, "sweeps over each")
	jobs := flag.String("jobs", "lance_compact,lance_cleanup_versions", "job types of a sweep")
	testdata := flag.String("testdata", "testdata", "directory of this module's tables for tests")
	asJSON := flag.Bool("json", false, "print one JSON object for each number of tables")
	flag.Parse()
	o := options{sweeps: *sweeps, jobs: strings.Split(*jobs, ","), testdata: *testdata, asJSON: *asJSON}
	for text := range strings.SplitSeq(*tables, ",") {
		n, err := strconv.Atoi(text)
		if err != nil {
			fmt.Fprintf(os.Stderr, "-tables: %v\n", err)
			os.Exit(2)
		}
		o.tables = append(o.tables, n)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	for _, n := range o.tables {
		if err := o.bench(ctx, n); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

// result is what one run prints as JSON.
type result struct {
	Tables int     `json:"tables"`
	Made   float64 `json:"made_seconds"`
	Idle   int64   `json:"idle_bytes"`
	Sweeps []sweep `json:"sweeps"`
}

type sweep struct {
	Seconds  float64 `json:"seconds"`
	Calls    int     `json:"calls"`
	Proposed int     `json:"proposed"`
	Peak     int64   `json:"peak_bytes"`
}

// bench sweeps over n tables of a cluster of their own.
func (o options) bench(ctx context.Context, n int) (err error) {
	kinds, err := manytables.Kinds(o.testdata)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "lance-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	c, err := cluster.Start(ctx, cluster.Options{
		Dir: filepath.Clean(dir), Env: []string{asWeed + "=1"}, Separate: true, Workers: 1,
		Jobs: strings.Join(o.jobs, ","), Buckets: []string{bucket}, WaitForJobs: o.jobs,
	})
	if err != nil {
		return err
	}
	defer func() {
		if stopping := c.Stop(); err == nil {
			err = stopping
		}
	}()
	lake, err := manytables.New(c, bucket, namespace)
	if err != nil {
		return err
	}
	defer lake.Close()
	counter, err := counting.Start(c.FilerGRPC(), c.Filer())
	if err != nil {
		return err
	}
	defer func() {
		if stopping := counter.Stop(); err == nil {
			err = stopping
		}
	}()
	r := result{Tables: n}
	start := time.Now()
	if _, err := lake.Fill(ctx, n, kinds); err != nil {
		return err
	}
	r.Made = time.Since(start).Seconds()
	if r.Idle, err = manytables.Memory(c.Workers[0].Pid(), "VmRSS"); err != nil {
		return err
	}
	if !o.asJSON {
		fmt.Printf("%d tables, made in %.1f s; the worker idle %.1f MB; %s\n", n, r.Made, float64(r.Idle)/1e6, time.Now().Format(time.DateOnly))
	}
	for i := range o.sweeps {
		if i > 0 {
			if err := wait(ctx, session.Freshness); err != nil {
				return err
			}
		}
		m, err := manytables.Sweep(ctx, c, counter, o.jobs)
		if err != nil {
			return err
		}
		r.Sweeps = append(r.Sweeps, sweep{Seconds: m.Wall.Seconds(), Calls: len(m.Calls), Proposed: m.Proposed, Peak: m.Peak})
		if !o.asJSON {
			fmt.Printf("  sweep %d: %s\n", i+1, m.String(n))
		}
	}
	if o.asJSON {
		return json.NewEncoder(os.Stdout).Encode(r)
	}
	return nil
}

func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
