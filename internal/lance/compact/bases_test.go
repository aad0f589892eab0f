package compact

import (
	"errors"
	"path"
	"path/filepath"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/lance/lancetest"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// Files in other bases, deletion files too, are merged with the table's own. What is new lies in its own root.
func TestRunBases(t *testing.T) {
	opened := make(map[string]int)
	bases := func(p *pb.BasePath) (objects.Store, error) {
		name := path.Base(p.GetPath())
		opened[name]++
		return lancetest.Dir(t, filepath.Join(scanRoot, name), nil), nil
	}
	for _, name := range []string{"bases", "clone"} {
		t.Run(name, func(t *testing.T) {
			clear(opened)
			s := copyOfScan(t, name)
			before := open(t, s).WithBases(bases)
			keepForHand(t, s, "before")
			if _, due, err := Detect(t.Context(), before, Policy{}); !due || err != nil {
				t.Errorf("due %v, error %v", due, err)
			}
			for base, n := range opened {
				if n != 1 {
					t.Errorf("base %q opened %d times", base, n)
				}
			}
			res, err := Run(t.Context(), s, Options{Bases: bases})
			if err != nil {
				t.Fatal(err)
			}
			keepForHand(t, s, "after")
			after := open(t, s)
			if len(after.Fragments()) != 1 || res.FragmentsRemoved != len(before.Fragments()) {
				t.Errorf("%+v", res)
			}
			checkNewFile(t, name, after, after.Fragments()[0])
			checkDropped(t, s, before, after)
			again, err := Run(t.Context(), s, Options{Bases: bases})
			if err != nil || again.Changed {
				t.Errorf("the second run: %+v, error %v", again, err)
			}
			if len(opened) < 2 {
				t.Errorf("opened %v", opened)
			}
		})
	}
}

// What lies where nobody can get at it stays, and the reason says where.
func TestRunUnreachable(t *testing.T) {
	boom := errors.New("boom")
	for name, bases := range map[string]func(*pb.BasePath) (objects.Store, error){
		"none":    nil,
		"boom":    func(*pb.BasePath) (objects.Store, error) { return nil, boom },
		"nowhere": func(*pb.BasePath) (objects.Store, error) { return lancetest.Dir(t, t.TempDir(), nil), nil },
	} {
		s := copyOfScan(t, "bases")
		res, err := Run(t.Context(), s, Options{Bases: bases})
		if err != nil || res.Changed {
			t.Fatalf("%s: %+v, error %v", name, res, err)
		}
		kind, word := Unsupported, "/tmp/lance-scan-fixtures/plain"
		if name == "nowhere" {
			kind = Broken
		}
		if name == "boom" {
			word = "boom"
		}
		left := leftFor(res.Plan, kind)
		if len(left) != 2 {
			t.Fatalf("%s: left %v", name, res.Plan.Left)
		}
		says(t, left[0], "base 1", word)
	}
}
