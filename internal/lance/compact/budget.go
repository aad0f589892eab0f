package compact

import (
	"fmt"
	"math"
	"strings"
)

// taken is what tasks take of what a run may: fragments, rows that are kept and bytes of data files.
type taken struct{ fragments, rows, bytes int64 }

func (t taken) and(u taken) taken {
	return taken{t.fragments + u.fragments, plus(t.rows, u.rows), plus(t.bytes, u.bytes)}
}

func takenBy(t Task) taken { return taken{int64(len(t.Fragments)), t.Rows, t.Bytes - t.Beside} }

func takenOf(f *Fragment) taken { return taken{1, f.kept(), f.Bytes} }

// plus adds sizes that a manifest may have made up.
func plus(a, b int64) int64 { return a + min(b, math.MaxInt64-a) }

// allow tells whether one run may merge so much.
func (p Policy) allow(t taken) bool {
	within := func(n, limit int64) bool { return limit <= 0 || n <= limit }
	return within(t.fragments, p.MaxSourceFragments) && within(t.rows, p.MaxSourceRows) && within(t.bytes, p.MaxSourceBytes)
}

// limits says how much that is.
func (p Policy) limits() string {
	var all []string
	for _, l := range []struct {
		n    int64
		unit string
	}{{p.MaxSourceFragments, "fragments"}, {p.MaxSourceRows, "rows"}, {p.MaxSourceBytes, "bytes of files"}} {
		if l.n > 0 {
			all = append(all, fmt.Sprintf("%d %s", l.n, l.unit))
		}
	}
	return strings.Join(all, " or ") + " at most"
}

// limit leaves out the tasks from the one on that would take the run, with what it has done before, beyond what it
// may merge; and one that no run may.
func (b *planner) limit(done taken) {
	tasks := b.plan.Tasks
	b.plan.Tasks = nil
	full := false
	for i, t := range tasks {
		after := done.and(takenBy(t))
		reason := ""
		switch {
		case !b.allow(takenBy(t)):
			reason = "rewriting it would be more than a run is to merge, " + b.limits()
		case full || !b.allow(after):
			full = true
			reason = "waits for another run: one merges " + b.limits()
		default:
			b.plan.Tasks, done = append(b.plan.Tasks, t), after
			continue
		}
		for _, f := range b.of[i] {
			b.left(f, Fine, reason)
		}
	}
}
