package lanceworker

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/seaweedfs/seaweedfs/weed/pb/plugin_pb"

	"github.com/seaweedfs/seaweed-lance/internal/lance/compact"
)

const compactType = "lance_compact"

var (
	targetRows = number{
		name:  "target_rows_per_fragment",
		label: "Target rows per fragment",
		help:  "Fragments with fewer rows than this are merged with their neighbours. A table's own lance.compaction settings come before this and those below.",
		def:   compact.DefaultTargetRows,
		min:   1024,
		max:   16_777_216,
	}
	maxBytes = number{
		name:  "max_bytes_per_file",
		label: "Most bytes of a data file",
		help:  "New data files are cut before they exceed this, and a fragment of more than half of it counts as large enough however few rows it has.",
		def:   compact.DefaultMaxBytes,
		min:   16 << 20,
		max:   1 << 40,
	}
	deletedPercent = number{
		name:  "materialize_deletions_percent",
		label: "Deleted rows (percent)",
		help:  "A fragment is rewritten without its deleted rows, however large it is, when more than this share of them is deleted. 0: when any is; 100: never for that alone.",
		def:   10,
		min:   0,
		max:   100,
	}
	maxSourceBytes = number{
		name:  "max_source_bytes",
		label: "Most bytes of one run",
		help:  "One run merges data files of at most so many bytes; what is left waits for another run. 0: no limit.",
		def:   0,
		min:   0,
		max:   1 << 50,
	}
	memoryBudget = number{
		name:  "memory_budget_mb",
		label: "Memory budget (MiB)",
		help:  "The most memory that the rewriting of one table takes, whatever its rows; less makes the rewriting of wide rows slower. A worker needs as much for each job that it runs at the same time.",
		def:   compact.DefaultMemory >> 20,
		min:   compact.MinMemory >> 20,
		max:   65_536,
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
		fields:      []number{targetRows, maxBytes, minFragments, deletedPercent, maxSourceBytes, memoryBudget},
	}
}

func (j *compactJob) configure(values map[string]*plugin_pb.ConfigValue) task {
	return compactTask{
		compactJob: j,
		policy: compact.Policy{
			TargetRows:     targetRows.read(values),
			MaxBytes:       maxBytes.read(values),
			Threshold:      compact.Percent(deletedPercent.read(values)),
			MaxSourceBytes: maxSourceBytes.read(values),
		},
		threshold: int(minFragments.read(values)),
		memory:    memoryBudget.read(values) << 20,
	}
}

type compactTask struct {
	*compactJob
	policy    compact.Policy
	threshold int
	memory    int64
}

// slowestCopy is how many bytes a second a run copies at worst. What it decodes and encodes takes as long again.
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
		var rows, bytes, work int64
		for _, task := range plan.Tasks {
			sources += len(task.Fragments)
			outputs += len(task.Outputs)
			rows += task.Rows
			bytes += task.Bytes
			work += task.Bytes + task.Encoded
		}
		f.due = true
		f.runtime = runtimeAtWorst(work, slowestCopy)
		f.reason = fmt.Sprintf("%s, %d or more are compacted: %s would turn %s of %s and %s into %d",
			at, t.threshold, count(len(plan.Tasks), "task"), count(sources, "fragment"), count(rows, "row"), byteText(bytes), outputs)
	}
	if left != "" {
		f.reason += "; left alone: " + left
	}
	if len(plan.Own) > 0 {
		f.reason += "; by the table's own settings: " + strings.Join(plan.Own, ", ")
	}
	return f, nil
}

func (t compactTask) run(ctx context.Context, e entry, report reportFunc) (outcome, error) {
	report(0, "planning the compaction")
	var since time.Time
	r, err := t.engine.run(ctx, e, compact.Options{
		Policy:       t.policy,
		MemoryBudget: t.memory,
		Now:          t.now,
		Progress: func(p compact.Progress) {
			now := t.now()
			if since.IsZero() {
				since = now
			}
			report(fraction(p.BytesDone, p.Bytes), progressText(p, now.Sub(since)))
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

// progressText says how far a run is: "compacting: 1 of 4 tasks done, 120 of 400 rows, 2.0 MiB of 8.0 MiB, about 3 minutes left".
func progressText(p compact.Progress, passed time.Duration) string {
	text := fmt.Sprintf("compacting: %d of %s done, %d of %s, %s of %s",
		p.TasksDone, count(p.Tasks, "task"), p.RowsDone, count(p.Rows, "row"), byteText(p.BytesDone), byteText(p.Bytes))
	if left, ok := p.Left(passed); ok {
		text += ", " + leftTime(left)
	}
	return text
}
