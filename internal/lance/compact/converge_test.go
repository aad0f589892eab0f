package compact

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// checkPlan holds a plan against what every plan promises.
func checkPlan(t *testing.T, fs []Fragment, p Policy, plan Plan) {
	t.Helper()
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
	var all taken
	for _, x := range plan.Tasks {
		all = all.and(takenBy(x))
		var rows, bytes int64
		due := false
		for i, id := range x.Fragments {
			seen[id]++
			pos, ok := at[id]
			if !ok || pos <= last || i > 0 && pos != last+1 {
				t.Errorf("task %v: fragment %d is not the next one", x.Fragments, id)
			}
			last = pos
			f := fs[pos]
			rows, bytes = plus(rows, f.kept()), plus(bytes, f.Bytes)
			due = due || p.due(&f)
			if f.Blocked != "" || f.Layout != fs[at[x.Fragments[0]]].Layout || !candidate(&f, p) {
				t.Errorf("task %v: fragment %+v is none of it", x.Fragments, f)
			}
		}
		if rows != x.Rows || bytes != x.Bytes || x.Encoded > x.Bytes || x.Reason == "" {
			t.Errorf("task of fragments %v: %d rows, %d bytes, not %d and %d", x.Fragments, x.Rows, x.Bytes, rows, bytes)
		}
		if len(x.Outputs) >= len(x.Fragments) && !due {
			t.Errorf("task of fragments %v leaves no less than it takes: %d", x.Fragments, len(x.Outputs))
		}
		checkOutputs(t, fs[at[x.Fragments[0]]:last+1], p, x)
	}
	if !p.allow(all) {
		t.Errorf("the plan takes %+v, the policy is %+v", all, p)
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

func candidate(f *Fragment, p Policy) bool {
	return f.Rows < p.target() && f.Bytes <= p.maxBytes()/2 || p.due(f)
}

// checkOutputs: as few as there can be, none of them too large, and none that a plan would merge with the next.
func checkOutputs(t *testing.T, from []Fragment, p Policy, x Task) {
	t.Helper()
	kept, most := int64(0), max(int64(1), min(int64(uint64(x.Rows)/p.target()), maxOutputs))
	all := sumsOf(from)
	within := x.Rows == 0 || all.fill(0, x.Rows, p.maxBytes(), maxOutputs) != nil
	out := outcome(from, x)
	what := func(i int) string {
		return fmt.Sprintf("task of fragments %v, output %d of %d, %d rows in %d bytes", x.Fragments, i, len(out), out[i].Rows, out[i].Bytes)
	}
	for i, f := range out {
		kept += x.Outputs[i]
		if x.Outputs[i] < 1 {
			t.Errorf("%s: no rows", what(i))
		}
		if f.Bytes > p.maxBytes() && f.Rows > 1 && within {
			t.Errorf("%s: at most %d bytes", what(i), p.maxBytes())
		}
		if i > 0 && candidate(&f, p) && candidate(&out[i-1], p) {
			t.Errorf("%s: would be merged with the one before, of %d bytes", what(i), out[i-1].Bytes)
		}
	}
	if kept != x.Rows || len(out) > maxOutputs {
		t.Errorf("task of fragments %v: %d rows in %d outputs, want %d", x.Fragments, kept, len(out), x.Rows)
	}
	if int64(len(out)) > most && plus(out[0].Bytes, out[1].Bytes) <= p.maxBytes() {
		t.Errorf("%s: fewer would do", what(0))
	}
}

func sumsOf(fs []Fragment) rowsOf {
	var s rowsOf
	var rows, bytes int64
	for i := range fs {
		if f := &fs[i]; f.live() > 0 {
			rows, bytes = plus(rows, f.kept()), plus(bytes, f.liveBytes())
			s.rows, s.bytes = append(s.rows, rows), append(s.bytes, bytes)
		}
	}
	return s
}

// outcome are the fragments that a task leads to, if the sizes come out as planned.
func outcome(from []Fragment, x Task) []Fragment {
	s := sumsOf(from)
	var out []Fragment
	row := int64(0)
	for _, n := range x.Outputs {
		out = append(out, Fragment{Rows: uint64(n), Bytes: s.at(row+n) - s.at(row), Layout: from[0].Layout})
		row += n
	}
	return out
}

// carryOut makes the fragments that a plan leads to.
func carryOut(fs []Fragment, plan Plan) []Fragment {
	at := make(map[uint64]int)
	next := uint64(0)
	for i, f := range fs {
		at[f.ID] = i
		next = max(next, f.ID+1)
	}
	gone := make(map[uint64]bool)
	var added []Fragment
	for _, x := range plan.Tasks {
		first := at[x.Fragments[0]]
		for _, f := range outcome(fs[first:first+len(x.Fragments)], x) {
			f.ID = next
			next++
			added = append(added, f)
		}
		for _, id := range x.Fragments {
			gone[id] = true
		}
	}
	var out []Fragment
	for _, f := range fs {
		if !gone[f.ID] {
			out = append(out, f)
		}
	}
	return append(out, added...)
}

// checkConverges runs until a run finds nothing to do. A run may take at most so many passes, and there may be
// as many runs where the policy limits them. Each pass leaves the table better: fewer deleted rows or, with as many, fewer
// fragments.
func checkConverges(t *testing.T, fs []Fragment, p Policy, passes int) {
	t.Helper()
	limited := p.MaxSourceFragments > 0 || p.MaxSourceRows > 0 || p.MaxSourceBytes > 0
	var trace []string
	for runs := 0; ; runs++ {
		var done taken
		pass := 0
		for ; ; pass++ {
			plan := makePlan(Facts{Fragments: fs}, p, done)
			if done == (taken{}) {
				checkPlan(t, fs, p, plan)
			}
			if t.Failed() {
				t.Fatalf("%+v of %+v", p, fs)
			}
			if len(plan.Tasks) == 0 {
				break
			}
			if pass == passes {
				t.Fatalf("%+v: still something to do after %d passes: %s", p, pass, strings.Join(trace, "\n"))
			}
			trace = append(trace, fmt.Sprint(len(fs), " fragments, ", len(plan.Tasks), " tasks"))
			after := carryOut(fs, plan)
			if now, then := deletedIn(after), deletedIn(fs); now > then || now == then && len(after) >= len(fs) {
				t.Fatalf("%+v: %d fragments with %d deleted rows become %d with %d", p, len(fs), then, len(after), now)
			}
			for _, x := range plan.Tasks {
				done = done.and(takenBy(x))
			}
			if !p.allow(done) {
				t.Fatalf("%+v: a run takes %+v", p, done)
			}
			fs = after
		}
		if pass == 0 {
			return
		}
		if !limited && runs > 0 {
			t.Fatalf("%+v: a run after a run finds something to do: %s", p, strings.Join(trace, "\n"))
		}
	}
}

// deletedIn counts deleted rows.
func deletedIn(fs []Fragment) (n uint64) {
	for _, f := range fs {
		n += f.Deleted
	}
	return n
}

// randomPolicy makes one that suits fragments of some thousand rows and bytes.
func randomPolicy(rng *rand.Rand) Policy {
	p := Policy{TargetRows: int64(1 + rng.IntN(2000))}
	if rng.IntN(2) == 0 {
		p.MaxBytes = int64(1 + rng.IntN(1+rng.IntN(200_000)))
	}
	p.KeepDeleted = rng.IntN(8) == 0
	p.Threshold = []float64{0, 0, 0, AnyDeleted, 0.01, 0.5, 1, 2}[rng.IntN(8)]
	if rng.IntN(6) == 0 {
		p.MaxSourceFragments = int64(1 + rng.IntN(20))
	}
	if rng.IntN(6) == 0 {
		p.MaxSourceRows = int64(1 + rng.IntN(5000))
	}
	if rng.IntN(6) == 0 {
		p.MaxSourceBytes = int64(1 + rng.IntN(200_000))
	}
	return p
}

func TestPlanConverges(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	rounds := 5000
	if full {
		rounds = 50_000
	}
	for range rounds {
		var fs []Fragment
		id := uint64(0)
		wide := rng.IntN(3)
		for range rng.IntN(60) {
			id += 1 + uint64(rng.IntN(3))
			f := Fragment{ID: id, Rows: uint64(1 + rng.IntN(1+rng.IntN(3000))), Layout: fmt.Sprint(rng.IntN(8) / 7)}
			switch wide {
			case 0:
				f.Bytes = int64(f.Rows) * 10
			case 1:
				f.Bytes = int64(rng.IntN(30_000))
			case 2: // a file has room for few rows
				f.Rows = 1 + f.Rows%8
				f.Bytes = int64(f.Rows) * int64(5_000+rng.IntN(10_000))
			}
			if rng.IntN(10) == 0 {
				f.Blocked = "of a test"
			}
			if rng.IntN(4) == 0 {
				f.Deleted = rng.Uint64N(1 + rng.Uint64N(1+f.Rows))
			}
			fs = append(fs, f)
		}
		checkConverges(t, fs, randomPolicy(rng), len(fs)+1)
	}
}

// Each byte of the input is a fragment.
func FuzzMakePlan(f *testing.F) {
	f.Add([]byte{1, 2, 3}, int64(1000), int64(0), 0.0, int64(0), int64(0), int64(0), uint8(0))
	f.Add([]byte{200, 3, 7, 200, 1, 1, 1, 129, 64, 64}, int64(500), int64(1<<30), 0.3, int64(3), int64(0), int64(0), uint8(1))
	f.Add([]byte{7, 7, 7, 7, 7, 205, 205, 1}, int64(500), int64(12345), -1.0, int64(0), int64(400), int64(1<<31), uint8(2))
	f.Add([]byte{}, int64(-1), int64(-1), 1.0, int64(-1), int64(-1), int64(-1), uint8(3))
	for _, name := range fixtures(f) {
		var b []byte
		for _, x := range FactsOf(open(f, dirStore(f, fixtureRoot+"/"+name))).Fragments {
			b = append(b, byte(x.Rows))
		}
		f.Add(b, int64(100), int64(5000), 0.1, int64(0), int64(0), int64(0), uint8(0))
	}
	f.Fuzz(func(t *testing.T, b []byte, target, maxBytes int64, threshold float64, fragments, rows, bytes int64, kind uint8) {
		if len(b) > 300 {
			return
		}
		p := Policy{TargetRows: target, MaxBytes: maxBytes, KeepDeleted: kind&1 != 0, Threshold: threshold,
			MaxSourceFragments: fragments, MaxSourceRows: rows, MaxSourceBytes: bytes}
		var fs []Fragment
		for i, x := range b {
			v := Fragment{ID: uint64(i) * 3, Rows: 1 + uint64(x&0x3f)<<(x>>6*5), Bytes: int64(x) << ((kind >> 1) % 54), Layout: "0"}
			switch x % 11 {
			case 3:
				v.Blocked = "of a test"
			case 5:
				v.Layout = "1"
			case 7:
				v.Deleted = v.Rows / uint64(1+x%13)
			}
			fs = append(fs, v)
		}
		// Fragments of two layouts that take turns are merged one at a time, since
		// what is made of them comes where others of their layout are.
		checkConverges(t, fs, p, len(fs)+1)
	})
}
