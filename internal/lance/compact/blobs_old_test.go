package compact

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/seaweedfs/seaweed-lance/internal/lance/lancetest"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
	"github.com/seaweedfs/seaweed-lance/internal/objects/dirstore"
)

// oldBlobs is a table of blobs as Lance up to 8.0 wrote them, with its fragments twice.
func oldBlobs(tb testing.TB, name string) *dirstore.Store {
	tb.Helper()
	s := copyDir(tb, filepath.Join("../scan/testdata", name))
	edit(tb, s, func(m *pb.Manifest) {
		for _, f := range m.Fragments {
			f = proto.CloneOf(f)
			f.Id += uint64(len(m.Fragments))
			if d := f.GetDeletionFile(); d != nil {
				f.DeletionFile = nil
			}
			m.Fragments = append(m.Fragments, f)
		}
		m.MaxFragmentId = proto.Uint32(uint32(len(m.Fragments)))
	})
	return s
}

func oldBases(tb testing.TB) table.BaseOpener {
	return func(p *pb.BasePath) (objects.Store, error) {
		return lancetest.Dir(tb, filepath.Join("../scan/testdata", filepath.Base(p.GetPath())), nil), nil
	}
}

// Blobs that older releases wrote are merged; where Lance reads no null, there is none afterwards either.
func TestRunOldBlobs(t *testing.T) {
	for _, name := range []string{"blob_22_old", "blob_22_nested_old"} {
		t.Run(name, func(t *testing.T) {
			s := oldBlobs(t, name)
			before := open(t, s).WithBases(oldBases(t))
			want, kinds := allOf(t, before, true), kindsOf(t, before)
			keepForHand(t, s, "before")
			res, err := Run(t.Context(), s, Options{Bases: oldBases(t)})
			if err != nil || len(res.Plan.Left) > 0 || !res.Changed {
				t.Fatalf("%+v, error %v", res, err)
			}
			keepForHand(t, s, "after")
			after := open(t, s).WithBases(oldBases(t))
			for name, a := range allOf(t, after, true) {
				if d := lancetest.Difference(a, 0, want[name], 0, want[name].Len()); d != "" || a.Len() != want[name].Len() {
					t.Errorf("column %q: %d rows, were %d: %s", name, a.Len(), want[name].Len(), d)
				}
			}
			if got := kindsOf(t, after); fmt.Sprint(got) != fmt.Sprint(kinds) {
				t.Errorf("kinds %v, were %v", got, kinds)
			}
		})
	}
}

// What all releases misread is left alone, and is not called broken.
func TestRunMisreadBlobs(t *testing.T) {
	s := oldBlobs(t, "blob_22_misread")
	res, err := Run(t.Context(), s, Options{})
	if err != nil || res.Changed || len(res.Plan.Left) == 0 {
		t.Fatalf("%+v, error %v", res, err)
	}
	for _, l := range res.Plan.Left {
		if !strings.Contains(l.Reason, "a null blob that Lance 8.0 wrote") || strings.Contains(l.Reason, "corrupt") || l.Kind != Unsupported {
			t.Errorf("fragment %d: %s", l.Fragment, l.Reason)
		}
	}
}
