package compact

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"google.golang.org/protobuf/proto"

	"github.com/seaweedfs/seaweed-lance/internal/lance/lancetest"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/lance/scan"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
	"github.com/seaweedfs/seaweed-lance/internal/objects/dirstore"
)

// blobRoot holds tables of blobs.
const blobRoot = "testdata"

func copyOfBlobs(tb testing.TB, name string) *dirstore.Store {
	tb.Helper()
	return copyDir(tb, filepath.Join(blobRoot, name))
}

// blobBases finds what lies outside of the tables of blobs.
func blobBases(tb testing.TB) table.BaseOpener {
	return func(p *pb.BasePath) (objects.Store, error) {
		return lancetest.Dir(tb, filepath.Join(blobRoot, path.Base(p.GetPath())), nil), nil
	}
}

// allOf reads columns of a table, with the bytes of blobs or their descriptors.
func allOf(tb testing.TB, t *table.Table, bytes bool) map[string]arrow.Array {
	tb.Helper()
	s, err := scan.Open(tb.Context(), t, scan.Options{BlobBytes: bytes})
	if err != nil {
		tb.Fatal(err)
	}
	defer s.Close()
	chunks := make(map[string][]arrow.Array)
	for {
		b, err := s.Next(tb.Context())
		if b == nil {
			if err.Error() != "EOF" {
				tb.Fatal(err)
			}
			break
		}
		for i, f := range b.Schema().Fields() {
			chunks[f.Name] = append(chunks[f.Name], b.Column(i))
		}
	}
	out := make(map[string]arrow.Array)
	for name, c := range chunks {
		if out[name], err = array.Concatenate(c, memory.DefaultAllocator); err != nil {
			tb.Fatal(err)
		}
	}
	return out
}

// kindsOf are how many blobs of each kind a table has, null ones under -1.
func kindsOf(tb testing.TB, t *table.Table) map[int]int {
	kinds := make(map[int]int)
	var count func(a arrow.Array)
	count = func(a arrow.Array) {
		s, ok := a.(*array.Struct)
		if !ok {
			return
		}
		if k, ok := s.Field(0).(*array.Uint8); ok && s.NumField() == 5 {
			for i := range s.Len() {
				if s.IsNull(i) {
					kinds[-1]++
				} else {
					kinds[int(k.Value(i))]++
				}
			}
			return
		}
		for i := range s.NumField() {
			count(s.Field(i))
		}
	}
	for _, a := range allOf(tb, t, false) {
		count(a)
	}
	return kinds
}

// Blobs of all kinds are moved with their rows: bytes, nulls and empty ones stay as they were, and so does
// where they are kept. What lay beside the old files goes with them.
func TestRunBlobs(t *testing.T) {
	for _, name := range []string{"blobs_20", "blobs_21", "blobs_22"} {
		for _, target := range []int64{0, 13} {
			t.Run(fmt.Sprint(name, "/", target), func(t *testing.T) {
				s := copyOfBlobs(t, name)
				before := open(t, s).WithBases(blobBases(t))
				want, kinds := allOf(t, before, true), kindsOf(t, before)
				keepForHand(t, s, "before")
				o := Options{Policy: Policy{TargetRows: target}, Bases: blobBases(t)}
				res, err := Run(t.Context(), s, o)
				if err != nil {
					t.Fatal(err)
				}
				keepForHand(t, s, "after")
				if len(res.Plan.Left) > 0 || !res.Changed {
					t.Errorf("%+v", res)
				}
				if left := looseBlobs(files(t, s)); len(left) > 0 {
					t.Errorf("blobs without a data file: %v", left)
				}
				again, err := Run(t.Context(), s, o)
				if err != nil || again.Changed {
					t.Errorf("the second run: %+v, error %v", again, err)
				}
				clean(t, s)
				after := open(t, s).WithBases(blobBases(t))
				for name, a := range allOf(t, after, true) {
					if d := lancetest.Difference(a, 0, want[name], 0, want[name].Len()); d != "" || a.Len() != want[name].Len() {
						t.Errorf("column %q: %d rows, were %d: %s", name, a.Len(), want[name].Len(), d)
					}
				}
				if got := kindsOf(t, after); fmt.Sprint(got) != fmt.Sprint(kinds) {
					t.Errorf("kinds %v, were %v", got, kinds)
				}
				checkBlobsGone(t, s, name, before)
			})
		}
	}
}

// fewBlobs is a table of one fragment with blobs of all kinds, some of whose rows are deleted.
func fewBlobs(tb testing.TB) *dirstore.Store {
	s := copyOfBlobs(tb, "blobs_22")
	edit(tb, s, func(m *pb.Manifest) { m.Fragments = m.Fragments[:1] })
	clean(tb, s)
	return s
}

// looseBlobs are files of blobs beside no data file.
func looseBlobs(all []string) (out []string) {
	there := make(map[string]bool)
	for _, f := range all {
		there[f] = true
	}
	for _, f := range all {
		if dir := path.Dir(f); strings.HasPrefix(dir, table.DataDir+"/") && !there[dir+".lance"] {
			out = append(out, f)
		}
	}
	return out
}

// checkBlobsGone: nothing of the data files of a version is left, and blobs of deleted rows are nowhere.
func checkBlobsGone(t *testing.T, s *dirstore.Store, name string, before *table.Table) {
	t.Helper()
	old := make(map[string]bool)
	for _, f := range before.Fragments() {
		old[strings.TrimSuffix(table.DataName(f.GetFiles()[0]), ".lance")] = true
	}
	var all strings.Builder
	for _, f := range files(t, s) {
		if old[strings.TrimSuffix(f, ".lance")] || old[path.Dir(f)] {
			t.Errorf("%s is still there", f)
		}
		if strings.HasPrefix(f, "data/") {
			b, err := readAll(t, s, f)
			if err != nil {
				t.Fatal(err)
			}
			all.Write(b)
		}
	}
	// The rows whose deletion the fixtures' script made.
	words := []string{"3:3:3:", "13:13:", "14:14:"}
	if name == "blobs_22" {
		words = []string{"3:3:3:", "4:4:4:", "14:14:14:"}
	}
	for _, word := range words {
		if strings.Contains(all.String(), word) {
			t.Errorf("%q is still there", word)
		}
	}
}

// Blobs beside data files in another base come to the table's own root with these.
func TestRunBlobsOfBases(t *testing.T) {
	for _, rooted := range []bool{true, false} {
		s, other := copyOfBlobs(t, "blobs_22"), copyOfBlobs(t, "blobs_22")
		before := open(t, s).WithBases(blobBases(t))
		want, kinds := allOf(t, before, true), kindsOf(t, before)
		root := other.String()
		if !rooted {
			root = filepath.Join(root, table.DataDir)
		}
		edit(t, s, func(m *pb.Manifest) {
			for i, f := range m.Fragments {
				m.Fragments[i] = proto.CloneOf(f)
				m.Fragments[i].Files[0].BaseId = proto.Uint32(9)
			}
			m.BasePaths = append(m.BasePaths, &pb.BasePath{Id: 9, Path: root, IsDatasetRoot: rooted})
		})
		if err := os.RemoveAll(filepath.Join(s.String(), table.DataDir)); err != nil {
			t.Fatal(err)
		}
		bases := func(p *pb.BasePath) (objects.Store, error) {
			if p.GetId() == 9 {
				return lancetest.Dir(t, p.GetPath(), nil), nil
			}
			return blobBases(t)(p)
		}
		keepForHand(t, s, fmt.Sprint("before", rooted))
		res, err := Run(t.Context(), s, Options{Bases: bases})
		if err != nil || len(res.Plan.Left) > 0 || !res.Changed {
			t.Fatalf("%+v, error %v", res, err)
		}
		after := open(t, s).WithBases(blobBases(t)) // what was in the other base is not needed any more
		for name, a := range allOf(t, after, true) {
			if d := lancetest.Difference(a, 0, want[name], 0, want[name].Len()); d != "" || a.Len() != want[name].Len() {
				t.Errorf("column %q: %d rows, were %d: %s", name, a.Len(), want[name].Len(), d)
			}
		}
		if got := kindsOf(t, after); fmt.Sprint(got) != fmt.Sprint(kinds) {
			t.Errorf("kinds %v, were %v", got, kinds)
		}
	}
}
