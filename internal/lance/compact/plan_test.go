package compact

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// fragmentsOf are fragments of the given numbers of rows, with ids from 0 on.
func fragmentsOf(rows ...uint64) []Fragment {
	var fs []Fragment
	for i, n := range rows {
		fs = append(fs, Fragment{ID: uint64(i), Rows: n, Bytes: int64(n) * 10, Layout: "0 1"})
	}
	return fs
}

func times(n int, rows uint64) []uint64 { return slices.Repeat([]uint64{rows}, n) }

func span(from, to uint64) (ids []uint64) {
	for id := from; id <= to; id++ {
		ids = append(ids, id)
	}
	return ids
}

func blocked(fs []Fragment, ids ...int) []Fragment {
	for _, i := range ids {
		fs[i].Blocked, fs[i].Kind = "of a test", Unsupported
	}
	return fs
}

// What Lance's own planner makes of the same tables (FORMAT A6), where copying
// pages is enough.
func TestPlanAsLance(t *testing.T) {
	type task struct {
		ids     []uint64
		outputs int
	}
	tests := []struct {
		name   string
		fs     []Fragment
		target int64
		want   []task
	}{
		{"100 x 5000", fragmentsOf(times(100, 5000)...), 0, []task{{span(0, 99), 1}}},
		{"10 x 200", fragmentsOf(times(10, 200)...), 500, []task{{span(0, 2), 1}, {span(3, 5), 1}, {span(6, 9), 1}}},
		{"11 x 200", fragmentsOf(times(11, 200)...), 500, []task{{span(0, 2), 1}, {span(3, 5), 1}, {span(6, 10), 2}}},
		{"2 x (target - 1)", fragmentsOf(999, 999), 1000, []task{{span(0, 1), 1}}},
		{"100, 1000, 100", fragmentsOf(100, 1000, 100), 1000, nil},
		{"1000, 100", fragmentsOf(1000, 100), 1000, nil},
		{"3 x 700", fragmentsOf(times(3, 700)...), 1000, []task{{span(0, 2), 2}}},
		{"7 x 300", fragmentsOf(times(7, 300)...), 1000, []task{{span(0, 6), 2}}},
		{"5 x 300", fragmentsOf(times(5, 300)...), 1000, []task{{span(0, 4), 1}}},
		{"10 x 200 without the fourth", blocked(fragmentsOf(times(10, 200)...), 4), 500, []task{{span(0, 3), 1}, {span(5, 9), 2}}},
		{"one", fragmentsOf(10), 1000, nil},
		{"none", nil, 1000, nil},
		{"exactly the target, twice", fragmentsOf(1000, 1000), 1000, nil},
		{"a target of one row", fragmentsOf(1, 1, 1), 1, nil},
		{"reaches the target exactly", fragmentsOf(500, 500, 500, 500), 1000, []task{{span(0, 1), 1}, {span(2, 3), 1}}},
		{"the tail joins", fragmentsOf(500, 500, 10), 1000, []task{{span(0, 2), 1}}},
		{"large ones between", fragmentsOf(1, 1, 5000, 1, 1, 1, 5000, 1), 1000, []task{{[]uint64{0, 1}, 1}, {[]uint64{3, 4, 5}, 1}}},
		{"no rows at all", fragmentsOf(0, 0, 0), 1000, []task{{span(0, 2), 0}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			plan := MakePlan(Facts{Fragments: tt.fs}, Policy{TargetRows: tt.target})
			var got []task
			for _, x := range plan.Tasks {
				got = append(got, task{x.Fragments, len(x.Outputs)})
			}
			if fmt.Sprint(got) != fmt.Sprint(tt.want) {
				t.Errorf("tasks %v, want %v", got, tt.want)
			}
			checkPlan(t, tt.fs, tt.target, plan)
		})
	}
}

// What Lance's own planner makes of tables with deleted rows (FORMAT A6), but that here a fragment is not cut in two.
func TestPlanDeletions(t *testing.T) {
	deleted := func(rows, gone []uint64) []Fragment {
		fs := fragmentsOf(rows...)
		for i := range fs {
			fs[i].Deleted = gone[i]
		}
		return fs
	}
	tests := []struct {
		name string
		fs   []Fragment
		want string // fragments and outputs of the tasks
	}{
		{"15 % deleted", deleted([]uint64{1000}, []uint64{150}), "[[0] 1 850]"},
		{"10.1 % deleted", deleted([]uint64{1000}, []uint64{101}), "[[0] 1 899]"},
		{"10 % deleted", deleted([]uint64{1000}, []uint64{100}), ""},
		{"1000 with 5 % deleted, 100", deleted([]uint64{1000, 100}, []uint64{50, 0}), ""},
		{"100, 1000 with 20 % deleted, 100", deleted([]uint64{100, 1000, 100}, []uint64{0, 200, 0}), "[[0 1 2] 1 1000]"},
		{"2 x 1000, 20 % deleted each", deleted([]uint64{1000, 1000}, []uint64{200, 200}), "[[0 1] 1 1600]"},
		{"alone below the target, few deleted", deleted([]uint64{100}, []uint64{10}), ""},
		{"alone below the target, many deleted", deleted([]uint64{100}, []uint64{11}), "[[0] 1 89]"},
		{"few deleted, with neighbours", deleted([]uint64{100, 100}, []uint64{1, 0}), "[[0 1] 1 199]"},
		{"cut by rows that are kept", deleted(times(4, 600), times(4, 100)), "[[0 1] 1 1000][[2 3] 1 1000]"},
	}
	for _, tt := range tests {
		plan := MakePlan(Facts{Fragments: tt.fs}, Policy{TargetRows: 1000})
		checkPlan(t, tt.fs, 1000, plan)
		got := ""
		for _, x := range plan.Tasks {
			got += fmt.Sprint([]any{x.Fragments, len(x.Outputs), x.Rows})
		}
		if got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
		checkConverges(t, tt.fs, 1000, maxPasses)
	}
}

// Every fragment that stays has its reason.
func TestPlanReasons(t *testing.T) {
	type left struct {
		id   uint64
		kind Kind
		says []string
	}
	deleted := func(fs []Fragment, i int, n uint64) []Fragment {
		fs[i].Deleted = n
		return fs
	}
	layout := func(fs []Fragment, ids ...int) []Fragment {
		for _, i := range ids {
			fs[i].Layout = "0 1 2"
		}
		return fs
	}
	huge := func(fs []Fragment, bytes ...int64) []Fragment {
		for i, n := range bytes {
			fs[i].Bytes = n << 30
		}
		return fs
	}
	tests := []struct {
		name  string
		fs    []Fragment
		tasks int
		want  []left
	}{
		{"alone", fragmentsOf(7), 0, []left{{0, Fine, []string{"7 rows", "the first", "no fragment follows"}}}},
		{"large enough", fragmentsOf(1000), 0, []left{{0, Fine, []string{"1000 rows", "target is 1000"}}}},
		{"between large ones", fragmentsOf(1000, 10, 2000), 0, []left{
			{0, Fine, nil}, {1, Fine, []string{"10 rows", "fragment 0 is large enough", "fragment 2 is large enough"}}, {2, Fine, nil}}},
		{"first and last", fragmentsOf(10, 1000, 10), 0, []left{
			{0, Fine, []string{"it is the first", "fragment 1 is large enough"}}, {1, Fine, nil},
			{2, Fine, []string{"fragment 1 is large enough", "no fragment follows"}}}},
		{"blocked", blocked(fragmentsOf(10, 10, 10), 1), 0, []left{
			{0, Fine, []string{"fragment 1 can't be merged"}}, {1, Unsupported, []string{"of a test"}}, {2, Fine, []string{"fragment 1 can't be merged", "no fragment follows"}}}},
		{"large and blocked: large is what counts", blocked(fragmentsOf(1000), 0), 0, []left{{0, Fine, []string{"1000 rows"}}}},
		{"large, few rows deleted", deleted(fragmentsOf(1000), 0, 100), 0, []left{{0, Fine, []string{"only 100 are deleted"}}}},
		{"large, many rows deleted", blocked(deleted(fragmentsOf(1000), 0, 101), 0), 0, []left{{0, Unsupported, []string{"of a test"}}}},
		{"other columns", layout(fragmentsOf(10, 20), 1), 0, []left{
			{0, Fine, []string{"10 rows", "fragment 1 holds other columns"}}, {1, Fine, []string{"20 rows", "fragment 0 holds other columns"}}}},
		{"other columns in the middle", layout(fragmentsOf(10, 10, 20, 30, 30), 2), 2, []left{
			{2, Fine, []string{"20 rows", "fragment 1 holds other columns", "fragment 3 holds other columns"}}}},
		{"too many bytes", huge(fragmentsOf(10, 10), 80, 80), 0, []left{
			{0, Fine, []string{"larger than a data file should be"}}, {1, Fine, []string{"larger than a data file should be"}}}},
		{"too many bytes for the third", huge(fragmentsOf(10, 10, 10), 40, 40, 40), 1, []left{{2, Fine, []string{"larger than a data file should be"}}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			plan := MakePlan(Facts{Fragments: tt.fs}, Policy{TargetRows: 1000})
			checkPlan(t, tt.fs, 1000, plan)
			if len(plan.Tasks) != tt.tasks || len(plan.Left) != len(tt.want) {
				t.Fatalf("tasks %v, left %v", plan.Tasks, plan.Left)
			}
			for i, want := range tt.want {
				if got := plan.Left[i]; got.Fragment != want.id || got.Kind != want.kind {
					t.Errorf("left %+v, want %+v", got, want)
				}
				says(t, plan.Left[i].Reason, want.says...)
			}
			for _, task := range plan.Tasks {
				says(t, task.Reason, fmt.Sprint(len(task.Fragments)), "1000", fmt.Sprint(task.Rows))
			}
		})
	}
}

// A task ends before it gets too large, and the tail does not join one that is.
func TestPlanBytes(t *testing.T) {
	fs := fragmentsOf(times(10, 10)...)
	for i := range fs {
		fs[i].Bytes = 30 << 30
	}
	plan := MakePlan(Facts{Fragments: fs}, Policy{TargetRows: 1000})
	checkPlan(t, fs, 1000, plan)
	if len(plan.Tasks) != 3 || len(plan.Left) != 1 {
		t.Errorf("tasks %v, left %v", plan.Tasks, plan.Left)
	}
	fs = fragmentsOf(600, 600, 100, 100)
	for i := range fs {
		fs[i].Bytes = 40 << 30
	}
	plan = MakePlan(Facts{Fragments: fs}, Policy{TargetRows: 1000})
	checkPlan(t, fs, 1000, plan)
	if fmt.Sprint(plan.Tasks[0].Fragments, plan.Tasks[1].Fragments) != "[0 1] [2 3]" {
		t.Errorf("tasks %v", plan.Tasks)
	}
}

// checkPlan holds a plan against what every plan promises.
func checkPlan(t *testing.T, fs []Fragment, target int64, plan Plan) {
	t.Helper()
	if target <= 0 {
		target = DefaultTargetRows
	}
	at := make(map[uint64]int)
	for i, f := range fs {
		at[f.ID] = i
	}
	seen := make(map[uint64]int)
	for _, x := range plan.Left {
		seen[x.Fragment]++
		if x.Reason == "" {
			t.Errorf("fragment %d is left without a reason", x.Fragment)
		}
	}
	last := -1
	for _, x := range plan.Tasks {
		alone := len(x.Fragments) == 1 && mostlyDeleted(&fs[at[x.Fragments[0]]])
		if x.Rows > 0 && len(x.Outputs) == 0 || len(x.Outputs) >= len(x.Fragments) && !alone || x.Reason == "" {
			t.Errorf("task %+v", x)
		}
		var rows, bytes int64
		for i, id := range x.Fragments {
			seen[id]++
			pos, ok := at[id]
			if !ok || pos <= last || i > 0 && pos != last+1 {
				t.Errorf("task %v: fragment %d is not the next one", x.Fragments, id)
			}
			last = pos
			f := fs[pos]
			rows, bytes = rows+int64(f.live()), bytes+f.Bytes
			if f.Blocked != "" || f.Layout != fs[at[x.Fragments[0]]].Layout || f.Rows >= uint64(target) && f.Deleted == 0 {
				t.Errorf("task %v: fragment %+v is none of it", x.Fragments, f)
			}
		}
		kept := int64(0)
		for _, n := range x.Outputs {
			if kept += n; n < 1 {
				t.Errorf("task %+v: an output of no rows", x)
			}
		}
		if kept != rows || rows != x.Rows || bytes != x.Bytes || bytes > maxTaskBytes {
			t.Errorf("task %+v: %d rows, %d bytes", x, rows, bytes)
		}
	}
	for _, f := range fs {
		if seen[f.ID] != 1 {
			t.Errorf("fragment %d is in the plan %d times", f.ID, seen[f.ID])
		}
	}
	if len(seen) != len(fs) {
		t.Errorf("%d fragments in the plan of %d", len(seen), len(fs))
	}
}

// carryOut makes the fragments that a plan leads to.
func carryOut(t *testing.T, fs []Fragment, plan Plan) []Fragment {
	t.Helper()
	byID := make(map[uint64]Fragment)
	next := uint64(0)
	for _, f := range fs {
		byID[f.ID] = f
		next = max(next, f.ID+1)
	}
	var added []Fragment
	for _, x := range plan.Tasks {
		var rows []uint64
		for _, id := range x.Fragments {
			x := byID[id]
			rows = append(rows, x.live())
		}
		for _, part := range share(rows, len(x.Outputs)) {
			f := Fragment{ID: next, Layout: byID[x.Fragments[0]].Layout}
			next++
			for _, i := range part {
				f.Rows += rows[i]
				f.Bytes += byID[x.Fragments[i]].Bytes
			}
			added = append(added, f)
		}
		for _, id := range x.Fragments {
			delete(byID, id)
		}
	}
	var out []Fragment
	for _, f := range fs {
		if _, ok := byID[f.ID]; ok {
			out = append(out, f)
		}
	}
	return append(out, added...)
}

// checkConverges plans until nothing is left to do, which must take at most so many passes.
func checkConverges(t *testing.T, fs []Fragment, target int64, passes int) {
	t.Helper()
	var trace []string
	for pass := 0; ; pass++ {
		plan := MakePlan(Facts{Fragments: fs}, Policy{TargetRows: target})
		checkPlan(t, fs, target, plan)
		if len(plan.Tasks) == 0 {
			return
		}
		if pass == passes {
			t.Fatalf("still something to do after %d passes: %s", pass, strings.Join(trace, "\n"))
		}
		trace = append(trace, fmt.Sprint(len(fs), " fragments, ", len(plan.Tasks), " tasks"))
		after := carryOut(t, fs, plan)
		if len(after) > len(fs) || len(after) == len(fs) && deletedIn(after) >= deletedIn(fs) {
			t.Fatalf("%d fragments become %d", len(fs), len(after))
		}
		fs = after
	}
}

// deletedIn counts deleted rows.
func deletedIn(fs []Fragment) (n uint64) {
	for _, f := range fs {
		n += f.Deleted
	}
	return n
}

func TestPlanConverges(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	rounds := 2000
	if full {
		rounds = 100_000
	}
	for range rounds {
		var fs []Fragment
		id := uint64(0)
		for range rng.IntN(60) {
			id += 1 + uint64(rng.IntN(3))
			f := Fragment{ID: id, Rows: uint64(rng.IntN(1500)), Layout: fmt.Sprint(rng.IntN(8) / 7), Bytes: int64(rng.IntN(30)) << 30}
			if rng.IntN(10) == 0 {
				f.Blocked = "of a test"
			}
			if rng.IntN(4) == 0 && f.Rows > 1 {
				f.Deleted = rng.Uint64N(1 + rng.Uint64N(f.Rows))
			}
			fs = append(fs, f)
		}
		checkConverges(t, fs, int64(1+rng.IntN(2000)), maxPasses)
	}
}

func TestShare(t *testing.T) {
	tests := []struct {
		rows    []uint64
		outputs int
		want    string
	}{
		{[]uint64{1, 1, 1}, 1, "[[0 1 2]]"},
		{times(10, 200), 2, "[[0 1 2 3 4] [5 6 7 8 9]]"},
		{[]uint64{700, 700, 700}, 2, "[[0 1] [2]]"},
		{[]uint64{1, 1, 1, 997}, 3, "[[0 1] [2] [3]]"},
		{[]uint64{997, 1, 1, 1}, 3, "[[0] [1] [2 3]]"},
		{[]uint64{0, 0, 0}, 2, "[[0] [1 2]]"},
		{[]uint64{5}, 1, "[[0]]"},
	}
	for _, tt := range tests {
		if got := fmt.Sprint(share(tt.rows, tt.outputs)); got != tt.want {
			t.Errorf("share(%v, %d) = %s, want %s", tt.rows, tt.outputs, got, tt.want)
		}
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for range 20_000 {
		rows := make([]uint64, 1+rng.IntN(20))
		for i := range rows {
			rows[i] = uint64(rng.IntN(1 + rng.IntN(2000)))
		}
		outputs := 1 + rng.IntN(len(rows))
		next := 0
		shares := share(rows, outputs)
		for _, s := range shares {
			if len(s) == 0 {
				t.Errorf("share(%v, %d): an output gets nothing", rows, outputs)
			}
			for _, i := range s {
				if i != next {
					t.Errorf("share(%v, %d) = %v: not in order", rows, outputs, shares)
				}
				next++
			}
		}
		if next != len(rows) || len(shares) != outputs {
			t.Errorf("share(%v, %d) = %v", rows, outputs, shares)
		}
	}
}

// Each byte of the input is a fragment.
func FuzzMakePlan(f *testing.F) {
	f.Add([]byte{1, 2, 3}, int64(1000))
	f.Add([]byte{200, 3, 7, 200, 1, 1, 1, 129, 64, 64}, int64(500))
	f.Add([]byte{}, int64(-1))
	for _, name := range fixtures(f) {
		var b []byte
		for _, x := range FactsOf(open(f, dirStore(f, fixtureRoot+"/"+name))).Fragments {
			b = append(b, byte(x.Rows))
		}
		f.Add(b, int64(100))
	}
	f.Fuzz(func(t *testing.T, b []byte, target int64) {
		var fs []Fragment
		for i, x := range b {
			v := Fragment{ID: uint64(i) * 3, Rows: uint64(x&0x3f) << (x >> 6 * 5), Bytes: int64(x) << 28, Layout: "0"}
			switch x % 11 {
			case 3:
				v.Blocked = "of a test"
			case 5:
				v.Layout = "1"
			case 7:
				v.Deleted = v.Rows / uint64(1+x%13)
				if v.Deleted == v.Rows {
					v.Blocked = "has no rows but deleted ones"
				}
			}
			fs = append(fs, v)
		}
		// Fragments of two layouts that take turns are merged one at a time, since
		// what is made of them comes where others of their layout are.
		checkConverges(t, fs, target, len(fs))
	})
}
