// Command bench measures the page copy against pylance's own compaction, on
// copies of one table, in runs that take turns:
//
//	go run ./internal/e2e/bench
//
// and with -what scan a scan against pylance's to_batches, on one table for each family of types, both with
// two threads, from the page cache. With -what sweep it is about clusters: what a worker's sweeps over
// many tables cost (see the program sweep below).
//
// Each run is a process of its own. Wall time, processor time and peak memory are
// taken inside it, from just before the table is opened to the last commit, so
// that starting Go or Python counts for neither. Memory is the peak above what the
// process held just before. It needs Linux, for /proc.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seaweedfs/seaweed-lance/internal/e2e/oracle"
)

// jobVariable makes this binary one measured run of ours.
const jobVariable = "SEAWEED_LANCE_BENCH_JOB"

// measure is what one run took.
type measure struct {
	Wall float64 // seconds
	CPU  float64 // seconds, user and system
	Peak float64 // bytes above idle
	Rows int64   // that were read
}

// contestant is one way to merge the table.
type contestant struct {
	name string
	run  func(ctx context.Context, dir string) (measure, error)
	runs []measure
}

func main() {
	if dir := os.Getenv(jobVariable); dir != "" {
		if err := measured(dir, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	rounds := flag.Int("rounds", 9, "runs of each")
	fragments := flag.Int("fragments", 100, "fragments of the table")
	rows := flag.Int("rows", 5000, "rows of a fragment")
	work := flag.String("dir", "", "where to work (default: a temporary directory)")
	asJSON := flag.Bool("json", false, "print one JSON object")
	what := flag.String("what", "compact", "what to measure: compact, scan or sweep")
	megabytes := flag.Int("megabytes", 500, "size of each table of a scan")
	version := flag.String("version", "2.2", "file version of the tables of a scan")
	tables := flag.String("tables", "1000,10000", "numbers of tables that are swept")
	sweeps := flag.Int("sweeps", 3, "sweeps over each number of tables")
	family := flag.String("family", "", "scan this family of types alone")
	flag.Parse()
	var err error
	switch *what {
	case "compact":
		err = bench(*rounds, *fragments, *rows, *work, *asJSON)
	case "scan":
		err = benchScan(scanOptions{*rounds, *megabytes, *version, *family, *work, *asJSON})
	case "sweep":
		err = benchSweep(*tables, *sweeps, *asJSON)
	default:
		err = fmt.Errorf("-what %s: neither compact, scan nor sweep", *what)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func bench(rounds, fragments, rows int, work string, asJSON bool) error {
	ctx := context.Background()
	if work == "" {
		dir, err := os.MkdirTemp("", "lance-bench-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		work = dir
	}
	table := filepath.Join(work, "table")
	lance, err := oracle.Open(ctx, oracle.Newest)
	if err != nil {
		return err
	}
	err = lance.Try("make", oracle.Args{
		"recipe": "many_appends", "uri": table, "version": "2.2",
		"fragments": fragments, "rows": rows, "columns": []string{"plain vector"},
	}, nil)
	if err := lance.Close(); err != nil {
		return err
	}
	if err != nil {
		return err
	}
	all := []*contestant{
		{name: "seaweed-lance", run: func(ctx context.Context, dir string) (measure, error) { return ours(ctx, dir, false) }},
		{name: "seaweed-lance, no fsync", run: func(ctx context.Context, dir string) (measure, error) { return ours(ctx, dir, true) }},
		{name: "pylance 14.0.2, default", run: func(ctx context.Context, dir string) (measure, error) { return theirs(ctx, dir, "") }},
		{name: "pylance 14.0.2, force_binary_copy", run: func(ctx context.Context, dir string) (measure, error) {
			return theirs(ctx, dir, "force_binary_copy")
		}},
	}
	for round := range rounds {
		for i := range all {
			// Nobody is always the one who comes after the same other.
			c := all[(i+round)%len(all)]
			dir := filepath.Join(work, "copy")
			if err := fresh(table, dir); err != nil {
				return err
			}
			m, err := c.run(ctx, dir)
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			if err := merged(dir); err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			c.runs = append(c.runs, m)
			if err := os.RemoveAll(dir); err != nil {
				return err
			}
		}
	}
	return report(os.Stdout, all, asJSON)
}

// fresh makes a copy whose bytes are on disk, so that no run pays for writing
// back what an earlier one left.
func fresh(from, to string) error {
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		return err
	}
	return settle()
}

// merged asserts that a run did its work: the newest version has one data file
// that is as large as all others together.
func merged(dir string) error {
	files, err := os.ReadDir(filepath.Join(dir, "data"))
	if err != nil {
		return err
	}
	var sizes []int64
	for _, f := range files {
		info, err := f.Info()
		if err != nil {
			return err
		}
		sizes = append(sizes, info.Size())
	}
	slices.Sort(sizes)
	var sum int64
	for _, n := range sizes[:len(sizes)-1] {
		sum += n
	}
	if last := sizes[len(sizes)-1]; last < sum/2 {
		return fmt.Errorf("nothing was merged: the largest of %d data files has %d bytes", len(sizes), last)
	}
	return nil
}

// ours is one compaction of this module, in a process of its own.
func ours(ctx context.Context, dir string, nosync bool) (measure, error) {
	if nosync {
		return self(ctx, "nosync:"+dir)
	}
	return self(ctx, dir)
}

// self runs this binary for one job.
func self(ctx context.Context, job string) (measure, error) {
	self, err := os.Executable()
	if err != nil {
		return measure{}, err
	}
	cmd := exec.CommandContext(ctx, self)
	cmd.Env = append(os.Environ(), jobVariable+"="+job)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return measure{}, err
	}
	var m measure
	return m, json.Unmarshal(out, &m)
}

// theirs is one run of Lance, in a process of its own that has imported it before.
func theirs(ctx context.Context, dir, mode string) (measure, error) {
	lance, err := oracle.Open(ctx, oracle.Newest)
	if err != nil {
		return measure{}, err
	}
	a := oracle.Args{"uri": dir, "num_threads": 2}
	if mode != "" {
		a["compaction_mode"] = mode
	}
	var m measure
	err = lance.Try("measure_compact", a, &m)
	if err := lance.Close(); err != nil {
		return measure{}, err
	}
	return m, err
}

// report prints medians, and how the first compares with each.
func report(w io.Writer, all []*contestant, asJSON bool) error {
	medians := make([]measure, len(all))
	for i, c := range all {
		medians[i] = measure{
			Wall: median(c.runs, func(m measure) float64 { return m.Wall }),
			CPU:  median(c.runs, func(m measure) float64 { return m.CPU }),
			Peak: median(c.runs, func(m measure) float64 { return m.Peak }),
		}
	}
	if asJSON {
		out := map[string]measure{}
		for i, c := range all {
			out[c.name] = medians[i]
		}
		return json.NewEncoder(w).Encode(out)
	}
	fmt.Fprintf(w, "medians of %d runs, %s\n", len(all[0].runs), time.Now().Format(time.DateOnly))
	fmt.Fprintf(w, "%-36s %10s %10s %14s   %s\n", "", "wall", "CPU", "peak memory", "wall of all runs")
	for i, c := range all {
		var walls []string
		for _, m := range c.runs {
			walls = append(walls, fmt.Sprintf("%.2f", m.Wall))
		}
		fmt.Fprintf(w, "%-36s %8.3f s %8.3f s %11.1f MB   %s\n", c.name, medians[i].Wall, medians[i].CPU, medians[i].Peak/1e6, strings.Join(walls, " "))
	}
	for i, c := range all[1:] {
		fmt.Fprintf(w, "%s takes %.2f of the wall time of %s\n", all[0].name, medians[0].Wall/medians[i+1].Wall, c.name)
	}
	return nil
}

func median(runs []measure, of func(measure) float64) float64 {
	var v []float64
	for _, m := range runs {
		v = append(v, of(m))
	}
	slices.Sort(v)
	return v[len(v)/2]
}
