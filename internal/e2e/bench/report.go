package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// reportRuns prints what was measured with one table, run by run.
func reportRuns(w io.Writer, x *outcome) {
	fmt.Fprintf(w, "%s) %s; %d fragments of %d rows, %.0f MB\n", x.table.name, x.table.about, x.table.fragments, x.table.rows, x.source/1e6)
	for i, c := range x.sides {
		var walls []string
		for _, m := range c.runs {
			walls = append(walls, fmt.Sprintf("%.2f", m.Wall))
		}
		m := medianOf(c.runs)
		fmt.Fprintf(w, "   %-27s wall %7.3f s  CPU %7.3f s  peak memory %7.1f MB  size %8.1f MB   wall of all runs: %s\n",
			c.name, m.Wall, m.CPU, m.Peak/1e6, x.bytes[i]/1e6, strings.Join(walls, " "))
	}
	fmt.Fprintf(w, "   pages: %d, neighbours below 1 MiB: %d\n", x.pages, x.small)
	if x.table.reads {
		fmt.Fprintf(w, "   pylance reads it: scan %.3f s, take %.4f s; what one write makes: %.3f s, %.4f s\n", x.scan[0], x.take[0], x.scan[1], x.take[1])
	}
}

// reportTables prints all as the tables of a README: ours as a part of theirs, goals in parentheses.
func reportTables(w io.Writer, all []*outcome, o compactOptions) {
	fmt.Fprintf(w, "\nOurs as a part of what pylance's default mode takes (in parentheses the goal), medians of %d alternating runs, files of version %s, %s:\n\n",
		o.rounds, o.version, time.Now().Format(time.DateOnly))
	fmt.Fprintln(w, "| | wall | without fsync | CPU | peak memory over idle | size of the result | ours: wall, CPU, peak | pylance's | wall of its byte copy; ours as a part |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|---|---|")
	for _, x := range all {
		ours, nosync, theirs := medianOf(x.sides[0].runs), medianOf(x.sides[1].runs), medianOf(x.sides[2].runs)
		peak := goal(ours.Peak/theirs.Peak, x.table.memory)
		if x.table.peak > 0 {
			peak = fmt.Sprintf("%.0f MB (%.0f MB)", ours.Peak/1e6, x.table.peak/1e6)
		}
		copying := "–"
		if len(x.sides) > 3 {
			c := medianOf(x.sides[3].runs)
			copying = fmt.Sprintf("%.2f s; %.2f, without fsync %.2f", c.Wall, ours.Wall/c.Wall, nosync.Wall/c.Wall)
		}
		fmt.Fprintf(w, "| %s) %s | %s | %.2f | %s | %s | %s | %s | %s | %s |\n", x.table.name, x.table.about,
			goal(ours.Wall/theirs.Wall, x.table.wall), nosync.Wall/theirs.Wall, goal(ours.CPU/theirs.CPU, x.table.cpu), peak,
			goal(x.bytes[0]/x.bytes[2], 1.03), figures(ours), figures(theirs), copying)
	}
	fmt.Fprintln(w, "\nReading the result with pylance, as a part of what the same rows take that one write_dataset has written:")
	fmt.Fprintln(w, "\n| | scan | take of 1,000 random rows | neighbouring pages below 1 MiB |")
	fmt.Fprintln(w, "|---|---|---|---|")
	for _, x := range all {
		scan, take := "–", "–"
		if x.table.reads {
			scan, take = goal(x.scan[0]/x.scan[1], 1.1), goal(x.take[0]/x.take[1], 1.1)
		}
		fmt.Fprintf(w, "| %s) | %s | %s | %d of %d |\n", x.table.name, scan, take, x.small, x.pages)
	}
}

func figures(m measure) string {
	return fmt.Sprintf("%.2f s, %.2f s, %.0f MB", m.Wall, m.CPU, m.Peak/1e6)
}

func goal(ratio, goal float64) string {
	if goal == 0 {
		return fmt.Sprintf("%.2f", ratio)
	}
	return fmt.Sprintf("%.2f (%.4g)", ratio, goal)
}

// reportJSON prints one object: for each table the medians of each side, and what was found of the result.
func reportJSON(w io.Writer, all []*outcome) error {
	type side struct {
		measure
		Bytes float64
	}
	type result struct {
		Sides             map[string]side
		Pages, SmallPages int
		Scan, Take        [2]float64
	}
	out := map[string]result{}
	for _, x := range all {
		r := result{Sides: map[string]side{}, Pages: x.pages, SmallPages: x.small, Scan: x.scan, Take: x.take}
		for i, c := range x.sides {
			r.Sides[c.name] = side{medianOf(c.runs), x.bytes[i]}
		}
		out[x.table.name] = r
	}
	return json.NewEncoder(w).Encode(out)
}

func medianOf(runs []measure) measure {
	return measure{
		Wall: median(runs, func(m measure) float64 { return m.Wall }),
		CPU:  median(runs, func(m measure) float64 { return m.CPU }),
		Peak: median(runs, func(m measure) float64 { return m.Peak }),
		Rows: runs[0].Rows,
	}
}

func median[T any, N cmp.Ordered](runs []T, of func(T) N) N {
	v := make([]N, 0, len(runs))
	for _, m := range runs {
		v = append(v, of(m))
	}
	slices.Sort(v)
	return v[len(v)/2]
}
