package compact

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/seaweedfs/seaweed-lance/internal/lance/cleanup"
	"github.com/seaweedfs/seaweed-lance/internal/lance/journal"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
	"github.com/seaweedfs/seaweed-lance/internal/objects/dirstore"
	"github.com/seaweedfs/seaweed-lance/internal/objects/faultstore"
)

// clean removes all versions but the newest, and what no version names.
func clean(tb testing.TB, s objects.Store) cleanup.Result {
	tb.Helper()
	res, err := cleanup.Run(tb.Context(), s, cleanup.Options{Policy: cleanup.Policy{MinVersions: 1}})
	if err != nil {
		tb.Fatalf("cleanup: %v", err)
	}
	return res
}

// Every table of testdata is compacted, as it is and as it was at each of its
// versions; the result holds the same, and a second run finds nothing to do.
func TestRun(t *testing.T) {
	var merged, stable int
	for _, name := range fixtures(t) {
		versions := versionsOf(t, name)
		if !full {
			versions = append(slices.DeleteFunc(slices.Clone(earlier[name]), func(v uint64) bool { return v >= versions[len(versions)-1] }), versions[len(versions)-1])
		}
		for i, v := range versions {
			for _, target := range []int64{0, 50} {
				t.Run(fmt.Sprintf("%s/%d/%d", name, v, target), func(t *testing.T) {
					s := copyOf(t, name)
					if i < len(versions)-1 {
						s = copyAt(t, name, v)
					}
					res := runTwice(t, s, Options{Policy: Policy{TargetRows: target}, careful: target%2 == 0})
					merged += res.FragmentsRemoved
					if open(t, s).StableRowIDs() {
						stable += res.FragmentsRemoved
					}
				})
			}
		}
	}
	if merged == 0 || stable == 0 {
		t.Errorf("%d fragments were merged, %d of them with stable row ids", merged, stable)
	}
}

// earlier are versions of fixtures whose fragments can be merged, although those
// of the newest can't, or are of another kind.
var earlier = map[string][]uint64{
	"stable_ids": {5, 8, 11}, "columns_changed": {3, 5}, "deletions": {5, 6}, "indexed": {4}, "deletion_bitmap": {2},
	"lance_0": {5}, "lance_1": {5}, "lance_4": {5}, "lance_10": {5},
}

func runTwice(t *testing.T, s *dirstore.Store, opts Options) Result {
	t.Helper()
	before := open(t, s)
	opts.Now = clock
	var last Progress
	opts.Progress = func(p Progress) {
		if p.BytesDone < last.BytesDone || p.RowsDone < last.RowsDone || p.TasksDone < last.TasksDone || p.TasksDone > p.Tasks || p.RowsDone > p.Rows || p.BytesDone > p.Bytes {
			t.Errorf("progress %+v after %+v", p, last)
		}
		last = p
	}
	stray := orphans(t, files(t, s), checkVersions(t, s))
	res, err := Run(t.Context(), faultstore.New(s, nil), opts)
	if err != nil {
		t.Fatal(err)
	}
	if last.RowsDone != last.Rows || last.BytesDone != last.Bytes || last.TasksDone > 0 && last.Rows == 0 {
		t.Errorf("progress at the end: %+v", last)
	}
	after := open(t, s)
	rewrites := checkRewrites(t, s, before.Naming(), before.Version(), after.Version())
	if after.Rows() != before.Rows() || res.Version != after.Version() || res.Changed != (after.Version() > before.Version()) {
		t.Errorf("%d rows, were %d; %+v", after.Rows(), before.Rows(), res)
	}
	if res.Changed != (len(res.Plan.Tasks) > 0) || rewrites < len(res.Plan.Tasks) || rewrites != last.TasksDone {
		t.Errorf("%d tasks planned, %d done, %d rewrites", len(res.Plan.Tasks), last.TasksDone, rewrites)
	}
	if n := len(before.Fragments()) - res.FragmentsRemoved + res.FragmentsAdded; n != len(after.Fragments()) {
		t.Errorf("%d fragments, %d by the result %+v", len(after.Fragments()), n, res)
	}
	if o := orphans(t, files(t, s), checkVersions(t, s)); !slices.Equal(o, stray) {
		t.Errorf("left behind: %v, were there before: %v", o, stray)
	}
	for _, v := range []uint64{before.Version() + 1, after.Version()} {
		if res.Changed && !openVersion(t, s, before.Naming(), v).Time().Equal(now) {
			t.Errorf("version %d: made at %s", v, openVersion(t, s, before.Naming(), v).Time())
		}
	}

	second, err := Run(t.Context(), s, opts)
	if err != nil || second.Changed || len(second.Plan.Tasks) > 0 || open(t, s).Version() != after.Version() {
		t.Errorf("the second run: %+v, error %v", second, err)
	}
	return res
}

// A run of 64 tasks makes one reservation for all of them.
func TestOneReservationForAll(t *testing.T) {
	s := copyOf(t, "many_appends")
	before := open(t, s)
	res, err := Run(t.Context(), s, Options{Policy: Policy{TargetRows: 50}})
	if err != nil {
		t.Fatal(err)
	}
	if n := uint64(len(res.Plan.Tasks)); n < 5 || res.Version != before.Version()+1+n {
		t.Errorf("%d tasks, and %d versions more", n, res.Version-before.Version())
	}
	// New ids come in the order of the tasks, so rows keep theirs.
	last := uint64(0)
	for _, f := range open(t, s).Fragments() {
		first := f.GetId()
		if first < last {
			t.Errorf("fragment %d behind %d", first, last)
		}
		last = first
	}
}

func TestDryRun(t *testing.T) {
	for _, name := range fixtures(t) {
		s := copyOf(t, name)
		before := files(t, s)
		f := faultstore.New(s, nil)
		res, err := Run(t.Context(), f, Options{Policy: Policy{TargetRows: 50}, DryRun: true})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if res.Changed || res.FragmentsRemoved != 0 || !slices.Equal(files(t, s), before) {
			t.Errorf("%s: %+v", name, res)
		}
		if n := f.Count(faultstore.Publish, faultstore.Replace, faultstore.Create, faultstore.Delete); n != 0 {
			t.Errorf("%s: %d calls that change something", name, n)
		}
		// It says what a run would do.
		real, err := Run(t.Context(), s, Options{Policy: Policy{TargetRows: 50}})
		if err != nil || fmt.Sprint(real.Plan) != fmt.Sprint(res.Plan) {
			t.Errorf("%s: plan %v, the dry run's %v (%v)", name, real.Plan, res.Plan, err)
		}
	}
}

// Detect finds what a run would do, and does not look at every file for it.
func TestDetect(t *testing.T) {
	for _, name := range fixtures(t) {
		s := copyOf(t, name)
		f := faultstore.New(s, nil)
		plan, due, err := Detect(t.Context(), open(t, f), Policy{TargetRows: 1000})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		reads := 0
		for _, c := range f.Calls() {
			if c.Op == faultstore.Open && strings.HasPrefix(c.Name, "data/") {
				reads++
			}
		}
		res, err := Run(t.Context(), s, Options{Policy: Policy{TargetRows: 1000}, DryRun: true})
		if err != nil || due != (len(res.Plan.Tasks) > 0) {
			t.Errorf("%s: due %t, a run would do %v (%v)", name, due, res.Plan.Tasks, err)
		}
		if due && len(plan.Tasks) == 0 || due && reads > 4 {
			t.Errorf("%s: %d data files were looked at for %v", name, reads, plan.Tasks)
		}
	}
}

// Two and four runs at once: one does the work, the others leave it to it.
func TestRunsAtOnce(t *testing.T) {
	for _, runs := range []int{2, 4} {
		for _, name := range []string{"many_appends", "types_22", "stable_ids"} {
			t.Run(fmt.Sprint(runs, name), func(t *testing.T) {
				s := copyOf(t, name)
				before := open(t, s)
				results := make([]Result, runs)
				var wg sync.WaitGroup
				for i := range runs {
					wg.Go(func() {
						var err error
						if results[i], err = Run(t.Context(), s, Options{Policy: Policy{TargetRows: 100}}); err != nil {
							t.Errorf("run %d: %v", i, err)
						}
					})
				}
				wg.Wait()
				checkRewrites(t, s, before.Naming(), before.Version(), open(t, s).Version())
				if open(t, s).Rows() != before.Rows() {
					t.Errorf("%d rows, were %d", open(t, s).Rows(), before.Rows())
				}
				removed := 0
				for i, r := range results {
					removed += r.FragmentsRemoved
					if r.FragmentsRemoved == 0 && len(r.Plan.Tasks) > 0 && r.Preempted == "" {
						t.Errorf("run %d did nothing of %v and does not say why", i, r.Plan.Tasks)
					}
				}
				last, err := Run(t.Context(), s, Options{Policy: Policy{TargetRows: 100}})
				if err != nil {
					t.Fatal(err)
				}
				if o := orphans(t, files(t, s), checkVersions(t, s)); len(o) > 0 {
					t.Errorf("left behind: %v", o)
				}
				t.Logf("%d fragments removed together, %d by a last run", removed, last.FragmentsRemoved)
				checkClean(t, s, before.Rows())
			})
		}
	}
}

// checkClean cleans a table up and makes sure that nothing is left but what the
// newest version names, and what is held on to.
func checkClean(tb testing.TB, s *dirstore.Store, rows uint64) {
	tb.Helper()
	clean(tb, s)
	named := checkVersions(tb, s)
	all := files(tb, s)
	if o := orphans(tb, all, named); len(o) > 0 {
		tb.Errorf("orphans: %v", o)
	}
	for name := range named {
		if !strings.HasSuffix(name, "/") && !slices.Contains(all, name) {
			tb.Errorf("%s is missing", name)
		}
	}
	if n := open(tb, s).Rows(); n != rows {
		tb.Errorf("%d rows, want %d", n, rows)
	}
}

// Others delete rows of a fragment, append, or merge the same, at every moment
// of a run: nothing that they did is lost, and nothing comes back.
func TestOthersAtWork(t *testing.T) {
	base := copyAt(t, "branched", 3)
	tests := []struct {
		name string
		do   func(w writer)
		rows int // more or fewer of them
	}{
		{"append", func(w writer) { w.append() }, 10},
		{"delete", func(w writer) { w.delete(1) }, -1},
		{"delete all of one", func(w writer) { w.drop(1) }, -10},
		{"config", func(w writer) { w.config() }, 0},
	}
	for _, tt := range tests {
		// After one call is before the next.
		for p, n := (*faultstore.Point)(nil), 0; p == nil || p.Reached(); n++ {
			p = &faultstore.Point{N: n, Phase: faultstore.Before}
			s := again(t, base)
			before := open(t, s)
			hook := func(c faultstore.Call) faultstore.Action {
				if p.Match(c) {
					tt.do(writer{t, s, before.Fragments()[0]})
				}
				return faultstore.Pass
			}
			if _, err := Run(t.Context(), faultstore.New(s, hook), Options{}); err != nil {
				t.Fatalf("%s, %d %s: %v", tt.name, p.N, p.Phase, err)
			}
			after := open(t, s)
			want := int(before.Rows())
			if p.Reached() {
				want += tt.rows
			}
			if int(after.Rows()) != want {
				t.Errorf("%s, %d %s: %d rows, want %d", tt.name, p.N, p.Phase, after.Rows(), want)
			}
			if o := orphans(t, files(t, s), checkVersions(t, s)); len(o) > 0 {
				t.Errorf("%s, %d %s: left behind: %v", tt.name, p.N, p.Phase, o)
			}
			if t.Failed() {
				return
			}
		}
	}
}

// writer is somebody else who writes to the table.
type writer struct {
	tb testing.TB
	s  objects.Store
	// fragment is what it appends.
	fragment *pb.DataFragment
}

// put makes the next version, as Lance would.
func (w writer) put(txn *pb.Transaction, alter func(m *pb.Manifest)) {
	w.tb.Helper()
	head := open(w.tb, w.s)
	m := proto.CloneOf(head.Manifest())
	m.Version++
	txn.Uuid, txn.ReadVersion = newUUID(), head.Version()
	alter(m)
	publishManifest(w.tb, w.s, head, m, txn)
}

func (w writer) append() {
	op := &pb.Transaction_Append{}
	w.put(&pb.Transaction{Operation: &pb.Transaction_Append_{Append: op}}, func(m *pb.Manifest) {
		// Of a file that the table has already, which nobody minds here.
		f := proto.CloneOf(w.fragment)
		op.Fragments = []*pb.DataFragment{proto.CloneOf(f)}
		top := m.GetMaxFragmentId()
		for _, x := range m.Fragments {
			top = max(top, uint32(x.GetId()))
		}
		f.Id = uint64(top) + 1
		m.MaxFragmentId = proto.Uint32(top + 1)
		m.Fragments = append(m.Fragments, f)
	})
}

// delete deletes a row of the i-th fragment.
func (w writer) delete(i int) {
	op := &pb.Transaction_Delete{}
	w.put(&pb.Transaction{Operation: &pb.Transaction_Delete_{Delete: op}}, func(m *pb.Manifest) {
		i = min(i, len(m.Fragments)-1)
		f := proto.CloneOf(m.Fragments[i])
		f.DeletionFile = &pb.DeletionFile{ReadVersion: m.Version - 1, Id: 77, NumDeletedRows: 1}
		if err := w.s.Publish(w.tb.Context(), table.DeletionName(f.Id, f.DeletionFile), []byte("deleted")); err != nil {
			w.tb.Fatal(err)
		}
		op.UpdatedFragments = []*pb.DataFragment{f}
		m.Fragments[i] = f
		m.ReaderFeatureFlags |= table.FlagDeletionFiles
		m.WriterFeatureFlags |= table.FlagDeletionFiles
	})
}

// drop deletes all rows of the i-th fragment; of a table that has become one
// fragment, as many rows of that.
func (w writer) drop(i int) {
	op := &pb.Transaction_Delete{}
	w.put(&pb.Transaction{Operation: &pb.Transaction_Delete_{Delete: op}}, func(m *pb.Manifest) {
		if len(m.Fragments) == 1 {
			f := proto.CloneOf(m.Fragments[0])
			f.DeletionFile = &pb.DeletionFile{ReadVersion: m.Version - 1, Id: 77, NumDeletedRows: 10}
			if err := w.s.Publish(w.tb.Context(), table.DeletionName(f.Id, f.DeletionFile), []byte("deleted")); err != nil {
				w.tb.Fatal(err)
			}
			op.UpdatedFragments = []*pb.DataFragment{f}
			m.Fragments[0] = f
			m.ReaderFeatureFlags |= table.FlagDeletionFiles
			m.WriterFeatureFlags |= table.FlagDeletionFiles
			return
		}
		op.DeletedFragmentIds = []uint64{m.Fragments[i].GetId()}
		m.Fragments = slices.Delete(m.Fragments, i, i+1)
	})
}

func (w writer) config() {
	w.put(&pb.Transaction{Operation: &pb.Transaction_UpdateConfig_{UpdateConfig: &pb.Transaction_UpdateConfig{}}}, func(m *pb.Manifest) {
		m.Config = map[string]string{"a": "b"}
		m.WriterFeatureFlags |= table.FlagTableConfig
	})
}

// A run gives way to another one that is at work, and says so; to one that has
// died it does not.
func TestClaims(t *testing.T) {
	s := copyOf(t, "types_22")
	ids := []uint64{}
	for _, f := range open(t, s).Fragments() {
		ids = append(ids, f.GetId())
	}
	claim := func(kind journal.Kind, alive bool, fragments ...uint64) func() {
		rec := journal.New(kind, now)
		run, end := journal.Begin()
		rec.Holder.Run, rec.Fragments, rec.Version = run, fragments, open(t, s).Version()
		if !alive {
			end()
		}
		if err := rec.Write(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		return func() {
			end()
			if err := rec.Remove(t.Context(), s); err != nil {
				t.Fatal(err)
			}
		}
	}
	before := files(t, s)
	done := claim(journal.Rewrite, true, ids[2], 99)
	res, err := Run(t.Context(), s, Options{})
	if err != nil || res.Changed || res.Preempted == "" || len(res.Plan.Tasks) != 1 {
		t.Errorf("claimed by another: %+v, error %v", res, err)
	}
	says(t, res.Preempted, fmt.Sprint(os.Getpid()))
	done()
	if after := files(t, s); !slices.Equal(before, after) {
		t.Errorf("files %v", after)
	}
	for name, done := range map[string]func(){
		"elsewhere": claim(journal.Rewrite, true, 99),
		"dead":      claim(journal.Rewrite, false, ids...),
		"cleanup":   claim(journal.Cleanup, true, ids...),
	} {
		defer done()
		_ = name
	}
	if res, err = Run(t.Context(), s, Options{}); err != nil || !res.Changed || res.Preempted != "" {
		t.Errorf("%+v, error %v", res, err)
	}
}

// The claim comes between planning and the journal of the run.
func TestClaimedMeanwhile(t *testing.T) {
	for _, earlier := range []bool{true, false} {
		s := copyOf(t, "types_22")
		base := open(t, s)
		rec := journal.New(journal.Rewrite, now)
		if !earlier {
			rec.Time = now.AddDate(1, 0, 0)
		} else {
			rec.Time = now.AddDate(-1, 0, 0)
		}
		run, end := journal.Begin()
		defer end()
		rec.Holder.Run, rec.Fragments = run, []uint64{base.Fragments()[1].GetId()}
		written := false
		hook := func(c faultstore.Call) faultstore.Action {
			if faultstore.On(faultstore.Before, faultstore.Publish, journal.Dir+"/rewrite")(c) && !written {
				written = true
				if err := rec.Write(t.Context(), s); err != nil {
					t.Error(err)
				}
			}
			return faultstore.Pass
		}
		f := faultstore.New(s, hook)
		res, err := Run(t.Context(), f, Options{})
		if err != nil || !written {
			t.Fatalf("written %t, error %v", written, err)
		}
		if gaveWay := res.Preempted != "" && res.FragmentsRemoved == 0; gaveWay != earlier {
			t.Errorf("the other was earlier %t: %+v", earlier, res)
		}
		if earlier && f.Count(faultstore.Create) != 0 {
			t.Errorf("%d data files were begun before it gave way", f.Count(faultstore.Create))
		}
		if err := rec.Remove(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		if o := orphans(t, files(t, s), checkVersions(t, s)); len(o) > 0 {
			t.Errorf("left behind: %v", o)
		}
	}
}

// What may not be written to is left alone.
func TestRunRefuses(t *testing.T) {
	for _, flag := range []uint64{64, 128, 256, 512, 1 << 20} {
		s := copyOf(t, "types_22")
		writer{tb: t, s: s}.put(&pb.Transaction{Operation: &pb.Transaction_UpdateConfig_{}}, func(m *pb.Manifest) { m.WriterFeatureFlags |= flag })
		before := files(t, s)
		res, err := Run(t.Context(), s, Options{})
		if !errors.Is(err, table.ErrRefused) || res.Changed {
			t.Errorf("writer flag %d: %+v, error %v", flag, res, err)
		}
		if !slices.Equal(files(t, s), before) {
			t.Errorf("writer flag %d: files %v", flag, files(t, s))
		}
	}
	s := dirStore(t, t.TempDir())
	if _, err := Run(t.Context(), s, Options{}); !errors.Is(err, table.ErrNoTable) {
		t.Errorf("no table: error %v", err)
	}
}

// A data file that is cut off anywhere blocks its fragment, with a reason that
// names the file; the others are merged.
func TestBrokenDataFiles(t *testing.T) {
	base := copyOf(t, "many_appends")
	frags := open(t, base).Fragments()
	victim := frags[len(frags)/2]
	name := "data/" + victim.GetFiles()[0].GetPath()
	raw, err := os.ReadFile(filepath.Join(base.String(), name))
	if err != nil {
		t.Fatal(err)
	}
	cuts := []int{0, 1, 39, 40, len(raw) / 2, len(raw) - 41, len(raw) - 1}
	if full {
		for n := range len(raw) {
			cuts = append(cuts, n)
		}
	}
	for _, n := range cuts {
		s := again(t, base)
		path := filepath.Join(s.String(), name)
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, raw[:n], 0o666); err != nil {
			t.Fatal(err)
		}
		res, err := Run(t.Context(), s, Options{})
		if err != nil {
			t.Errorf("%d bytes: %v", n, err)
			continue
		}
		i := slices.IndexFunc(res.Plan.Left, func(l Left) bool { return l.Fragment == victim.GetId() })
		if i < 0 || res.Plan.Left[i].Kind != Broken {
			t.Errorf("%d bytes: left %v", n, res.Plan.Left)
			continue
		}
		says(t, res.Plan.Left[i].Reason, name)
		if got := len(open(t, s).Fragments()); got > 3 {
			t.Errorf("%d bytes: %d fragments", n, got)
		}
		if b, err := os.ReadFile(path); err != nil || len(b) != n {
			t.Errorf("the broken file is gone: %d bytes, error %v", len(b), err)
		}
	}
	// Gone altogether.
	s := again(t, base)
	if err := os.Remove(filepath.Join(s.String(), name)); err != nil {
		t.Fatal(err)
	}
	res, err := Run(t.Context(), s, Options{})
	if err != nil || len(res.Plan.Left) != 1 || res.Plan.Left[0].Kind != Broken {
		t.Errorf("no file: %+v, error %v", res, err)
	}
}
