package compact

import (
	"fmt"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
)

// Dictionaries with narrow keys are merged as long as these suffice, and have all words of a file in one page.
func TestRunWords(t *testing.T) {
	for _, name := range []string{"words_20", "words_21", "words_22"} {
		for _, tt := range []struct {
			what   string
			change func(m *pb.Manifest)
			want   string // rows of fragments
		}{
			{"as it is", func(*pb.Manifest) {}, "[240 240]"},
			{"a fragment without it", func(m *pb.Manifest) { m.Fragments[2].Files[0].Fields[1] = -2 }, "[120 360]"},
			{"words between", func(m *pb.Manifest) { m.Fragments[1].Files[0] = m.Fragments[3].Files[0] }, "[120 360]"},
		} {
			t.Run(name+"/"+tt.what, func(t *testing.T) {
				s := copyOfBlobs(t, name)
				edit(t, s, func(m *pb.Manifest) {
					for i, f := range m.Fragments {
						m.Fragments[i] = proto.CloneOf(f)
					}
					tt.change(m)
				})
				keepForHand(t, s, "before")
				runTwice(t, s, Options{})
				keepForHand(t, s, "after")
				after := open(t, s)
				got := []uint64{}
				for _, f := range after.Fragments() {
					got = append(got, f.GetPhysicalRows())
					file, err := datafile.Open(t.Context(), s, table.DataName(f.GetFiles()[0]))
					if err != nil {
						t.Fatal(err)
					}
					if n := len(file.Columns[1].GetPages()); n != 1 {
						t.Errorf("%d pages", n)
					}
					file.Close()
				}
				if fmt.Sprint(got) != tt.want {
					t.Errorf("fragments of %v rows, want %s", got, tt.want)
				}
			})
		}
	}
}

// What would take too much memory to compare is left alone, in the order of fragments.
func TestForget(t *testing.T) {
	f := Facts{Fragments: fragmentsOf(times(5, 10)...)}
	for i, n := range []int{3, 0, 5, 2, 1} {
		f.Fragments[i].held = []holding{{}, {dictionaries: []dictionary{{9, make([]uint64, n)}}}}
	}
	f.forget(6)
	blocked := ""
	for _, x := range f.Fragments {
		if x.Blocked != "" {
			blocked += fmt.Sprint(x.ID, " ")
			says(t, x.Blocked, "5 words")
		}
	}
	if blocked != "2 " {
		t.Errorf("left alone: %s", blocked)
	}
}

// What has to be in one page, with that of other fragments, must not be too much for it.
func TestPlanSingle(t *testing.T) {
	fs := fragmentsOf(times(5, 10)...)
	for i, n := range []int64{1, maxSingle - 1, 1, maxSingle - 1, 0} {
		fs[i].seen, fs[i].held = true, []holding{{single: n}}
	}
	plan := MakePlan(Facts{Fragments: fs}, Policy{})
	got := ""
	for _, x := range plan.Tasks {
		got += fmt.Sprint(x.Fragments)
	}
	if got != "[0 1][2 3 4]" || len(plan.Left) > 0 {
		t.Errorf("%+v", plan)
	}
	fs[2].held[0].single = 2
	plan = MakePlan(Facts{Fragments: fs}, Policy{})
	if len(plan.Tasks) != 2 || len(plan.Left) != 1 || plan.Left[0].Fragment != 2 {
		t.Fatalf("%+v", plan)
	}
	says(t, plan.Left[0].Reason, "fragments 1 and 2 have more", "fragments 2 and 3 have more")
}

// The same inside of other columns.
func TestRunWordsInside(t *testing.T) {
	for _, name := range []string{"words_in_20", "words_in_21", "words_in_22"} {
		s := copyOfBlobs(t, name)
		res := runTwice(t, s, Options{})
		left := leftFor(res.Plan, Fine)
		if len(open(t, s).Fragments()) != 2 || len(left) != 1 || len(res.Plan.Left) != 1 {
			t.Fatalf("%s: %+v", name, res)
		}
		says(t, left[0], "fragments 0 and 1", "words of a dictionary")
		// One by one they are no more than before.
		deleteRows(t, s, func(_ *pb.DataFragment, row uint32) bool { return row%3 == 0 })
		if res := runTwice(t, s, Options{}); res.FragmentsRemoved != 2 || res.FragmentsAdded != 2 {
			t.Errorf("%s, with deletions: %+v", name, res)
		}
	}
}
