package lanceworker

import (
	"context"
	"fmt"
	"time"

	"github.com/seaweedfs/seaweedfs/weed/pb/plugin_pb"

	"github.com/seaweedfs/seaweed-lance/internal/lance/compact"
)

const compactType = "lance_compact"

var (
	targetRows = number{
		name:  "target_rows_per_fragment",
		label: "Target rows per fragment",
		help:  "Fragments with fewer rows than this are merged with their neighbours.",
		def:   compact.DefaultTargetRows,
		min:   1024,
		max:   16_777_216,
	}
	minFragments = number{
		name:  "min_fragments",
		label: "Minimum fragments",
		help:  "A table with fewer fragments than this is left as it is.",
		def:   8,
		min:   2,
		max:   4096,
	}
)

// compactJob is lance_compact.
type compactJob struct {
	engine  compactEngine
	metrics *metrics
	now     func() time.Time
}

// compactEngine is what the job needs of the table format.
type compactEngine struct {
	// judge returns what find says of the newest version, and remembers it under the name as
	// long as that is the newest; errors are not remembered. find's view is there for looking
	// at it only; find is given the error, if there is one, which says that it must not be committed to.
	judge func(ctx context.Context, s sighting, name string, find func(context.Context, compactView, error) (finding, error)) (finding, error)
	run   func(ctx context.Context, e entry, o compact.Options) (compact.Result, error)
}

// compactView is one version of a table.
type compactView interface {
	facts() facts
	// plan looks closer, at the price of a few reads. due tells whether a run
	// would merge anything; the plan may still promise more than a run finds.
	plan(ctx context.Context, p compact.Policy) (_ compact.Plan, due bool, _ error)
}

func (*compactJob) describe() description {
	return description{
		jobType:     compactType,
		verb:        "Compact",
		doing:       "compacting",
		displayName: "Lance Compaction",
		about:       "Merges the small fragments of Lance tables into larger ones.",
		icon:        "fas fa-compress",
		weight:      20,
		formID:      "lance-compact-worker",
		formTitle:   "Compaction",
		fields:      []number{targetRows, minFragments},
	}
}

func (j *compactJob) configure(values map[string]*plugin_pb.ConfigValue) task {
	return compactTask{
		compactJob: j,
		policy:     compact.Policy{TargetRows: targetRows.read(values)},
		threshold:  int(minFragments.read(values)),
	}
}

type compactTask struct {
	*compactJob
	policy    compact.Policy
	threshold int
}

// slowestCopy is how many bytes a second a run copies at worst.
const slowestCopy = 8 << 20

// inspect finds a run worthwhile when there are as many fragments as the form
// asks for and the planner has at least one task for them: the number alone
// would propose a table of eight full-size fragments for ever.
func (t compactTask) inspect(ctx context.Context, s sighting) (finding, error) {
	return t.engine.judge(ctx, s, fmt.Sprint(compactType, t.policy, t.threshold), t.find)
}

func (t compactTask) find(ctx context.Context, v compactView, refused error) (finding, error) {
	seen := v.facts()
	if refused != nil {
		return finding{facts: &seen}, refused
	}
	n := seen.fragments
	f := finding{seen: true, size: count(n, "fragment"), facts: &seen}
	at := fmt.Sprintf("%s at version %d", f.size, seen.version)
	if n < t.threshold {
		f.reason = fmt.Sprintf("%s, fewer than the %d from which on a table is compacted", at, t.threshold)
		return f, nil
	}
	plan, due, err := v.plan(ctx, t.policy)
	if err != nil {
		return f, err
	}
	left, broken := leftWords(plan.Left)
	if broken != "" {
		f.problem, f.trouble = reasonCorrupt, broken
	}
	if !due {
		f.reason = fmt.Sprintf("%s, none of which can be merged", at)
	} else {
		var sources, outputs int
		var rows, bytes int64
		for _, task := range plan.Tasks {
			sources += len(task.Fragments)
			outputs += len(task.Outputs)
			rows += task.Rows
			bytes += task.Bytes
		}
		f.due = true
		f.runtime = runtimeAtWorst(bytes, slowestCopy)
		f.reason = fmt.Sprintf("%s, %d or more are compacted: %s would turn %s of %s and %s into %d",
			at, t.threshold, count(len(plan.Tasks), "task"), count(sources, "fragment"), count(rows, "row"), byteText(bytes), outputs)
	}
	if left != "" {
		f.reason += "; left alone: " + left
	}
	return f, nil
}

func (t compactTask) run(ctx context.Context, e entry, report reportFunc) (outcome, error) {
	report(0, "planning the compaction")
	r, err := t.engine.run(ctx, e, compact.Options{
		Policy: t.policy,
		Now:    t.now,
		Progress: func(p compact.Progress) {
			report(fraction(p.BytesDone, p.Bytes), fmt.Sprintf("compacting: %d of %s done, %s of %s",
				p.TasksDone, count(p.Tasks, "task"), byteText(p.BytesDone), byteText(p.Bytes)))
		},
	})
	t.metrics.fragmentsRemoved.Add(float64(r.FragmentsRemoved))
	o := outcome{
		changed:   r.Changed,
		preempted: r.Preempted,
		values: map[string]int64{
			"fragments_removed": int64(r.FragmentsRemoved),
			"fragments_added":   int64(r.FragmentsAdded),
			"files_removed":     int64(r.FilesRemoved),
		},
	}
	switch {
	case r.FragmentsRemoved > 0:
		o.summary = fmt.Sprintf("%s became %d, %s written", count(r.FragmentsRemoved, "fragment"), r.FragmentsAdded, byteText(r.BytesWritten))
	default:
		o.summary = "nothing was merged"
		if left, _ := leftWords(r.Plan.Left); left != "" && r.Preempted == "" {
			o.summary += "; left alone: " + left
		}
	}
	return o, err
}
