package compact

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// Under any policy a run comes to an end after which there is nothing to do, also where the sizes do not come out as planned. (runTwice checks
// the second run, the rows and the progress.)
func TestRunUnderPolicies(t *testing.T) {
	rounds := 3
	if full {
		rounds = 60
	}
	cutByBytes := 0
	for i, name := range []string{"many_appends", "deletions", "stable_ids", "types_20", "types_21", "types_22"} {
		for round := range rounds {
			rng := rand.New(rand.NewPCG(uint64(i), uint64(round)))
			s := copyOf(t, name)
			if rng.IntN(3) > 0 {
				one := 1 + rng.IntN(12)
				deleteRows(t, s, func(*pb.DataFragment, uint32) bool { return rng.IntN(one) == 0 })
			}
			p := randomPolicy(rng)
			p.TargetRows, p.MaxSourceFragments, p.MaxSourceRows, p.MaxSourceBytes = int64(1+rng.IntN(400)), 0, 0, 0
			if p.MaxBytes > 0 {
				p.MaxBytes = int64(1000 + rng.IntN(100_000))
			}
			res := runTwice(t, s, Options{Policy: p})
			for _, x := range res.Plan.Tasks {
				if int64(len(x.Outputs)) > max(1, x.Rows/p.TargetRows) {
					cutByBytes++
				}
			}
			if t.Failed() {
				t.Fatalf("%s under %+v: %+v", name, p, res)
			}
		}
	}
	if cutByBytes == 0 {
		t.Error("nothing was cut by its bytes")
	}
}

// Wide rows under a limit in bytes: the files come out within it, as full as neighbours allow.
func TestRunCutsByBytes(t *testing.T) {
	s := copyOf(t, "many_appends")
	before := open(t, s)
	const limit = 20_000
	res := runTwice(t, s, Options{Policy: Policy{MaxBytes: limit}})
	after := open(t, s)
	if len(after.Fragments()) < 2 || res.FragmentsRemoved != len(before.Fragments()) {
		t.Errorf("%d fragments: %+v", len(after.Fragments()), res)
	}
	for i, f := range after.Fragments() {
		size := f.GetFiles()[0].GetFileSizeBytes()
		if size > limit || i > 0 && size+after.Fragments()[i-1].GetFiles()[0].GetFileSizeBytes() <= limit {
			t.Errorf("fragment %d: %d bytes", f.GetId(), size)
		}
	}
}

// What is finished when a run is cancelled stays, and the next goes on from there.
func TestCancelKeepsWhatIsFinished(t *testing.T) {
	s := copyOf(t, "many_appends")
	before := open(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o := Options{Policy: Policy{TargetRows: 100}}
	o.Progress = func(p Progress) {
		if p.TasksDone == 3 {
			cancel()
		}
	}
	res, err := Run(ctx, s, o)
	if !errors.Is(err, context.Canceled) || !res.Changed || res.FragmentsAdded != 3 || res.FragmentsRemoved != 12 {
		t.Errorf("%+v, error %v", res, err)
	}
	after := open(t, s)
	if len(after.Fragments()) != len(before.Fragments())-9 || after.Rows() != before.Rows() {
		t.Errorf("%d fragments of %d rows", len(after.Fragments()), after.Rows())
	}
	if o := orphans(t, files(t, s), checkVersions(t, s)); len(o) > 0 {
		t.Errorf("left behind: %v", o)
	}
	o.Progress = nil
	if res, err = Run(t.Context(), s, o); err != nil || res.FragmentsAdded != 7 || res.FragmentsRemoved != 28 {
		t.Errorf("the next run: %+v, error %v", res, err)
	}
}

// Where others change what one task was to merge, that is planned anew, and no other.
func TestConflictReplansOneTask(t *testing.T) {
	s := copyOf(t, "many_appends")
	before := open(t, s)
	done, gone := 0, 0
	o := Options{Policy: Policy{TargetRows: 100}}
	var last Progress
	o.Progress = func(p Progress) {
		last = p
		if p.TasksDone == 3 && gone == 0 {
			// One row of what the sixth task is to merge.
			gone = deleteRows(t, s, func(f *pb.DataFragment, row uint32) bool {
				return f.GetId() == before.Fragments()[21].GetId() && row == 7
			})
		}
		if p.TasksDone < done {
			t.Errorf("progress %+v", p)
		}
		done = p.TasksDone
	}
	res, err := Run(t.Context(), s, o)
	after := open(t, s)
	if err != nil || gone != 1 || after.Rows() != before.Rows()-1 || res.FragmentsRemoved != 40 || res.FragmentsAdded != 10 || len(after.Fragments()) != 10 {
		t.Errorf("%d rows in %d fragments, %d deleted; %+v, error %v", after.Rows(), len(after.Fragments()), gone, res, err)
	}
	if fmt.Sprint(last.TasksDone, last.RowsDone == last.Rows, last.BytesDone == last.Bytes) != "10 true true" {
		t.Errorf("progress at the end: %+v", last)
	}
	for _, f := range after.Fragments() {
		if f.GetDeletionFile() != nil {
			t.Errorf("fragment %v", f)
		}
	}
}

// Wide rows that come one by one, with a run after each: what is rewritten stays within a multiple of what came.
func TestPlanSlowIngest(t *testing.T) {
	const row, limit = 1 << 20, 8 << 20
	p := Policy{TargetRows: 1 << 20, MaxBytes: limit}
	var fs []Fragment
	next := uint64(0)
	add := func() {
		fs = append(fs, Fragment{ID: next, Rows: 1, Bytes: row})
		next++
	}
	settle := func() (rewritten int64) {
		for {
			plan := MakePlan(Facts{Fragments: fs}, p)
			checkPlan(t, fs, p, plan)
			if len(plan.Tasks) == 0 {
				return rewritten
			}
			for _, x := range plan.Tasks {
				rewritten += x.Bytes
			}
			fs = carryOut(fs, plan)
			next = fs[len(fs)-1].ID + 1
		}
	}
	for range 40 {
		add()
	}
	if n := settle(); n != 40*row || len(fs) != 5 {
		t.Errorf("%d bytes rewritten, %d fragments", n, len(fs))
	}
	var rewritten int64
	for range 20 {
		add()
		rewritten += settle()
	}
	if rewritten > 4*20*row+limit/2 {
		t.Errorf("%d bytes came, %d were rewritten", 20*row, rewritten)
	}
	if settle() != 0 {
		t.Error("another run finds something to do")
	}
}
