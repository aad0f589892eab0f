package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seaweedfs/seaweed-lance/internal/e2e/oracle"
)

type compactOptions struct {
	rounds  int
	tables  string
	scale   float64
	version string
	work    string
	profile string
	asJSON  bool
}

// outcome is what was measured with one table.
type outcome struct {
	table compactTable
	sides []*contestant
	// bytes of the data files of the newest version, before and after each side's run.
	source float64
	bytes  []float64
	// small counts neighbouring pages of a column of our result that together hold less than a MiB.
	small, pages int
	// scan and take are seconds of ours and of what one write makes.
	scan, take [2]float64
}

// sides of a comparison. The first is ours as users have it, the second leaves syncing to the
// operating system as pylance does, the third is what both are compared with.
func sidesOf(t compactTable, profile string) []*contestant {
	sides := []*contestant{
		{name: "seaweed-lance", run: func(ctx context.Context, dir string) (measure, error) { return self(ctx, dir, profile) }},
		{name: "seaweed-lance, no fsync", run: func(ctx context.Context, dir string) (measure, error) { return self(ctx, nosyncPrefix+dir, "") }},
		{name: "pylance " + string(oracle.Newest), run: func(ctx context.Context, dir string) (measure, error) { return theirs(ctx, dir, "") }},
	}
	if t.pages {
		sides = append(sides, &contestant{name: "pylance, force_binary_copy", run: func(ctx context.Context, dir string) (measure, error) {
			return theirs(ctx, dir, "force_binary_copy")
		}})
	}
	return sides
}

func benchCompact(o compactOptions) error {
	ctx := context.Background()
	tables, err := tablesNamed(o.tables)
	if err != nil {
		return err
	}
	if o.work == "" {
		if o.work, err = os.MkdirTemp("", "lance-bench-"); err != nil {
			return err
		}
		defer os.RemoveAll(o.work)
	}
	var all []*outcome
	for _, t := range tables {
		x, err := compactOne(ctx, o, t.scaled(o.scale))
		if err != nil {
			return fmt.Errorf("table %s: %w", t.name, err)
		}
		all = append(all, x)
		if !o.asJSON {
			reportRuns(os.Stdout, x)
		}
	}
	if o.asJSON {
		return reportJSON(os.Stdout, all)
	}
	reportTables(os.Stdout, all, o)
	return nil
}

// compactOne makes a table, and has all sides merge copies of it in turns.
func compactOne(ctx context.Context, o compactOptions, t compactTable) (*outcome, error) {
	x := &outcome{table: t, sides: sidesOf(t, o.profile)}
	x.bytes = make([]float64, len(x.sides))
	table := filepath.Join(o.work, t.name)
	defer os.RemoveAll(table)
	err := ask(ctx, "fragmented", oracle.Args{"uri": table, "shape": t.shape, "fragments": t.fragments, "rows": t.rows, "version": o.version, "deleted": t.deleted}, nil)
	if err == nil {
		x.source, err = extent(ctx, table, t.fragments)
	}
	if err != nil {
		return nil, err
	}
	kept := make([]string, len(x.sides))
	for i := range x.sides {
		kept[i] = filepath.Join(o.work, fmt.Sprint(t.name, "-", i))
		defer os.RemoveAll(kept[i])
	}
	for round := range o.rounds {
		for i := range x.sides {
			// Nobody is always the one who comes after the same other.
			i = (i + round) % len(x.sides)
			c, dir := x.sides[i], kept[i]
			if err := errors.Join(os.RemoveAll(dir), linked(table, dir), settle()); err != nil {
				return nil, err
			}
			m, err := c.run(ctx, dir)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", c.name, err)
			}
			c.runs = append(c.runs, m)
			if round < o.rounds-1 {
				continue
			}
			if x.bytes[i], err = extent(ctx, dir, 1); err != nil {
				return nil, fmt.Errorf("%s: %w", c.name, err)
			}
		}
	}
	if err := ask(ctx, "same_rows", oracle.Args{"a": kept[0], "b": kept[2]}, nil); err != nil {
		return nil, err
	}
	if x.pages, x.small, err = smallPages(ctx, kept[0]); err != nil || !t.reads {
		return x, err
	}
	return x, x.read(ctx, o, table, kept[0])
}

// read measures reading our result beside what one write makes of the same rows.
func (x *outcome) read(ctx context.Context, o compactOptions, table, result string) error {
	once := table + "-once"
	defer os.RemoveAll(once)
	var runs [][][2]float64
	err := ask(ctx, "rewritten", oracle.Args{"uri": table, "to": once, "version": o.version}, nil)
	if err == nil {
		err = settle()
	}
	if err == nil {
		err = ask(ctx, "measure_reads", oracle.Args{"tables": []string{result, once}, "rounds": 3 * o.rounds}, &runs)
	}
	if err != nil {
		return err
	}
	for i, r := range runs {
		x.scan[i] = median(r, func(s [2]float64) float64 { return s[0] })
		x.take[i] = median(r, func(s [2]float64) float64 { return s[1] })
	}
	return nil
}

// extent is the size of the newest version's data files. There must be so many fragments.
func extent(ctx context.Context, dir string, fragments int) (float64, error) {
	var x struct {
		Fragments int
		Bytes     float64
	}
	err := ask(ctx, "extent", oracle.Args{"uri": dir}, &x)
	if err == nil && x.Fragments != fragments {
		err = fmt.Errorf("%d fragments, should be %d", x.Fragments, fragments)
	}
	return x.Bytes, err
}

// ask gives one command to a Lance of its own.
func ask(ctx context.Context, do string, with oracle.Args, out any) error {
	lance, err := oracle.Open(ctx, oracle.Newest)
	if err != nil {
		return err
	}
	err = lance.Try(do, with, out)
	return errors.Join(err, lance.Close())
}

// linked makes a copy of a table whose data files, which nobody changes, are the same ones.
func linked(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, name)
		if d.IsDir() {
			return os.MkdirAll(target, 0o777)
		}
		if filepath.Base(filepath.Dir(path)) == "data" {
			return os.Link(path, target)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(target, b, 0o666)
	})
}
