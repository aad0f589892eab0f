package compact

import (
	"path"
	"strings"
	"sync"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
	"github.com/seaweedfs/seaweed-lance/internal/objects/dirstore"
	"github.com/seaweedfs/seaweed-lance/internal/objects/faultstore"
)

// surveyed is the plan of a table and how many directories beside data files were listed for it.
func surveyed(t *testing.T, s objects.Store) (Facts, Plan, int) {
	t.Helper()
	var mu sync.Mutex
	lists := 0
	f := faultstore.New(s, func(c faultstore.Call) faultstore.Action {
		if c.Phase == faultstore.Before && c.Op == faultstore.List && strings.HasPrefix(c.Name, table.DataDir) {
			mu.Lock()
			defer mu.Unlock()
			lists++
		}
		return faultstore.Pass
	})
	facts, p, err := Survey(t.Context(), open(t, f).WithBases(blobBases(t)), Policy{})
	if err != nil {
		t.Fatal(err)
	}
	return facts, MakePlan(facts, p), lists
}

// besideOf are the sizes of blobs beside data files, by the name of these.
func besideOf(t *testing.T, s *dirstore.Store) map[string]int64 {
	out := make(map[string]int64)
	for _, f := range files(t, s) {
		if path.Ext(f) == ".blob" {
			b, err := readAll(t, s, f)
			if err != nil {
				t.Fatal(err)
			}
			out[path.Dir(f)+".lance"] += int64(len(b))
		}
	}
	return out
}

// A plan counts what lies beside data files, as far as its rows are kept, at the price of one listing for each of them.
func TestBytesBeside(t *testing.T) {
	s := copyOfBlobs(t, "blobs_22")
	facts, plan, lists := surveyed(t, s)
	sizes, want, data := besideOf(t, s), int64(0), int64(0)
	for i, f := range open(t, s).Fragments() {
		x := facts.Fragments[i]
		if n := sizes[table.DataName(f.GetFiles()[0])]; x.Beside != n {
			t.Errorf("fragment %d: %d bytes beside its data file, not %d", x.ID, x.Beside, n)
		}
		want += x.Beside * int64(x.Rows-x.Deleted) / int64(x.Rows)
		data += x.Bytes
	}
	if len(plan.Tasks) != 1 || want == 0 || plan.Tasks[0].Beside != want || plan.Tasks[0].Bytes != data+want {
		t.Errorf("%d beside %d: %+v", want, data, plan.Tasks)
	}
	if got := takenBy(plan.Tasks[0]).bytes; got != data {
		t.Errorf("of what a run may merge it takes %d, not %d", got, data)
	}
	if n := len(open(t, s).Fragments()); lists != n {
		t.Errorf("%d listings for %d data files", lists, n)
	}
	// Tables that have no such blobs are not asked for any.
	for _, name := range []string{"blobs_20", "blobs_21", "words_22"} {
		if _, plan, lists := surveyed(t, copyOfBlobs(t, name)); lists > 0 || len(plan.Tasks) == 0 || plan.Tasks[0].Beside != 0 {
			t.Errorf("%s: %d listings, %+v", name, lists, plan.Tasks)
		}
	}
}

// Of fragments that have not been looked at as much is assumed as of those that have been.
func TestBytesBesideUnseen(t *testing.T) {
	s := copyOfBlobs(t, "blobs_22")
	plan, due, err := Detect(t.Context(), open(t, s), Policy{})
	if err != nil || !due || len(plan.Tasks) != 1 {
		t.Fatalf("%+v, error %v", plan, err)
	}
	_, all, _ := surveyed(t, s)
	if got, want := plan.Tasks[0].Beside, all.Tasks[0].Beside; got < want/2 || got > 2*want {
		t.Errorf("%d bytes, in fact %d", got, want)
	}
	none := besidesOf([]Fragment{{Rows: 5}, {Rows: 5, seen: true, Blocked: "why", Beside: 7}})
	if n := none.of(&Fragment{Rows: 10}); n != 0 {
		t.Errorf("%d bytes of nothing that is known", n)
	}
	some := besidesOf([]Fragment{{Rows: 10, seen: true, Beside: 1000}, {Rows: 10, seen: true}, {Rows: 99}})
	if n := some.of(&Fragment{Rows: 40, Deleted: 10}); n != 1500 {
		t.Errorf("%d bytes, not 1500", n)
	}
	if n := some.of(&Fragment{Rows: 1 << 63}); n <= 0 {
		t.Errorf("%d bytes for a fragment of which too much is said", n)
	}
}

// A directory that can't be listed stands in nobody's way.
func TestBytesBesideUnlisted(t *testing.T) {
	s := copyOfBlobs(t, "blobs_22")
	f := faultstore.New(s, func(c faultstore.Call) faultstore.Action {
		if c.Op == faultstore.List && strings.HasPrefix(c.Name, table.DataDir+"/") {
			return faultstore.Fail(objects.ErrDenied)
		}
		return faultstore.Pass
	})
	facts, _, err := Survey(t.Context(), open(t, f).WithBases(blobBases(t)), Policy{})
	if err != nil || facts.Fragments[0].Beside != 0 || facts.Fragments[0].Blocked != "" {
		t.Errorf("%+v, error %v", facts.Fragments[0], err)
	}
}

// Copying what lies beside data files is progress, and all of it is done in the end.
func TestBlobProgress(t *testing.T) {
	s := copyOfBlobs(t, "blobs_22")
	var all []Progress
	res, err := Run(t.Context(), s, Options{Bases: blobBases(t), Progress: func(p Progress) { all = append(all, p) }})
	if err != nil || len(res.Plan.Tasks) != 1 {
		t.Fatalf("%+v, error %v", res, err)
	}
	for i, p := range all {
		if p.BytesDone > p.Bytes || i > 0 && p.BytesDone < all[i-1].BytesDone {
			t.Errorf("progress %+v", p)
		}
	}
	last := all[len(all)-1]
	if last.BytesDone != last.Bytes || last.Bytes != res.Plan.Tasks[0].Bytes || last.RowsDone != last.Rows {
		t.Errorf("at the end %+v, planned were %+v", last, res.Plan.Tasks)
	}
	// What is done before the task is: without what lies beside it could not be as much.
	before := int64(0)
	for _, p := range all {
		if p.BytesDone < p.Bytes {
			before = max(before, p.BytesDone)
		}
	}
	if data := last.Bytes - res.Plan.Tasks[0].Beside; before <= data {
		t.Errorf("%d of %d bytes before the end, the data files alone have %d", before, last.Bytes, data)
	}
}
