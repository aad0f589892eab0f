package compact

import (
	"cmp"
	"fmt"
	"slices"
)

// MakePlan decides what to merge (FORMAT A6). A fragment that is below the target and takes at most half of what a file may hold, or that
// has many deleted rows, is merged with its neighbours when they are such, too, and their columns can go into one file; a run of
// such fragments is cut into tasks by rows and bytes, and what is left at its end joins the last one. A fragment with many
// deleted rows is also rewritten alone.
//
// A task leaves fewer fragments than it takes, or the same rows without deleted ones: so planning comes to an end, and what
// a plan leads to is large enough as far as neighbours allow.
func MakePlan(f Facts, p Policy) Plan { return makePlan(f, p, taken{}) }

// makePlan is MakePlan for a run that has done some of its work already.
func makePlan(f Facts, p Policy, done taken) Plan {
	b := planner{Policy: p, before: "it is the first", plan: Plan{Own: f.Own}, together: newTogether(), besides: besidesOf(f.Fragments)}
	if f.Refused != "" {
		for i := range f.Fragments {
			b.left(&f.Fragments[i], Unsupported, f.Refused)
		}
		return b.plan
	}
	for i := range f.Fragments {
		b.add(&f.Fragments[i])
	}
	b.endRun("no fragment follows", "")
	b.limit(done)
	slices.SortFunc(b.plan.Left, func(a, b Left) int { return cmp.Compare(a.Fragment, b.Fragment) })
	return b.plan
}

type planner struct {
	Policy
	plan Plan
	// of are the fragments of each task.
	of [][]*Fragment
	// run is the current run of neighbours that may be merged.
	run []*Fragment
	// together is what of the run has to be in one page.
	together together
	// before says what stands before the run.
	before  string
	besides besides
}

func (b *planner) add(f *Fragment) {
	enough := b.enough(f)
	switch {
	case enough != "" && !b.due(f):
		// Big enough: what would block it is of no interest.
		if f.Deleted > 0 {
			enough += fmt.Sprintf(", and only %d are deleted", f.Deleted)
		}
		b.left(f, Fine, enough)
		why := fmt.Sprintf("fragment %d is large enough", f.ID)
		b.endRun(why, why)
	case f.Blocked != "":
		b.left(f, f.Kind, f.Blocked)
		why := fmt.Sprintf("fragment %d can't be merged", f.ID)
		b.endRun(why, why)
	default:
		if n := len(b.run); n > 0 && !alike(b.run[n-1], f) {
			const differs = "fragment %d holds other columns than can be filled or encoded anew"
			b.endRun(fmt.Sprintf(differs, f.ID), fmt.Sprintf(differs, b.run[n-1].ID))
		}
		if n := len(b.run); n > 0 && !b.together.fits(f) {
			why := fmt.Sprintf("fragments %d and %d have more in a column that has to be one page than can be: words of a dictionary, or bytes", b.run[n-1].ID, f.ID)
			b.endRun(why, why)
		}
		b.together.add(f)
		b.run = append(b.run, f)
	}
}

// enough says that a fragment is as large as one should be, and why; "" when it is not. Of those that are not, two always
// go into one file.
func (b *planner) enough(f *Fragment) string {
	switch {
	case f.Rows >= b.target():
		return fmt.Sprintf("has %d rows, the target is %d", f.Rows, b.target())
	case f.Bytes > b.maxBytes()/2:
		return fmt.Sprintf("has %d rows, fewer than the target of %d, but takes %s, and a file should have %s at most", f.Rows, b.target(), sizeText(f.Bytes), sizeText(b.maxBytes()))
	}
	return ""
}

// alike tells whether two fragments hold the same in the same form of the columns of which they must, as
// far as is known: what has not been looked at yet may turn out to be.
func alike(a, b *Fragment) bool {
	return a.Layout == b.Layout && (!a.seen || !b.seen || a.agreed == b.agreed)
}

func (b *planner) left(f *Fragment, k Kind, reason string) {
	b.plan.Left = append(b.plan.Left, Left{Fragment: f.ID, Kind: k, Reason: reason})
}

// endRun turns the current run into tasks. after says what ends it and next what
// stands before the run that comes.
func (b *planner) endRun(after, next string) {
	run, before := b.run, b.before
	b.run, b.together, b.before = nil, newTogether(), next
	for _, piece := range b.cut(run) {
		if f := piece.fragments[0]; len(piece.fragments) == 1 && !b.due(f) {
			why := before + ", and " + after
			if len(run) > 1 {
				why = "with a neighbour it would be more than a run is to merge, " + b.limits()
			}
			b.left(f, Fine, fmt.Sprintf("has %d rows and nothing to be merged with: %s", f.Rows, why))
			continue
		}
		b.plan.Tasks, b.of = append(b.plan.Tasks, b.task(piece.fragments)), append(b.of, piece.fragments)
	}
}

// task makes one of neighbours.
func (b *planner) task(piece []*Fragment) Task {
	t, deleted := Task{}, uint64(0)
	for _, f := range piece {
		t.Fragments = append(t.Fragments, f.ID)
		t.Rows = plus(t.Rows, f.kept())
		t.Bytes = plus(t.Bytes, f.Bytes)
		t.Beside = plus(t.Beside, b.besides.of(f))
		deleted += f.Deleted
		if f.encoded() {
			t.Encoded = plus(t.Encoded, f.Bytes)
		}
	}
	t.Bytes = plus(t.Bytes, t.Beside)
	t.Outputs = outputsOf(piece, b.target(), b.maxBytes())
	switch {
	case t.Rows == 0:
		t.Reason = fmt.Sprintf("all rows of %d fragments are deleted", len(piece))
	case len(piece) == 1:
		t.Reason = fmt.Sprintf("of its %d rows %d are deleted, %s", piece[0].Rows, deleted, b.much())
	case deleted > 0:
		t.Reason = fmt.Sprintf("%d fragments, each below the target of %d rows or with many deleted ones, become %d of %d rows together, without %d deleted ones",
			len(piece), b.target(), len(t.Outputs), t.Rows, deleted)
	default:
		t.Reason = fmt.Sprintf("%d fragments, each below the target of %d rows, become %d of %d rows together", len(piece), b.target(), len(t.Outputs), t.Rows)
	}
	if uint64(len(t.Outputs)) > max(1, uint64(t.Rows)/b.target()) {
		t.Reason += fmt.Sprintf(", as a file should have %s at most", sizeText(b.maxBytes()))
	}
	return t
}

// sizeText says a size as people read it.
func sizeText(n int64) string {
	const unit = 1024
	if n < unit {
		return fmt.Sprintf("%d bytes", n)
	}
	f, prefix := float64(n)/unit, "KMGTPE"
	for f >= unit {
		f, prefix = f/unit, prefix[1:]
	}
	return fmt.Sprintf("%.1f %ciB", f, prefix[0])
}

// share deals the fragments of a task out to its output files, in order and
// about evenly by rows. Every output gets at least one.
func share(rows []uint64, outputs int) [][]int {
	var total uint64
	for _, r := range rows {
		total += r
	}
	if outputs == 0 {
		return nil
	}
	shares := make([][]int, 0, outputs)
	var cur []int
	var sum uint64
	for i, r := range rows {
		cur = append(cur, i)
		sum += r
		done := len(shares)
		mustEnd := len(rows)-1-i == outputs-1-done // one fragment for each output that is left
		if done < outputs-1 && (mustEnd || sum*uint64(outputs) >= total*uint64(done+1)) {
			shares = append(shares, cur)
			cur = nil
		}
	}
	return append(shares, cur)
}
