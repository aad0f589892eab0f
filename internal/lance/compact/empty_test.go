package compact

import (
	"fmt"
	"os"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
	"google.golang.org/protobuf/proto"

	"github.com/seaweedfs/seaweed-lance/internal/lance/lancetest"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
	"github.com/seaweedfs/seaweed-lance/internal/objects/dirstore"
)

// putDeletions gives fragments, by their position, deletion files with the first so many of their rows. Unless counted, as older writers
// did it: without their number in the manifest.
func putDeletions(tb testing.TB, s objects.Store, counted bool, gone map[int]uint64) {
	tb.Helper()
	head := open(tb, s)
	op := &pb.Transaction_Delete{}
	writer{tb: tb, s: s}.put(&pb.Transaction{Operation: &pb.Transaction_Delete_{Delete: op}}, func(m *pb.Manifest) {
		for i, n := range gone {
			v := roaring.New()
			v.AddRange(0, n)
			kind, b, err := table.EncodeDeletions(v)
			if err != nil {
				tb.Fatal(err)
			}
			f := proto.CloneOf(m.Fragments[i])
			f.DeletionFile = &pb.DeletionFile{FileType: kind, ReadVersion: head.Version(), Id: 7}
			if counted {
				f.DeletionFile.NumDeletedRows = n
			}
			if err := s.Publish(tb.Context(), table.DeletionName(f.Id, f.DeletionFile), b); err != nil {
				tb.Fatal(err)
			}
			op.UpdatedFragments = append(op.UpdatedFragments, f)
			m.Fragments[i] = f
		}
		m.ReaderFeatureFlags |= table.FlagDeletionFiles
		m.WriterFeatureFlags |= table.FlagDeletionFiles
	})
}

// single is a table of one fragment.
func single(t *testing.T) *dirstore.Store {
	s := copyOf(t, "types_22")
	if res, err := Run(t.Context(), s, Options{}); err != nil || res.FragmentsAdded != 1 {
		t.Fatalf("%+v, error %v", res, err)
	}
	return s
}

// Fragments without a row left are dropped: their group gets smaller, or leaves nothing.
func TestRunDropsEmpty(t *testing.T) {
	const all = 20 // rows of each fragment
	for i, tt := range []struct {
		name string
		gone map[int]uint64
		want string // rows of the fragments that are there after it
	}{
		{"types_21", map[int]uint64{0: all}, "[40]"},
		{"types_22", map[int]uint64{1: all}, "[40]"},
		{"types_20", map[int]uint64{0: all, 2: all}, "[20]"},
		{"types_22", map[int]uint64{0: 1, 1: all, 2: 2}, "[37]"},
		{"types_22", map[int]uint64{0: all, 1: all, 2: all}, "[]"},
		{"", map[int]uint64{0: 60}, "[]"},
		{"", map[int]uint64{0: 6}, "[60]"}, // a tenth
		{"", map[int]uint64{0: 7}, "[53]"},
	} {
		for _, counted := range []bool{true, false} {
			t.Run(fmt.Sprint(i, counted), func(t *testing.T) {
				var s *dirstore.Store
				if tt.name == "" {
					s = single(t)
				} else {
					s = copyOf(t, tt.name)
				}
				putDeletions(t, s, counted, tt.gone)
				before := open(t, s)
				if _, due, err := Detect(t.Context(), before, Policy{}); err != nil || due != (tt.want != "[60]") {
					t.Errorf("due %v, error %v", due, err)
				}
				keepForHand(t, s, "before")
				res, err := Run(t.Context(), s, Options{})
				if err != nil {
					t.Fatal(err)
				}
				keepForHand(t, s, "after")
				after := open(t, s)
				checkDropped(t, s, before, after)
				got := []uint64{}
				for _, f := range after.Fragments() {
					got = append(got, f.GetPhysicalRows())
				}
				if fmt.Sprint(got) != tt.want || len(leftFor(res.Plan, Unsupported)) > 0 {
					t.Errorf("fragments of %v rows, want %s; %+v", got, tt.want, res)
				}
				if o := orphans(t, files(t, s), checkVersions(t, s)); len(o) > 0 {
					t.Errorf("left behind: %v", o)
				}
				again, err := Run(t.Context(), s, Options{})
				if err != nil || again.Changed {
					t.Errorf("the second run: %+v, error %v", again, err)
				}
				clean(t, s)
				checkVersions(t, s)
			})
		}
	}
}

// checkDropped holds every column of a table against what it was.
func checkDropped(t *testing.T, s objects.Store, before, after *table.Table) {
	t.Helper()
	for _, f := range shapeOf(before).fields {
		want, have := valuesOfColumn(t, before, f.name), valuesOfColumn(t, after, f.name)
		if have.Len() != want.Len() {
			t.Errorf("column %q: %d rows, want %d", f.name, have.Len(), want.Len())
		} else if d := lancetest.Difference(have, 0, want, 0, want.Len()); d != "" {
			t.Errorf("column %q: %s", f.name, d)
		}
	}
}

// keepForHand copies a table to where HAND says, to be looked at with Lance itself.
func keepForHand(t *testing.T, s *dirstore.Store, name string) {
	if to := os.Getenv("HAND"); to != "" {
		if err := os.CopyFS(to+"/"+t.Name()+"/"+name, os.DirFS(s.String())); err != nil {
			t.Fatal(err)
		}
	}
}
