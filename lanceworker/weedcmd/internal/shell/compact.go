package shell

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/seaweedfs/seaweed-lance/internal/lance/compact"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

var planCommand = subcommand{
	name:  "plan",
	args:  "[flags] TABLE",
	short: "what compact would do, and why not more",
	long: `Shows which fragments compact would merge, and for every other one the reason
why it stays as it is. Nothing is written.

` + ownSettings,
	define: func(flags *flag.FlagSet) action {
		var p compaction
		p.define(flags)
		return func(ctx context.Context, c *call, args []string) error {
			r, err := p.run(ctx, c, args, true)
			if err != nil {
				return p.fail(c, err)
			}
			if p.json {
				err = object(c.stdout, planJSON(r.Plan))
			} else {
				err = printPlan(c.stdout, r.Plan)
			}
			if err != nil {
				return err
			}
			// A plan is the answer that was asked for, whatever it says; but
			// what is broken has to be noticed.
			return notDone(r.Plan, true)
		}
	},
}

var compactCommand = subcommand{
	name:  "compact",
	args:  "[flags] TABLE",
	short: "merge small fragments",
	long: `Merges runs of small fragments. Each merged run is a commit of its own, so what
was done before an interruption stays done. Others may read and write the
table meanwhile.

` + ownSettings,
	define: func(flags *flag.FlagSet) action {
		var p compaction
		p.define(flags)
		dry := flags.Bool("dry-run", false, "write nothing, show what would be done")
		return func(ctx context.Context, c *call, args []string) error {
			r, err := p.run(ctx, c, args, *dry)
			if err := p.print(c, r, err, *dry); err != nil {
				return err
			}
			return notDone(r.Plan, r.Changed || *dry && len(r.Plan.Tasks) > 0)
		}
	},
}

// ownSettings explains which settings count.
const ownSettings = `Settings of the table itself, in its config under lance.compaction., come before
the defaults of the flags below; a flag that is given comes before them.`

// compaction is what plan and compact have in common.
type compaction struct {
	target
	flags          *flag.FlagSet
	targetRows     *int64
	maxBytes       *int64
	deletedPercent *int64
	maxSourceBytes *int64
	memoryBudget   *int64
	minFragments   *int64
}

func (p *compaction) define(flags *flag.FlagSet) {
	p.target.define(flags)
	p.flags = flags
	p.targetRows = number(flags, "target_rows_per_fragment", compact.DefaultTargetRows, 1, math.MaxInt64,
		"`rows` that a fragment should have at least")
	p.maxBytes = number(flags, "max_bytes_per_file", compact.DefaultMaxBytes, 1, math.MaxInt64,
		"`bytes` that a new data file should have at most; a fragment of more than half of it is large enough")
	p.deletedPercent = number(flags, "materialize_deletions_percent", 100*compact.DefaultThreshold, 0, 100,
		"rewrite a fragment when more than so many `percent` of its rows are deleted; 0 for any, 100 for none")
	p.maxSourceBytes = number(flags, "max_source_bytes", 0, 0, math.MaxInt64,
		"merge data files of at most so many `bytes`, and leave the rest to another run; 0 for no limit")
	p.memoryBudget = number(flags, "memory_budget_mb", 0, 0, math.MaxInt64>>20,
		"`MiB` of memory that rewriting takes at most; 0 for the default of 256")
	p.minFragments = number(flags, "min_fragments", 0, 0, math.MaxInt64,
		"leave a table with fewer `fragments` than that alone; 0 asks for none (a job's form does, to spare small tables)")
}

func (p *compaction) run(ctx context.Context, c *call, args []string, dry bool) (compact.Result, error) {
	s, done, err := p.open(ctx, c, args)
	if err != nil {
		return compact.Result{}, err
	}
	defer done()
	if few, err := p.tooFew(ctx, s); err != nil || few.Left != nil {
		return compact.Result{Plan: few}, err
	}
	pinned, err := newPinning(c)
	if err != nil {
		return compact.Result{}, err
	}
	defer pinned.end()
	line := newProgress(c)
	defer line.done()
	since := time.Now()
	return compact.Run(ctx, s, compact.Options{
		Policy:       p.policy(),
		MemoryBudget: *p.memoryBudget << 20,
		DryRun:       dry,
		Pin:          pinned.At(p.at),
		Bases:        p.bases(ctx),
		Progress: func(g compact.Progress) {
			left := ""
			if d, ok := g.Left(time.Since(since)); ok {
				left = ", " + d.Round(time.Second).String() + " left"
			}
			line.show("%d of %d merges, %s of %s rows, %s of %s%s", g.TasksDone, g.Tasks, grouped(g.RowsDone), grouped(g.Rows), size(g.BytesDone), size(g.Bytes), left)
		},
	})
}

// policy is what the flags say. Those that were given are fixed.
func (p *compaction) policy() compact.Policy {
	policy := compact.Policy{
		TargetRows:     *p.targetRows,
		MaxBytes:       *p.maxBytes,
		Threshold:      compact.Percent(*p.deletedPercent),
		MaxSourceBytes: *p.maxSourceBytes,
	}
	settings := map[string]compact.Settings{
		"target_rows_per_fragment":      compact.SettingTargetRows,
		"max_bytes_per_file":            compact.SettingMaxBytes,
		"materialize_deletions_percent": compact.SettingDeletions,
		"max_source_bytes":              compact.SettingMaxSourceBytes,
	}
	p.flags.Visit(func(f *flag.Flag) { policy.Fixed |= settings[f.Name] })
	return policy
}

// tooFew returns a plan that leaves everything alone when the table has fewer
// fragments than are asked for.
func (p *compaction) tooFew(ctx context.Context, s objects.Store) (compact.Plan, error) {
	var plan compact.Plan
	if *p.minFragments == 0 {
		return plan, nil
	}
	t, err := table.Open(ctx, s)
	if err != nil || int64(len(t.Fragments())) >= *p.minFragments {
		return plan, err
	}
	reason := fmt.Sprintf("the table has %s, fewer than -min_fragments=%d", count(len(t.Fragments()), "fragment"), *p.minFragments)
	plan.Left = make([]compact.Left, 0, len(t.Fragments()))
	for _, f := range t.Fragments() {
		plan.Left = append(plan.Left, compact.Left{Fragment: f.GetId(), Kind: compact.Fine, Reason: reason})
	}
	return plan, nil
}

// print shows a result, also one that ended with an error, which it returns.
func (p *compaction) print(c *call, r compact.Result, err error, dry bool) error {
	if errors.Is(err, ErrUsage) {
		return err
	}
	if p.json {
		return firstError(err, object(c.stdout, compactJSON(r, err, dry)))
	}
	if err != nil && !r.Changed {
		return err
	}
	return firstError(err, printCompaction(c.stdout, r, dry))
}

func printCompaction(w io.Writer, r compact.Result, dry bool) error {
	if dry {
		return printPlan(w, r.Plan)
	}
	text := "nothing to do\n"
	if r.Changed {
		text = fmt.Sprintf("%s became %s, %s written; the table is at version %d\n",
			count(r.FragmentsRemoved, "fragment"), grouped(int64(r.FragmentsAdded)), size(r.BytesWritten), r.Version)
	}
	if r.Preempted != "" {
		text += "left to another run: " + r.Preempted + "\n"
	}
	if _, err := io.WriteString(w, text); err != nil {
		return err
	}
	return printLeft(w, r.Plan)
}
