package compact

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
	"google.golang.org/protobuf/proto"

	"github.com/seaweedfs/seaweed-lance/internal/lance/lancetest"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
	"github.com/seaweedfs/seaweed-lance/internal/objects/dirstore"
)

// deleteRows deletes rows of fragments, as Lance would. Those that are deleted already stay so.
func deleteRows(tb testing.TB, s objects.Store, choose func(f *pb.DataFragment, row uint32) bool) (deleted int) {
	tb.Helper()
	head := open(tb, s)
	op := &pb.Transaction_Delete{}
	writer{tb: tb, s: s}.put(&pb.Transaction{Operation: &pb.Transaction_Delete_{Delete: op}}, func(m *pb.Manifest) {
		for i, f := range m.Fragments {
			v, err := table.ReadDeletions(tb.Context(), s, f)
			if err != nil {
				tb.Fatal(err)
			}
			before := v.GetCardinality()
			for row := range uint32(f.GetPhysicalRows()) {
				if choose(f, row) && v.GetCardinality()+1 < f.GetPhysicalRows() {
					v.Add(row)
				}
			}
			if v.GetCardinality() == before {
				continue
			}
			deleted += int(v.GetCardinality() - before)
			kind, b, err := table.EncodeDeletions(v)
			if err != nil {
				tb.Fatal(err)
			}
			f = proto.CloneOf(f)
			f.DeletionFile = &pb.DeletionFile{FileType: kind, ReadVersion: head.Version(), Id: 5, NumDeletedRows: v.GetCardinality()}
			if err := s.Publish(tb.Context(), table.DeletionName(f.Id, f.DeletionFile), b); err != nil {
				tb.Fatal(err)
			}
			op.UpdatedFragments = append(op.UpdatedFragments, f)
			m.Fragments[i] = f
		}
		m.ReaderFeatureFlags |= table.FlagDeletionFiles
		m.WriterFeatureFlags |= table.FlagDeletionFiles
	})
	return deleted
}

// leftFor are the reasons of a kind for which a plan leaves fragments alone.
func leftFor(p Plan, k Kind) (reasons []string) {
	for _, l := range p.Left {
		if l.Kind == k {
			reasons = append(reasons, l.Reason)
		}
	}
	return reasons
}

// Tables with deleted rows and with fragments of different columns become one fragment, at every version of theirs that
// no index covers.
func TestRewriteFixtures(t *testing.T) {
	deletions, different := 0, 0
	for _, name := range []string{"deletions", "deletion_bitmap", "stable_ids", "columns_changed", "lance_0", "lance_1", "lance_4", "lance_10"} {
		versions := versionsOf(t, name)
		for i, v := range versions {
			s := copyOf(t, name)
			if i < len(versions)-1 {
				s = copyAt(t, name, v)
			}
			before := open(t, s)
			gone, layouts := uint64(0), make(map[string]bool)
			for _, f := range before.Fragments() {
				gone += f.GetDeletionFile().GetNumDeletedRows()
				layouts[fmt.Sprint(f.GetFiles()[0].GetFields(), len(f.GetFiles()))] = true
			}
			res := runTwice(t, s, Options{})
			if r := leftFor(res.Plan, Unsupported); len(r) > 0 {
				if !strings.Contains(r[0], "index") {
					t.Errorf("%s, version %d: left: %v", name, v, r)
				}
				continue
			}
			after := open(t, s)
			if len(before.Fragments()) > 1 && len(after.Fragments()) != 1 {
				t.Errorf("%s, version %d: %d fragments: %+v", name, v, len(after.Fragments()), res.Plan)
			}
			for _, f := range after.Fragments() {
				if f.GetDeletionFile() != nil && len(before.Fragments()) > 1 {
					t.Errorf("%s, version %d: %v", name, v, f)
				}
			}
			if gone > 0 {
				deletions++
			}
			if len(layouts) > 1 {
				different++
			}
		}
	}
	if deletions < 5 || different < 2 {
		t.Errorf("%d tables with deleted rows, %d with different columns", deletions, different)
	}
}

// Rows of every type are decoded and encoded anew: those of fragments that lost some; pages of the others are copied.
func TestRewriteTypes(t *testing.T) {
	for _, name := range []string{"types_20", "types_21", "types_22"} {
		for _, every := range []uint32{2, 7} {
			s := copyOf(t, name)
			first := open(t, s).Fragments()[0].GetId()
			n := deleteRows(t, s, func(f *pb.DataFragment, row uint32) bool { return row%every == 1 && (every == 2 || f.GetId() == first) })
			before := open(t, s)
			res := runTwice(t, s, Options{})
			if n == 0 || res.FragmentsRemoved != len(before.Fragments()) || len(open(t, s).Fragments()) != 1 {
				t.Errorf("%s: %d rows deleted, %+v", name, n, res)
			}
		}
	}
}

// Fragments that lack columns, or parts of nested ones, are merged with those that don't: what they lack is filled with
// nulls.
func TestRewriteFills(t *testing.T) {
	for _, name := range []string{"types_20", "types_21", "types_22"} {
		for k := range 4 {
			s := copyOf(t, name)
			writer{tb: t, s: s}.put(&pb.Transaction{Operation: &pb.Transaction_UpdateConfig_{UpdateConfig: &pb.Transaction_UpdateConfig{}}}, func(m *pb.Manifest) {
				fields, sh := m.Fragments[1].Files[0].Fields, shapeOf(open(t, s))
				for i, id := range fields {
					f := sh.fields[sh.top[id]]
					if i%4 == k && f.strict == "" && (len(f.ids) == 1 || !f.whole) {
						fields[i] = -2 // superseded
					}
				}
			})
			if res := runTwice(t, s, Options{}); res.FragmentsRemoved != 3 || res.FragmentsAdded != 1 {
				t.Errorf("%s, %d: %+v", name, k, res)
			}
		}
	}
}

// Each table of the matrix by which reading is proved loses rows and is rewritten; what can't be is left with a reason.
func TestRewriteMatrix(t *testing.T) {
	cells, err := filepath.Glob(filepath.Join(fixtureRoot, "pages", "*", "t"))
	if err != nil || len(cells) == 0 {
		t.Fatalf("%v, error %v", cells, err)
	}
	rewritten, left := 0, make(map[string]int)
	for i, dir := range cells {
		if !full && i%9 != 0 {
			continue
		}
		s := copyDir(t, dir)
		rng := rand.New(rand.NewPCG(uint64(i), 1))
		if deleteRows(t, s, func(*pb.DataFragment, uint32) bool { return rng.IntN(3) == 0 }) == 0 {
			continue
		}
		t.Run(filepath.Base(filepath.Dir(dir)), func(t *testing.T) {
			res := runTwice(t, s, Options{})
			for _, l := range res.Plan.Left {
				if l.Kind == Broken {
					t.Errorf("left %+v", l)
				}
				if l.Kind == Unsupported {
					left[l.Reason]++
				}
			}
			rewritten += res.FragmentsRemoved
			if res.FragmentsRemoved == 0 && len(leftFor(res.Plan, Unsupported)) == 0 {
				t.Logf("nothing done: %+v", res.Plan)
			}
		})
	}
	t.Logf("%d fragments rewritten; left: %v", rewritten, left)
	if rewritten == 0 {
		t.Error("none was rewritten")
	}
}

func copyDir(tb testing.TB, dir string) *dirstore.Store {
	tb.Helper()
	to := filepath.Join(tb.TempDir(), "table")
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		tb.Fatal(err)
	}
	return lancetest.Dir(tb, to, nil)
}

// Pages that can't be decoded, as it turns out while they are: their fragment stays, and the others are merged.
func TestRefusedOnTheWay(t *testing.T) {
	k := newMaker(t, 1, table.V2_1, listInStruct...)
	for range 5 {
		k.fragment(8, k.lists("vn"))
	}
	victim := k.m.Fragments[2]
	name := filepath.Join(k.s.String(), table.DataName(victim.GetFiles()[0]))
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 200 { // the pages, but not what describes them
		raw[i] = 0xff
	}
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, raw, 0o666); err != nil {
		t.Fatal(err)
	}
	before := k.done()
	res, err := Run(t.Context(), k.s, Options{})
	if err != nil || len(open(t, k.s).Fragments()) != 2 {
		t.Fatalf("%+v, error %v", res, err)
	}
	broken := leftFor(res.Plan, Broken)
	if len(broken) != 1 {
		t.Fatalf("left %v", res.Plan.Left)
	}
	says(t, broken[0], `column "s"`, victim.GetFiles()[0].GetPath())
	checkRewrites(t, k.s, table.NamingV2, before.Version(), res.Version)
	if o := orphans(t, files(t, k.s), checkVersions(t, k.s)); len(o) > 0 {
		t.Errorf("left behind: %v", o)
	}
}

func TestStretches(t *testing.T) {
	const plain = "values"
	big := []unit{{100, joinBelow, joinBelow}}
	h := func(ids, why, agreed string, units ...unit) *holding {
		if units == nil {
			units = big
		}
		return &holding{ids: ids, why: why, agreed: agreed, encodings: plain, units: units}
	}
	none := &holding{}
	odd := &holding{ids: "1", encodings: "otherwise", units: big}
	three := []unit{{10, joinBelow, joinBelow}, {60, joinBelow, joinBelow}, {100, joinBelow, joinBelow}}
	small := []unit{{100, joinBelow - 1, joinBelow}}
	mixed := []unit{{10, 5, 5}, {60, joinBelow, joinBelow}, {90, 5, 5}, {100, 5, 5}}
	tests := []struct {
		name string
		ids  []int32
		must bool
		held []*holding
		gone []uint32 // of the first fragment
		cut  []int64
		want string // way:fragment:from-to of each stretch, | between files
	}{
		{"all alike", []int32{1}, false, []*holding{h("1", "", ""), h("1", "", "")}, nil, nil, "c0:0-100 c1:0-100"},
		{"none", []int32{1}, false, []*holding{none, none}, nil, nil, ""},
		{"one that can't be copied", []int32{1}, false, []*holding{h("1", "", ""), h("1", "odd", ""), h("1", "", "")}, nil, nil, "c0:0-100 e1:0-100 c2:0-100 +"},
		{"one without", []int32{1}, false, []*holding{h("1", "", ""), none}, nil, nil, "c0:0-100 e1:0-100 +"},
		{"a part, all alike", []int32{1, 2}, false, []*holding{h("1", "", ""), h("1", "", "")}, nil, nil, "c0:0-100 c1:0-100"},
		{"a part and all", []int32{1, 2}, false, []*holding{h("1", "", ""), h("1 2", "", "")}, nil, nil, "e0:0-100 c1:0-100 +"},
		{"two parts", []int32{1, 2}, false, []*holding{h("1", "", ""), h("2", "", "")}, nil, nil, "e0:0-100 e1:0-100 +"},
		{"agreed", []int32{1}, true, []*holding{h("1", "", "a"), h("1", "", ""), h("1", "", "a")}, nil, nil, "c0:0-100 c1:0-100 c2:0-100"},
		{"not agreed", []int32{1}, true, []*holding{h("1", "", "a"), h("1", "", "b")}, nil, nil, "e0:0-100 e1:0-100 +"},
		{"agreed, one deleted", []int32{1}, true, []*holding{h("1", "", "a"), h("1", "", "a")}, []uint32{3}, nil, "e0:0-100 e1:0-100 +"},
		{"all encoded otherwise", []int32{1}, false, []*holding{odd, odd}, nil, nil, "c0:0-100 c1:0-100"},
		{"one encoded otherwise", []int32{1}, false, []*holding{odd, h("1", "", "")}, nil, nil, "e0:0-100 c1:0-100 +"},
		{"one row deleted", []int32{1}, false, []*holding{h("1", "", "", three...)}, []uint32{30}, nil, "c0:0-10 p0:10-60 c0:60-100 +"},
		{"a page deleted", []int32{1}, false, []*holding{h("1", "", "", three...)}, rowsFrom(10, 60), nil, "c0:0-10 c0:60-100"},
		{"cut at a page", []int32{1}, false, []*holding{h("1", "", "", three...)}, nil, []int64{60, 40}, "c0:0-60 | c0:60-100"},
		{"cut in a page", []int32{1}, false, []*holding{h("1", "", "", three...)}, nil, []int64{50, 50}, "c0:0-10 p0:10-50 + | p0:50-60 c0:60-100 +"},
		{"small ones", []int32{1}, false, []*holding{h("1", "", "", small...), h("1", "", "", small...)}, nil, nil, "e0:0-100 e1:0-100 +"},
		{"a small one", []int32{1}, false, []*holding{h("1", "", ""), h("1", "", "", small...), h("1", "", "")}, nil, nil, "c0:0-100 c1:0-100 c2:0-100"},
		{"small ones between", []int32{1}, false, []*holding{h("1", "", "", mixed...), h("1", "", "", mixed...)}, nil, nil, "c0:0-60 e0:60-100 e1:0-10 c1:10-60 e1:60-100 +"},
		{"small and partly deleted", []int32{1}, false, []*holding{h("1", "", "", small...), h("1", "", "")}, []uint32{0}, nil, "p0:0-100 c1:0-100 +"},
	}
	for _, tt := range tests {
		all := make([]stored, len(tt.held))
		live := int64(0)
		for i := range all {
			all[i].rows = 100
		}
		if tt.gone != nil {
			all[0].deleted = roaring.BitmapOf(tt.gone...)
		}
		for _, x := range all {
			live += int64(x.live(0, x.rows))
		}
		if tt.cut == nil {
			tt.cut = []int64{live}
		}
		files, err := deal(all, tt.cut)
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		var got []string
		for i, pieces := range files {
			if i > 0 {
				got = append(got, "|")
			}
			out, anew := stretchesOf(&topField{ids: tt.ids, must: tt.must}, plain, pieces, all, tt.held, joinBelow)
			at := uint64(0)
			for _, s := range out {
				got = append(got, fmt.Sprintf("%c%d:%d-%d", "cpe"[s.way], s.frag, s.from, s.to))
				if s.row != at {
					t.Errorf("%s: %v comes at row %d", tt.name, s, at)
				}
				at += s.live
			}
			if out != nil && at != uint64(tt.cut[i]) {
				t.Errorf("%s: %d rows", tt.name, at)
			}
			if anew {
				got = append(got, "+")
			}
		}
		if s := strings.Join(got, " "); s != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, s, tt.want)
		}
	}
}

func rowsFrom(from, to uint32) (all []uint32) {
	for i := from; i < to; i++ {
		all = append(all, i)
	}
	return all
}
