package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/seaweedfs/seaweed-lance/internal/e2e/oracle"
	"github.com/seaweedfs/seaweed-lance/internal/lance/scan"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects/dirstore"
)

// scanPrefix marks a job that reads the table.
const scanPrefix = "scan:"

// threads that decode, on both sides.
const threads = 2

type scanOptions struct {
	rounds, megabytes int
	version, family   string
	work              string
	asJSON            bool
}

// families of types that are measured, each with a table of its own.
var families = []string{"vectors", "strings", "ints", "nested"}

func benchScan(o scanOptions) error {
	ctx := context.Background()
	if o.work == "" {
		dir, err := os.MkdirTemp("", "lance-bench-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		o.work = dir
	}
	all := map[string]map[string]measure{}
	for _, family := range families {
		if o.family != "" && o.family != family {
			continue
		}
		dir := filepath.Join(o.work, family)
		sides, err := scanFamily(ctx, o, family, dir)
		if err != nil {
			return fmt.Errorf("%s: %w", family, err)
		}
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
		ours, theirs := medianOf(sides[0].runs), medianOf(sides[1].runs)
		all[family] = map[string]measure{sides[0].name: ours, sides[1].name: theirs}
		if !o.asJSON {
			reportScan(os.Stdout, family, o, sides, ours, theirs)
		}
	}
	if o.asJSON {
		return json.NewEncoder(os.Stdout).Encode(all)
	}
	return nil
}

// scanFamily writes a table and reads it in turns.
func scanFamily(ctx context.Context, o scanOptions, family, dir string) ([]*contestant, error) {
	lance, err := oracle.Open(ctx, oracle.Newest)
	if err != nil {
		return nil, err
	}
	var made struct {
		Rows  int64
		Bytes float64
	}
	err = lance.Try("make_family", oracle.Args{"uri": dir, "family": family, "size": o.megabytes * 1e6, "version": o.version}, &made)
	if err := errors.Join(err, lance.Close()); err != nil {
		return nil, err
	}
	if err := settle(); err != nil {
		return nil, err
	}
	sides := []*contestant{
		{name: "seaweed-lance", run: func(ctx context.Context, dir string) (measure, error) { return self(ctx, scanPrefix+dir, "") }},
		{name: "pylance " + string(oracle.Newest), run: theirScan},
	}
	for round := range o.rounds {
		for i := range sides {
			c := sides[(i+round)%len(sides)]
			m, err := c.run(ctx, dir)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", c.name, err)
			}
			if m.Rows != made.Rows {
				return nil, fmt.Errorf("%s read %d rows of %d", c.name, m.Rows, made.Rows)
			}
			c.runs = append(c.runs, m)
		}
	}
	return sides, nil
}

// scanned reads a whole table.
func scanned(job string) (rows int64, err error) {
	ctx := context.Background()
	s, err := dirstore.New(strings.TrimPrefix(job, scanPrefix), dirstore.Options{})
	if err != nil {
		return 0, err
	}
	defer s.Close()
	t, err := table.Open(ctx, s)
	if err != nil {
		return 0, err
	}
	r, err := scan.Open(ctx, t, scan.Options{Threads: threads})
	if err != nil {
		return 0, err
	}
	defer r.Close()
	for {
		b, err := r.Next(ctx)
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return rows, err
		}
		rows += b.NumRows()
		b.Release()
	}
}

// theirScan is one scan by Lance, whose environment the oracle sets to two threads.
func theirScan(ctx context.Context, dir string) (measure, error) {
	lance, err := oracle.Open(ctx, oracle.Newest)
	if err != nil {
		return measure{}, err
	}
	var m measure
	err = lance.Try("measure_scan", oracle.Args{"uri": dir}, &m)
	return m, errors.Join(err, lance.Close())
}

func reportScan(w io.Writer, family string, o scanOptions, sides []*contestant, ours, theirs measure) {
	fmt.Fprintf(w, "%s: %d MB in file version %s, %d rows, medians of %d runs, %s\n",
		family, o.megabytes, o.version, ours.Rows, o.rounds, time.Now().Format(time.DateOnly))
	for i, m := range []measure{ours, theirs} {
		var walls []string
		for _, r := range sides[i].runs {
			walls = append(walls, fmt.Sprintf("%.2f", r.Wall))
		}
		fmt.Fprintf(w, "  %-16s wall %6.3f s  CPU %6.3f s  peak memory %6.1f MB   wall of all runs: %s\n",
			sides[i].name, m.Wall, m.CPU, m.Peak/1e6, strings.Join(walls, " "))
	}
	fmt.Fprintf(w, "  ratios           wall %6.2f    CPU %6.2f    peak memory %6.2f\n", ours.Wall/theirs.Wall, ours.CPU/theirs.CPU, ours.Peak/theirs.Peak)
}
