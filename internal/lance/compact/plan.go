package compact

import (
	"cmp"
	"fmt"
	"slices"
)

// maxTaskBytes is where a task ends however few its rows are: the size at which
// Lance's own writer starts another file.
const maxTaskBytes = 90 << 30

func (p Policy) target() uint64 {
	if p.TargetRows <= 0 {
		return DefaultTargetRows
	}
	return uint64(p.TargetRows)
}

// MakePlan decides what to merge (FORMAT A6). A fragment below the target, or with many deleted rows, is
// merged with its neighbours when they are such, too, and their columns can go into one file; a run of such fragments is
// cut as soon as the rows that a piece keeps reach the target, and what is left at its end joins the last
// piece. A fragment with many deleted rows is also rewritten alone.
func MakePlan(f Facts, p Policy) Plan {
	b := planner{target: p.target(), before: "it is the first"}
	for i := range f.Fragments {
		b.add(&f.Fragments[i])
	}
	b.endRun("no fragment follows", "")
	slices.SortFunc(b.plan.Left, func(a, b Left) int { return cmp.Compare(a.Fragment, b.Fragment) })
	return b.plan
}

type planner struct {
	target uint64
	plan   Plan
	// run is the current run of neighbours that may be merged.
	run []*Fragment
	// before says what stands before the run.
	before string
}

func (b *planner) add(f *Fragment) {
	switch {
	case f.Rows >= b.target && !mostlyDeleted(f):
		// Big enough: what would block it is of no interest.
		reason := fmt.Sprintf("has %d rows, the target is %d", f.Rows, b.target)
		if f.Deleted > 0 {
			reason += fmt.Sprintf(", and only %d are deleted", f.Deleted)
		}
		b.left(f, Fine, reason)
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
		b.run = append(b.run, f)
	}
}

// alike tells whether two fragments hold the same in the same form of the columns of which they must, as
// far as is known: what has not been looked at yet may turn out to be.
func alike(a, b *Fragment) bool {
	return a.Layout == b.Layout && (!a.seen || !b.seen || a.agreed == b.agreed)
}

// mostlyDeleted tells whether a fragment is worth rewriting for its deleted
// rows alone: more than a tenth of them, Lance's default threshold. One without rows is not worth keeping, and
// one whose entry doesn't tell how many there are is worth a look.
func mostlyDeleted(f *Fragment) bool { return f.Deleted*10 > f.Rows || f.Rows == 0 || f.uncounted }

func (b *planner) left(f *Fragment, k Kind, reason string) {
	b.plan.Left = append(b.plan.Left, Left{Fragment: f.ID, Kind: k, Reason: reason})
}

// endRun turns the current run into tasks. after says what ends it and next what
// stands before the run that comes.
func (b *planner) endRun(after, next string) {
	run, before := b.run, b.before
	b.run, b.before = nil, next
	for _, piece := range cut(run, b.target) {
		if len(piece) == 1 && !mostlyDeleted(piece[0]) {
			why := before + ", and " + after
			if len(run) > 1 {
				why = "with its neighbours it would be larger than a data file should be"
			}
			b.left(piece[0], Fine, fmt.Sprintf("has %d rows and nothing to be merged with: %s", piece[0].Rows, why))
			continue
		}
		t, deleted, full := Task{}, uint64(0), uint64(0)
		for _, f := range piece {
			if f.live() > 0 {
				full++
			}
			t.Fragments = append(t.Fragments, f.ID)
			t.Rows += int64(f.live())
			t.Bytes += f.Bytes
			deleted += f.Deleted
		}
		// Fewer than there were, whatever the rows say: a task that leaves as
		// many fragments as it found would be planned again for ever.
		t.Outputs = spread(t.Rows, max(1, min(uint64(t.Rows)/b.target, uint64(len(piece)-1), full)))
		t.Reason = fmt.Sprintf("%d fragments, each below the target of %d rows, become %d of %d rows together", len(piece), b.target, len(t.Outputs), t.Rows)
		switch {
		case t.Rows == 0:
			t.Reason = fmt.Sprintf("all rows of %d fragments are deleted", len(piece))
		case len(piece) == 1:
			t.Reason = fmt.Sprintf("of its %d rows %d are deleted, more than a tenth", piece[0].Rows, deleted)
		case deleted > 0:
			t.Reason = fmt.Sprintf("%d fragments, each below the target of %d rows or with many deleted ones, become %d of %d rows together, without %d deleted ones",
				len(piece), b.target, len(t.Outputs), t.Rows, deleted)
		}
		b.plan.Tasks = append(b.plan.Tasks, t)
	}
}

// cut takes a run apart into the pieces that are merged together.
func cut(run []*Fragment, target uint64) [][]*Fragment {
	var pieces [][]*Fragment
	var piece []*Fragment
	var rows uint64
	var bytes int64
	joinable := false // the last piece was ended by its rows
	flush := func(byRows bool) {
		if len(piece) > 0 {
			pieces = append(pieces, piece)
		}
		piece, rows, bytes, joinable = nil, 0, 0, byRows
	}
	for _, f := range run {
		if len(piece) > 0 && bytes+f.Bytes > maxTaskBytes {
			flush(false)
		}
		piece = append(piece, f)
		rows, bytes = rows+f.live(), bytes+f.Bytes
		if rows >= target {
			flush(true)
		}
	}
	if len(piece) == 0 {
		return pieces
	}
	if n := len(pieces); n > 0 && joinable && sizeOf(pieces[n-1])+bytes <= maxTaskBytes {
		pieces[n-1] = append(pieces[n-1], piece...)
		return pieces
	}
	flush(false)
	return pieces
}

// spread deals rows out to outputs evenly, at least one row to each.
func spread(rows int64, outputs uint64) []int64 {
	n := min(int64(outputs), rows)
	shares := make([]int64, n)
	for i := range shares {
		shares[i] = rows / n
		if int64(i) < rows%n {
			shares[i]++
		}
	}
	return shares
}

func sizeOf(piece []*Fragment) (n int64) {
	for _, f := range piece {
		n += f.Bytes
	}
	return n
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
