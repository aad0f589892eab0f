package local_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/e2e/oracle"
	"github.com/seaweedfs/seaweed-lance/internal/lance/compact"
)

// writer is a release with file versions of its own and a naming of manifests.
type writer struct {
	release oracle.Release
	file    string
	v1      bool
}

func (w writer) String() string {
	names := "V2"
	if w.v1 {
		names = "V1"
	}
	return fmt.Sprintf("lance=%s,files=%s,names=%s", w.release, w.file, names)
}

// writers are what tables come from: all combinations, or one of each kind.
func writers() []writer {
	var all []writer
	for _, w := range []writer{
		{oracle.Newest, "2.0", false}, {oracle.Newest, "2.1", false}, {oracle.Newest, "2.2", false},
		{oracle.V10, "2.0", false}, {oracle.V10, "2.1", false},
		{oracle.V4, "2.0", false}, {oracle.V4, "2.1", false},
	} {
		all = append(all, w, writer{w.release, w.file, true})
	}
	if full() {
		return append(all, writer{oracle.V0, "2.0", true})
	}
	return []writer{
		{oracle.Newest, "2.0", false}, {oracle.Newest, "2.1", true}, {oracle.Newest, "2.2", false},
		{oracle.V10, "2.1", true}, {oracle.V4, "2.0", false},
	}
}

// TestCompactHundredFragments merges 100 fragments as every release wrote them.
func TestCompactHundredFragments(t *testing.T) {
	judge := oracle.Start(t, oracle.Newest)
	lances := map[oracle.Release]*oracle.Lance{oracle.Newest: judge}
	for _, w := range writers() {
		t.Run(w.String(), func(t *testing.T) {
			if lances[w.release] == nil {
				lances[w.release] = oracle.Start(t, w.release)
				defer delete(lances, w.release)
			}
			dir := filepath.Join(t.TempDir(), "t")
			made := lances[w.release].Make(t, "many_appends", dir, oracle.Table{
				FileVersion: w.file, V1Names: w.v1, Fragments: 100, Rows: 25,
			})
			likeLance(t, judge, dir, 0)
			if got := judge.FragmentRows(t, dir); len(got) != 1 || got[0] != 2500 {
				t.Errorf("fragments of %v rows, want one of 2500", got)
			}
			// The release that wrote the table must go on with it, then the newest.
			lances[w.release].OnTop(t, dir, made.Next)
			judge.OnTop(t, dir, made.Next+1000)
		})
	}
}

// TestCompactRecipes compacts every kind of table that is not left alone in part, and expects
// as many fragments as Lance's planner would leave.
func TestCompactRecipes(t *testing.T) {
	lance := oracle.Start(t, oracle.Newest)
	for _, c := range cases(lance.Recipes(t)) {
		if !c.recipe.Merges {
			continue
		}
		t.Run(c.String(), func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "t")
			made := lance.Make(t, c.recipe.Name, dir, c.table)
			for _, target := range c.targets() {
				likeLance(t, lance, dir, target)
			}
			if c.recipe.Compacts {
				lance.OnTop(t, dir, made.Next)
			}
		})
	}
}

// TestCompactLeavesAlone runs on tables that hold what is left alone, indexed fragments above all.
// Nothing is merged that Lance would not, and what is left has its reason.
func TestCompactLeavesAlone(t *testing.T) {
	lance := oracle.Start(t, oracle.Newest)
	for _, c := range cases(lance.Recipes(t)) {
		if c.recipe.Merges {
			continue
		}
		t.Run(c.String(), func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "t")
			made := lance.Make(t, c.recipe.Name, dir, c.table)
			for _, target := range c.targets() {
				before := lance.Snapshot(t, dir)
				plan := lance.Plan(t, dir, target)
				r := compactNow(t, dir, target)
				withinPlan(t, r.Plan, plan)
				lance.Check(t, before, oracle.Compacted)
				settled(t, lance, dir, target)
			}
			if c.recipe.Compacts {
				lance.OnTop(t, dir, made.Next)
			}
		})
	}
}

// TestCompactNoDataFile: such rows are all null, and Lance itself can't scan
// them; the manifest must go on naming them.
func TestCompactNoDataFile(t *testing.T) {
	lance := oracle.Start(t, oracle.Newest)
	dir := filepath.Join(t.TempDir(), "t")
	lance.Make(t, "no_data_file", dir, oracle.Table{})
	rows := func() (total int64) {
		var all []oracle.Manifest
		lance.Do(t, "manifests", oracle.Args{"root": dir}, &all)
		s := oracle.Snapshot{Manifests: all}
		for _, f := range s.Newest().Fragments {
			total += f.PhysicalRows - f.Deleted
		}
		return total
	}
	before := rows()
	compactNow(t, dir, 0)
	settled(t, lance, dir, 0)
	if got := rows(); got != before || before == 0 {
		t.Errorf("%d rows became %d", before, got)
	}
}

// likeLance compacts the table and a copy of it, the copy by Lance, and compares.
func likeLance(t *testing.T, lance *oracle.Lance, dir string, target int64) {
	t.Helper()
	before := lance.Snapshot(t, dir)
	plan := lance.Plan(t, dir, target)
	copied := dir + ".copy"
	lance.Copy(t, dir, copied)
	lance.Compact(t, copied, target)
	want := lance.FragmentRows(t, copied)

	r := compactNow(t, dir, target)
	withinPlan(t, r.Plan, plan)
	after := lance.Check(t, before, oracle.Compacted)
	if got := after.Rows(); len(got) != len(want) {
		t.Errorf("target %d: fragments of %v rows, Lance leaves %v of %v; left: %+v", target, got, want, before.Rows(), r.Plan.Left)
	}
	newest := after.Newest()
	for _, f := range newest.Fragments {
		for _, file := range f.Files {
			_, old := before.Disk["data/"+file.Path]
			if want := newest.FileVersion; !old && file.Version != want && !(want == "2.0" && file.Version == "0.3") {
				t.Errorf("%s is of version %s in a table of %s", file.Path, file.Version, want)
			}
		}
	}
	settled(t, lance, dir, target)
}

// withinPlan asserts that Lance would rewrite everything that a task merges,
// and that each fragment has its reason. Tasks themselves may differ where
// something that Lance can merge and we can't lies between.
func withinPlan(t *testing.T, p compact.Plan, lance [][]uint64) {
	t.Helper()
	theirs := slices.Concat(lance...)
	for _, task := range p.Tasks {
		for _, id := range task.Fragments {
			if !slices.Contains(theirs, id) {
				t.Errorf("fragment %d would be merged, which Lance leaves: %v", id, lance)
			}
		}
		if task.Reason == "" {
			t.Errorf("task %v has no reason", task.Fragments)
		}
	}
	for _, l := range p.Left {
		if l.Reason == "" {
			t.Errorf("fragment %d is left without a reason", l.Fragment)
		}
	}
}
