// Command bench measures compaction against pylance's own, on copies of one table after the other, in runs that take
// turns:
//
//	go run ./internal/e2e/bench
//
// and what it costs pylance to read the result, beside the same rows written at once; with -table a,c of some of the
// tables alone, with -profile for a look into the measured process,
// with -what scan a scan against pylance's to_batches, on one table for each family of types, both with
// two threads, from the page cache. With -what cluster and -what sweep it is about clusters: how fast a worker compacts
// the first of the tables, beside the same in a directory, and what its sweeps over
// many tables cost (see the programs below).
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
	"os"
	"os/exec"

	"github.com/seaweedfs/seaweed-lance/internal/e2e/oracle"
)

// jobVariable makes this binary one measured run of ours.
const jobVariable = "SEAWEED_LANCE_BENCH_JOB"

// nosyncPrefix marks a job that leaves it to the operating system when bytes reach the disk, as Lance does.
const nosyncPrefix = "nosync:"

// profileVariable has where such a run leaves a profile; see the flag.
const profileVariable = "SEAWEED_LANCE_BENCH_PROFILE"

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
	rounds := flag.Int("rounds", 5, "runs of each")
	tables := flag.String("table", "", "tables to compact: some of a,b,c,d,e,f (default: all)")
	scale := flag.Float64("scale", 1, "size of the tables to compact, 1 is what is meant")
	profile := flag.String("profile", "", "where a measured run of ours leaves a profile: cpu:FILE, mem:FILE or heap:FILE")
	work := flag.String("dir", "", "where to work (default: a temporary directory)")
	asJSON := flag.Bool("json", false, "print one JSON object")
	what := flag.String("what", "compact", "what to measure: compact, scan, cluster or sweep")
	megabytes := flag.Int("megabytes", 500, "size of each table of a scan")
	version := flag.String("version", "2.2", "file version of the tables")
	swept := flag.String("tables", "1000,10000", "numbers of tables that are swept")
	sweeps := flag.Int("sweeps", 3, "sweeps over each number of tables")
	family := flag.String("family", "", "scan this family of types alone")
	flag.Parse()
	var err error
	switch *what {
	case "compact":
		err = benchCompact(compactOptions{*rounds, *tables, *scale, *version, *work, *profile, *asJSON})
	case "scan":
		err = benchScan(scanOptions{*rounds, *megabytes, *version, *family, *work, *asJSON})
	case "cluster":
		err = benchCluster(*rounds, *scale, *asJSON)
	case "sweep":
		err = benchSweep(*swept, *sweeps, *asJSON)
	default:
		err = fmt.Errorf("-what %s: neither compact, scan, cluster nor sweep", *what)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// self runs this binary for one job.
func self(ctx context.Context, job, profile string) (measure, error) {
	self, err := os.Executable()
	if err != nil {
		return measure{}, err
	}
	cmd := exec.CommandContext(ctx, self)
	cmd.Env = append(os.Environ(), jobVariable+"="+job, profileVariable+"="+profile)
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
