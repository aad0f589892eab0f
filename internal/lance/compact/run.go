package compact

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/slab"
	"github.com/seaweedfs/seaweed-lance/internal/lance/journal"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// maxPasses bounds how often in a row a run plans again without having merged
// anything, for conflicts above all. Passes that merge end by themselves: each leaves fewer
// fragments.
const maxPasses = 10

// Run plans on the newest version, merges, and plans again until nothing is
// left to do. What another run is at work on is left to it.
func Run(ctx context.Context, s objects.Store, o Options) (Result, error) {
	name, end := journal.Begin()
	defer end()
	r := &run{store: s, opts: o, name: name, careful: o.careful, limits: limitsOf(o.MemoryBudget)}
	r.files = newOpenFiles(r.limits.metadata)
	defer collectOften(r.limits.total)()
	defer slab.Hold()()
	err := r.passes(ctx)
	if cause := ctx.Err(); err != nil && cause != nil && !errors.Is(err, cause) {
		err = errors.Join(cause, err)
	}
	return r.res, err
}

// run is one Run under way.
type run struct {
	store objects.Store
	opts  Options
	name  string
	res   Result
	buf   []byte
	prog  Progress
	// done is what of its policy's limits the run has used up.
	done taken
	// conflict is the last one that a task met.
	conflict error
	// pinned are the files that the pass may read; nil when nothing pins them.
	pinned map[string]bool
	// looked is what the pass knows of the fragments' files.
	looked map[uint64]*Fragment
	// careful: pages that can be copied are, since this build can't decode all of them.
	careful bool
	limits  limits
	// files are the data files that were opened.
	files *openFiles
	// refused are fragments whose files turned out, while they were merged, to be none that can be.
	refused map[uint64]Left
}

func (r *run) now() time.Time {
	if r.opts.Now != nil {
		return r.opts.Now()
	}
	return time.Now()
}

// open opens the newest version.
func (r *run) open(ctx context.Context) (*table.Table, error) {
	t, err := table.Open(ctx, r.store)
	if err != nil {
		return nil, err
	}
	return t.WithBases(r.opts.Bases), nil
}

func (r *run) committer() table.Committer { return table.Committer{Now: r.opts.Now} }

// copyBuffer is shared by all files: they are written one after the other.
func (r *run) copyBuffer() []byte {
	if r.buf == nil {
		r.buf = make([]byte, objects.CopyBuffer)
	}
	return r.buf
}

func (r *run) report() {
	if r.opts.Progress != nil {
		r.opts.Progress(r.prog)
	}
}

// committed counts what a task has changed.
func (r *run) committed(t *table.Table, old, added []*pb.DataFragment) {
	r.res.Changed = true
	r.res.Version = t.Version()
	r.res.FragmentsRemoved += len(old)
	r.res.FragmentsAdded += len(added)
	for _, f := range old {
		r.res.FilesRemoved += len(f.GetFiles())
		for _, d := range f.GetFiles() {
			r.files.forget(r.store, table.DataName(d))
		}
	}
	for _, f := range added {
		r.res.FilesAdded += len(f.GetFiles())
	}
	r.prog.TasksDone++
	r.report()
}

func (r *run) passes(ctx context.Context) error {
	done := 0
	for idle := 0; idle < maxPasses; idle++ {
		if n := r.res.FragmentsRemoved + len(r.refused); n > done {
			idle, done = 0, n
		}
		t, err := r.open(ctx)
		if err != nil {
			return err
		}
		if err := t.Writable(); err != nil {
			return err
		}
		r.res.Version = t.Version()
		facts, policy, err := survey(ctx, t, r.opts.Policy, r.done, r.refused, r.files.open)
		if err != nil {
			return err
		}
		if stale, err := outrun(ctx, t, facts); err != nil {
			return err
		} else if stale {
			continue
		}
		r.looked = make(map[uint64]*Fragment)
		for i := range facts.Fragments {
			r.looked[facts.Fragments[i].ID] = &facts.Fragments[i]
		}
		plan := makePlan(facts, policy, r.done)
		if r.res.Plan.Tasks == nil && r.res.Plan.Left == nil {
			r.res.Plan = plan
		}
		if len(plan.Tasks) == 0 && r.res.FragmentsRemoved == 0 && r.conflict != nil {
			r.res.Preempted = "other writers were there first: " + r.conflict.Error()
		}
		if len(plan.Tasks) == 0 || r.opts.DryRun {
			return nil
		}
		progress, err := r.pass(ctx, t, plan.Tasks)
		if err != nil || !progress {
			return err
		}
	}
	if !r.res.Changed && r.conflict != nil {
		return fmt.Errorf("%w; the last: %w", table.ErrContended, r.conflict)
	}
	return nil
}

// outrun tells whether a data file is missing because others have merged its
// fragment and cleaned up since the version was opened.
func outrun(ctx context.Context, t *table.Table, f Facts) (bool, error) {
	if !slices.ContainsFunc(f.Fragments, func(x Fragment) bool { return x.missing }) {
		return false, nil
	}
	newest, _, err := table.Newest(ctx, t.Store())
	return newest.Version != t.Version(), err
}

// pass carries out the tasks of one plan. again tells that planning again may
// find more that this run can do.
func (r *run) pass(ctx context.Context, t *table.Table, tasks []Task) (again bool, err error) {
	tasks, err = r.unclaimed(ctx, tasks)
	if err != nil || len(tasks) == 0 {
		return false, err
	}
	release, err := r.pin(ctx, t)
	if errors.Is(err, objects.ErrNotFound) && ctx.Err() == nil {
		r.conflict = err
		return true, nil
	}
	if err != nil {
		return false, err
	}
	defer release()
	ids := &reservation{}
	r.prog.Tasks = r.prog.TasksDone + len(tasks)
	for _, x := range tasks {
		r.prog.Rows, r.prog.Bytes = plus(r.prog.Rows, x.Rows), plus(r.prog.Bytes, x.Bytes)
	}
	for i, x := range tasks {
		k := &task{run: r, Task: x, ids: ids, rest: tasks[i:]}
		err := k.do(ctx)
		k.settle(err == nil)
		switch {
		case err == nil:
			r.done = r.done.and(takenBy(x))
			again = true
		case ctx.Err() != nil:
			return false, errors.Join(ctx.Err(), err)
		case errors.Is(err, objects.ErrUnknown):
			return false, err
		case errors.Is(err, errPreempted):
			r.res.Preempted = err.Error()
		case errors.Is(err, table.ErrConflict):
			// Somebody changed what this task was to merge: plan it anew.
			r.conflict = err
			again = true
		case !r.careful && errors.Is(err, column.ErrUnsupported):
			r.careful, again = true, true
		case r.refuse(err):
			again = true
		default:
			return false, err
		}
	}
	return again, nil
}

// refuse notes which fragment an error is about, so that the others are merged without it.
func (r *run) refuse(err error) bool {
	var f *fragmentError
	if !errors.As(err, &f) {
		return false
	}
	kind, ok := kindOfContent(f.err)
	if !ok {
		return false
	}
	if r.refused == nil {
		r.refused = make(map[uint64]Left)
	}
	l := Left{Fragment: f.id, Kind: kind, Reason: f.err.Error()}
	r.refused[f.id] = l
	r.res.Plan.Left = append(r.res.Plan.Left, l)
	return true
}
