package compact

import (
	"fmt"
	"path/filepath"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/seaweedfs/seaweed-lance/internal/lance/lancetest"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
	"github.com/seaweedfs/seaweed-lance/internal/objects/dirstore"
)

// scanRoot holds tables of kinds that only some readers meet.
const scanRoot = "../scan/testdata"

func copyOfScan(tb testing.TB, name string) *dirstore.Store {
	tb.Helper()
	return copyDir(tb, filepath.Join(scanRoot, name))
}

// edit makes a version that differs as edit says.
func edit(tb testing.TB, s objects.Store, change func(m *pb.Manifest)) {
	tb.Helper()
	writer{tb: tb, s: s}.put(&pb.Transaction{Operation: &pb.Transaction_UpdateConfig_{UpdateConfig: &pb.Transaction_UpdateConfig{}}}, change)
}

// take copies an object from another table.
func take(tb testing.TB, to, from objects.Store, name string) {
	tb.Helper()
	b, err := readAll(tb, from, name)
	if err != nil {
		tb.Fatal(err)
	}
	if err := to.Publish(tb.Context(), name, b); err != nil {
		tb.Fatal(err)
	}
}

// A table with files of several versions gets files of its own version, and stays one that may have others.
func TestRunMixedVersions(t *testing.T) {
	s := copyOfScan(t, "mixed")
	deleteRows(t, s, func(f *pb.DataFragment, row uint32) bool { return row == 1 })
	keepForHand(t, s, "before")
	res := runTwice(t, s, Options{})
	keepForHand(t, s, "after")
	after := open(t, s)
	m := after.Manifest()
	if len(after.Fragments()) != 1 || len(leftFor(res.Plan, Unsupported)) > 0 || m.ReaderFeatureFlags&m.WriterFeatureFlags&table.FlagMixedVersions == 0 {
		t.Errorf("%d fragments, flags %d and %d, %+v", len(after.Fragments()), m.ReaderFeatureFlags, m.WriterFeatureFlags, res)
	}
}

// Files of each version are merged with those of each other one, whatever types they hold.
func TestRunMixedTypes(t *testing.T) {
	versions := []string{"types_20", "types_21", "types_22"}
	for _, to := range versions {
		for _, from := range versions {
			if to == from {
				continue
			}
			t.Run(to+" "+from, func(t *testing.T) {
				s, other := copyOf(t, to), lancetest.Dir(t, filepath.Join(fixtureRoot, from), nil)
				fields := make(map[string]int32)
				for _, f := range open(t, s).Manifest().Fields {
					fields[fmt.Sprint(f.ParentId, f.Name)] = f.Id
				}
				same := make(map[int32]bool)
				for _, f := range open(t, other).Manifest().Fields {
					id, ok := fields[fmt.Sprint(f.ParentId, f.Name)]
					same[f.Id] = ok && id == f.Id
				}
				edit(t, s, func(m *pb.Manifest) {
					for _, f := range open(t, other).Fragments() {
						f = proto.CloneOf(f)
						f.Id += 100
						for _, d := range f.Files {
							take(t, s, other, table.DataName(d))
							for i, id := range d.Fields {
								if !same[id] {
									d.Fields[i] = -2
								}
							}
						}
						m.Fragments = append(m.Fragments, f)
						m.MaxFragmentId = proto.Uint32(uint32(f.Id) + 1)
					}
					m.ReaderFeatureFlags |= table.FlagMixedVersions
					m.WriterFeatureFlags |= table.FlagMixedVersions
				})
				keepForHand(t, s, "before")
				res := runTwice(t, s, Options{})
				keepForHand(t, s, "after")
				if len(open(t, s).Fragments()) != 1 {
					t.Errorf("%+v", res)
				}
			})
		}
	}
}

// Of a field that two files of a fragment hold, the first one counts.
func TestRunFieldTwice(t *testing.T) {
	for _, name := range []string{"types_20", "types_21", "types_22"} {
		for k := range 3 {
			t.Run(fmt.Sprint(name, k), func(t *testing.T) {
				s := copyOf(t, name)
				sh := shapeOf(open(t, s))
				edit(t, s, func(m *pb.Manifest) {
					f := m.Fragments[0]
					twice := proto.CloneOf(m.Fragments[1].Files[0])
					for i, id := range twice.Fields {
						if at := sh.top[id]; at%3 != k {
							twice.Fields[i] = -2
						}
					}
					f.Files = append(f.Files, twice)
				})
				keepForHand(t, s, "before")
				res := runTwice(t, s, Options{})
				keepForHand(t, s, "after")
				if len(open(t, s).Fragments()) != 1 {
					t.Errorf("%+v", res)
				}
			})
		}
	}
}
