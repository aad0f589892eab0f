package compact

import (
	"fmt"
	"math/rand/v2"
	"slices"
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
			checkPlan(t, tt.fs, Policy{TargetRows: tt.target}, plan)
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
		checkPlan(t, tt.fs, Policy{TargetRows: 1000}, plan)
		got := ""
		for _, x := range plan.Tasks {
			got += fmt.Sprint([]any{x.Fragments, len(x.Outputs), x.Rows})
		}
		if got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
		checkConverges(t, tt.fs, Policy{TargetRows: 1000}, maxPasses)
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
		{"enough bytes", huge(fragmentsOf(10, 10), 80, 46), 0, []left{
			{0, Fine, []string{"10 rows", "80.0 GiB", "90.0 GiB"}}, {1, Fine, []string{"46.0 GiB"}}}},
		{"enough bytes for one", huge(fragmentsOf(10, 10, 10), 40, 46, 40), 0, []left{
			{0, Fine, []string{"fragment 1 is large enough"}}, {1, Fine, nil}, {2, Fine, []string{"fragment 1 is large enough"}}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			plan := MakePlan(Facts{Fragments: tt.fs}, Policy{TargetRows: 1000})
			checkPlan(t, tt.fs, Policy{TargetRows: 1000}, plan)
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

// Tasks are cut by bytes, too, and so are their outputs.
func TestPlanBytes(t *testing.T) {
	sized := func(rows uint64, bytes ...int64) []Fragment {
		fs := fragmentsOf(times(len(bytes), rows)...)
		for i := range fs {
			fs[i].Bytes = bytes[i]
		}
		return fs
	}
	deleted := func(fs []Fragment, i int, n uint64) []Fragment {
		fs[i].Deleted = n
		return fs
	}
	tests := []struct {
		name string
		fs   []Fragment
		want string // fragments and outputs of the tasks
	}{
		{"room for all", sized(10, 300, 300, 300), "[0 1 2] [30]"},
		{"half a file each", sized(10, 500, 500, 500, 500), "[0 1] [20][2 3] [20]"},
		{"more than half", sized(10, 501, 501), ""},
		{"as full as can be", sized(10, 300, 300, 300, 300, 300, 300), "[0 1 2] [30][3 4 5] [30]"},
		{"the tail joins", sized(10, 400, 400, 400), "[0 1 2] [15 15]"},
		{"the tail joins what is nearly full", sized(100, 330, 330, 330, 30), "[0 1 2 3] [155 245]"},
		{"between large ones", sized(10, 600, 100, 100, 600), "[1 2] [20]"},
		{"a row is not cut", sized(1, 500, 500, 500, 500, 500), "[0 1] [2][2 3 4] [2 1]"},
		{"rows wider than a file", deleted(sized(4, 8000), 0, 1), "[0] [1 1 1]"},
		{"two thirds of a file a row", deleted(sized(10, 6600), 0, 2), "[0] [1 1 1 1 1 1 1 1]"},
		{"a third of a file a row", deleted(sized(12, 4000), 0, 2), "[0] [3 3 3 1]"},
		{"one large one without its deleted rows", deleted(sized(3000, 5500), 0, 600), "[0] [480 480 480 480 480]"},
		{"rows decide", deleted(sized(5000, 3000), 0, 1000), "[0] [1000 1000 1000 1000]"},
		{"size not known", sized(10, 0, 0, 0), "[0 1 2] [30]"},
	}
	for _, tt := range tests {
		p := Policy{TargetRows: 1000, MaxBytes: 1000}
		plan := MakePlan(Facts{Fragments: tt.fs}, p)
		checkPlan(t, tt.fs, p, plan)
		got := ""
		for _, x := range plan.Tasks {
			got += fmt.Sprint(x.Fragments, " ", x.Outputs)
		}
		if got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
		checkConverges(t, tt.fs, p, maxPasses)
	}
	// Rows in one place are wider than elsewhere.
	fs := fragmentsOf(10, 5100)
	fs[0].Bytes, fs[1].Bytes, fs[1].Deleted = 490, 2400, 600
	if plan := MakePlan(Facts{Fragments: fs}, Policy{TargetRows: 1000, MaxBytes: 1000}); fmt.Sprint(plan.Tasks[0].Outputs) != "[50 1078 1128 1127 1127]" {
		t.Errorf("outputs %v", plan.Tasks[0].Outputs)
	}
	// A limit that makes no sense makes no more files than can be handled.
	fs = fragmentsOf(1_000_000)
	fs[0].Bytes, fs[0].Deleted = 1<<40, 500_000
	plan := MakePlan(Facts{Fragments: fs}, Policy{MaxBytes: 1})
	if checkPlan(t, fs, Policy{MaxBytes: 1}, plan); len(plan.Tasks[0].Outputs) != maxOutputs {
		t.Errorf("%d outputs", len(plan.Tasks[0].Outputs))
	}
}

// What lies with few rows of a fragment is cut inside of it.
func TestPlanCutsInside(t *testing.T) {
	fs := fragmentsOf(2500)
	fs[0].Deleted = 500
	plan := MakePlan(Facts{Fragments: fs}, Policy{TargetRows: 1000})
	if len(plan.Tasks) != 1 || fmt.Sprint(plan.Tasks[0].Outputs) != "[1000 1000]" {
		t.Errorf("tasks %+v", plan.Tasks)
	}
	checkConverges(t, fs, Policy{TargetRows: 1000}, 1)
	fs[0].Deleted = 2500
	if plan = MakePlan(Facts{Fragments: fs}, Policy{}); len(plan.Tasks) != 1 || len(plan.Tasks[0].Outputs) != 0 {
		t.Errorf("all rows deleted: %+v", plan.Tasks)
	}
}

// How much one run may merge.
func TestPlanLimits(t *testing.T) {
	const waits, much = "waits for another run", "more than a run is to merge"
	tests := []struct {
		name string
		p    Policy
		want string // the tasks
		left string // the first that is left
	}{
		{"no limit", Policy{}, "[0 1 2][3 4 5][6 7 8 9]", ""},
		{"four fragments", Policy{MaxSourceFragments: 4}, "[0 1 2]", waits},
		{"700 rows", Policy{MaxSourceRows: 700}, "[0 1 2]", waits},
		{"all of them", Policy{MaxSourceFragments: 10, MaxSourceRows: 2000, MaxSourceBytes: 20_000}, "[0 1 2][3 4 5][6 7 8 9]", ""},
		{"one less", Policy{MaxSourceFragments: 9}, "[0 1 2][3 4 5]", waits},
		{"few at a time", Policy{MaxSourceFragments: 2}, "[0 1]", waits},
		{"few bytes", Policy{MaxSourceBytes: 4000}, "[0 1]", waits},
		{"none goes with another", Policy{MaxSourceRows: 399}, "", much},
	}
	for _, tt := range tests {
		tt.p.TargetRows = 500
		fs := fragmentsOf(times(10, 200)...)
		plan := MakePlan(Facts{Fragments: fs}, tt.p)
		checkPlan(t, fs, tt.p, plan)
		got := ""
		for _, x := range plan.Tasks {
			got += fmt.Sprint(x.Fragments)
		}
		if got != tt.want {
			t.Errorf("%s: tasks %s, want %s", tt.name, got, tt.want)
		}
		if tt.left != "" {
			says(t, plan.Left[0].Reason, tt.left)
		}
		checkConverges(t, fs, tt.p, maxPasses)
	}
	// What no run may do does not keep others from what comes behind it.
	fs := fragmentsOf(900, 200, 200)
	fs[0].Deleted = 500
	p := Policy{TargetRows: 800, MaxSourceRows: 390}
	plan := MakePlan(Facts{Fragments: fs}, p)
	if len(plan.Tasks) != 0 {
		t.Errorf("tasks %+v", plan.Tasks)
	}
	p.MaxSourceRows = 400
	if plan = MakePlan(Facts{Fragments: fs}, p); len(plan.Tasks) != 1 || plan.Tasks[0].Fragments[0] != 0 {
		t.Errorf("tasks %+v", plan.Tasks)
	}
	p.MaxSourceRows, p.MaxSourceBytes = 0, 8000
	if plan = MakePlan(Facts{Fragments: fs}, p); len(plan.Tasks) != 1 || fmt.Sprint(plan.Tasks[0].Fragments) != "[1 2]" {
		t.Errorf("tasks %+v", plan.Tasks)
	}
	says(t, plan.Left[0].Reason, "rewriting it", much, "8000 bytes")
}

// When deleted rows are reason enough.
func TestPlanThreshold(t *testing.T) {
	tests := []struct {
		p       Policy
		deleted uint64
		due     bool
	}{
		{Policy{}, 100, false}, {Policy{}, 101, true}, {Policy{}, 0, false},
		{Policy{KeepDeleted: true}, 1000, false},
		{Policy{KeepDeleted: true, Threshold: 0.01}, 500, false},
		{Policy{Threshold: AnyDeleted}, 1, true}, {Policy{Threshold: AnyDeleted}, 0, false},
		{Policy{Threshold: 0.3}, 300, false}, {Policy{Threshold: 0.3}, 301, true},
		{Policy{Threshold: 0.7}, 700, false}, {Policy{Threshold: 0.7}, 701, true},
		{Policy{Threshold: 1}, 1000, false}, {Policy{Threshold: 7}, 1000, false},
	}
	for _, tt := range tests {
		fs := fragmentsOf(1000)
		fs[0].Deleted = tt.deleted
		tt.p.TargetRows = 1000
		plan := MakePlan(Facts{Fragments: fs}, tt.p)
		checkPlan(t, fs, tt.p, plan)
		if due := len(plan.Tasks) > 0; due != tt.due {
			t.Errorf("%+v, %d deleted: %+v", tt.p, tt.deleted, plan)
		}
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
