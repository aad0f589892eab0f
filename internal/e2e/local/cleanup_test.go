package local_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seaweedfs/seaweed-lance/internal/e2e/oracle"
	"github.com/seaweedfs/seaweed-lance/internal/lance/cleanup"
)

// retention is one policy, as both sides are told it.
type retention struct {
	name string
	// keep is how many versions stay whatever their age; 0 leaves it out.
	keep int
	// middle keeps what is younger than the middle version.
	middle bool
}

// retentions that a table is cleaned by: all for tables of the newest file
// version, one in a quick run.
func (c recipeCase) retentions() []retention {
	all := []retention{{name: "nothing"}, {name: "newest 3", keep: 3}, {name: "younger half", middle: true},
		{name: "younger half, newest 2", keep: 2, middle: true}}
	if full() && c.table.FileVersion == "2.2" {
		return all
	}
	return all[:1]
}

// TestCleanupLikeLance cleans each kind of table twice, once by Lance and once
// by us, in the very same place since branches and clones hold absolute paths.
func TestCleanupLikeLance(t *testing.T) {
	lance := oracle.Start(t, oracle.Newest)
	for _, c := range cases(lance.Recipes(t)) {
		if c.table.Stable && c.recipe.Stable == nil {
			continue
		}
		t.Run(c.String(), func(t *testing.T) {
			root := filepath.Join(t.TempDir(), "root")
			dir := filepath.Join(root, "t")
			made := lance.Make(t, c.recipe.Name, dir, c.table)
			if c.recipe.Merges && c.recipe.Compacts {
				// A rewrite gives a cleanup data files to remove.
				lance.Compact(t, dir, 0)
			}
			before := lance.Snapshot(t, dir)
			asMade := root + ".made"
			lance.Copy(t, root, asMade)
			for _, r := range c.retentions() {
				lance.Copy(t, asMade, root)
				cut := r.age(before)
				a := oracle.Args{"uri": dir, "older_than": cut.Seconds()}
				if r.keep > 0 {
					a["retain"] = r.keep
				}
				now := time.Now()
				lance.Do(t, "cleanup", a, nil)
				theirs := listing(t, lance, root)

				lance.Copy(t, asMade, root)
				o := cleanup.Options{
					Policy: cleanup.Policy{Retain: cut, MinVersions: max(r.keep, 1)},
					Now:    func() time.Time { return now },
				}
				dry := o
				dry.DryRun = true
				planned := cleanNow(t, dir, dry)
				same(t, "a dry run", listing(t, lance, asMade), listing(t, lance, root))
				res := cleanNow(t, dir, o)
				after := lance.Check(t, before, oracle.Cleaned)
				againstLance(t, r.name, before, after, theirs, listing(t, lance, root))
				reported(t, before, after, planned, res)
				again := cleanNow(t, dir, o)
				if again.Changed {
					t.Errorf("%s: a second cleanup goes on: %+v", r.name, again)
				}
			}
			if c.recipe.Compacts {
				lance.OnTop(t, dir, made.Next)
			}
		})
	}
}

// age is how old a version must be to go: 0, or what lies behind the middle version.
func (r retention) age(s *oracle.Snapshot) time.Duration {
	if !r.middle {
		return 0
	}
	versions := s.Versions()
	if len(versions) < 2 {
		return time.Hour
	}
	i := len(versions) / 2
	var at [2]time.Time
	for _, m := range s.Manifests {
		if m.Tree == "" && !m.Detached {
			for k := range at {
				if m.Version == versions[i-1+k] {
					at[k] = m.Time()
				}
			}
		}
	}
	return time.Since(at[0].Add(at[1].Sub(at[0]) / 2))
}

// againstLance compares what is left, names below the root. BUGS lists where
// Lance takes too much; it may also leave what we must take.
func againstLance(t *testing.T, name string, before, after *oracle.Snapshot, theirs, ours map[string]int64) {
	t.Helper()
	needed := after.Names()
	wasNamed := before.Names()
	for f := range ours {
		rel := strings.TrimPrefix(f, "t/")
		if _, ok := theirs[f]; !ok && !needed[rel] && !foreign(rel) {
			t.Errorf("%s: Lance takes %s, we leave it", name, f)
		}
	}
	for f := range theirs {
		if _, ok := ours[f]; ok {
			continue
		}
		rel := strings.TrimPrefix(f, "t/")
		old := time.Since(before.Disk[rel].Time) >= oracle.Grace
		switch {
		case needed[rel]:
			t.Errorf("%s: we take %s, which a version needs", name, f)
		case strings.HasSuffix(rel, ".manifest"):
			t.Errorf("%s: we take %s, Lance leaves that version", name, f)
		case !wasNamed[rel] && !old:
			t.Errorf("%s: we take %s, which no version ever named and which is young", name, f)
		default:
			t.Logf("%s: Lance leaves %s, which nothing needs", name, f)
		}
	}
}

// foreign is what Lance takes although it may be somebody else's.
func foreign(rel string) bool {
	return strings.HasPrefix(rel, "_indices/") && strings.Count(rel, "/") == 1
}

// reported compares what a run and its dry run said with what went.
func reported(t *testing.T, before, after *oracle.Snapshot, dry, res cleanup.Result) {
	t.Helper()
	var gone []uint64
	for _, v := range before.Versions() {
		if !slices.Contains(after.Versions(), v) {
			gone = append(gone, v)
		}
	}
	for _, r := range []cleanup.Result{dry, res} {
		got := slices.Sorted(slices.Values(r.Removed))
		if !slices.Equal(got, gone) || r.OldVersionsRemoved != len(gone) {
			t.Errorf("removed are said to be %v (%d), gone are %v", got, r.OldVersionsRemoved, gone)
		}
		if r.Versions != len(after.Versions()) {
			t.Errorf("%d versions are said to be left, there are %d", r.Versions, len(after.Versions()))
		}
	}
	var files []string
	for f := range before.Disk {
		if _, ok := after.Disk[f]; !ok {
			files = append(files, f)
		}
	}
	slices.Sort(files)
	var said []string
	for _, f := range dry.Files {
		said = append(said, f.Name)
		if f.Reason == "" {
			t.Errorf("%s would go without a reason", f.Name)
		}
	}
	slices.Sort(said)
	if !slices.Equal(said, files) {
		t.Errorf("a dry run says %v would go, the run removed %v", said, files)
	}
	if changed := len(files) > 0; res.Changed != changed || dry.Changed {
		t.Errorf("changed: run says %v, dry run %v, %d files went", res.Changed, dry.Changed, len(files))
	}
}

// TestCleanupAppendInFlight cleans between the writing of an append's files and its commit.
func TestCleanupAppendInFlight(t *testing.T) {
	lance := oracle.Start(t, oracle.Newest)
	dir := filepath.Join(t.TempDir(), "t")
	made := lance.Make(t, "many_appends", dir, oracle.Table{})
	var frags []string
	lance.Do(t, "write_only", oracle.Args{"uri": dir, "start": made.Next, "n": 40}, &frags)
	before := lance.Snapshot(t, dir)
	compactNow(t, dir, 0)
	cleanNow(t, dir, cleanup.Options{})
	lance.Check(t, before, oracle.Both)
	lance.Do(t, "commit_later", oracle.Args{"uri": dir, "fragments": frags}, nil)
	after := lance.Snapshot(t, dir)
	if after.Fold.Rows != before.Fold.Rows+40 {
		t.Errorf("%d rows, want %d", after.Fold.Rows, before.Fold.Rows+40)
	}
	if missing := after.Missing(); len(missing) > 0 {
		t.Errorf("missing: %v", missing)
	}
	lance.OnTop(t, dir, made.Next+1000)
}

// TestCleanupClone cleans a shallow clone, and then its source, whose tag is what
// protects the clone.
func TestCleanupClone(t *testing.T) {
	lance := oracle.Start(t, oracle.Newest)
	for _, file := range files([]string{"2.0", "2.1", "2.2"}) {
		t.Run(file, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "t")
			clone := dir + ".clone"
			lance.Make(t, "cloned", dir, oracle.Table{FileVersion: file})
			lance.Do(t, "append", oracle.Args{"uri": clone, "start": 5000, "n": 10}, nil)
			source, cloned := lance.Snapshot(t, dir), lance.Snapshot(t, clone)
			files := listing(t, lance, dir)

			compactNow(t, clone, 0)
			cleanNow(t, clone, cleanup.Options{})
			cloned = lance.Check(t, cloned, oracle.Both)
			same(t, "work on a clone", files, listing(t, lance, dir))

			compactNow(t, dir, 0)
			cleanNow(t, dir, cleanup.Options{})
			lance.Check(t, source, oracle.Both)
			lance.Check(t, cloned, oracle.Nothing)
			lance.OnTop(t, clone, 9000)
		})
	}
}

// TestCleanupTwice compacts and cleans again and again, with appends in
// between: short retention must strand nothing (#23), a tag neither (#11).
func TestCleanupTwice(t *testing.T) {
	lance := oracle.Start(t, oracle.Newest)
	dir := filepath.Join(t.TempDir(), "t")
	made := lance.Make(t, "tagged", dir, oracle.Table{})
	next := made.Next
	for range 8 {
		for range 3 {
			lance.Do(t, "append", oracle.Args{"uri": dir, "start": next, "n": 10}, nil)
			next += 10
		}
		before := lance.Snapshot(t, dir)
		compactNow(t, dir, 0)
		mid := lance.Check(t, before, oracle.Compacted)
		cleanNow(t, dir, cleanup.Options{})
		after := lance.Check(t, mid, oracle.Cleaned)
		if got := len(after.Versions()); got != 4 {
			t.Fatalf("%d versions are left, want the three that are tagged and the newest", got)
		}
		if unnamed := after.Unnamed(); len(unnamed) > 0 {
			t.Fatalf("nothing names %v", unnamed)
		}
	}
	if n := len(listing(t, lance, dir)); n > 60 {
		t.Errorf("%d files are left", n)
	}
}

// TestCleanupAlreadyGone removes some of the victims first (#66).
func TestCleanupAlreadyGone(t *testing.T) {
	lance := oracle.Start(t, oracle.Newest)
	dir := filepath.Join(t.TempDir(), "t")
	lance.Make(t, "many_appends", dir, oracle.Table{})
	compactNow(t, dir, 0)
	before := lance.Snapshot(t, dir)
	dry := cleanNow(t, dir, cleanup.Options{DryRun: true})
	gone := 0
	for i, f := range dry.Files {
		if i%5 == 0 && strings.HasPrefix(f.Name, "data/") {
			if err := os.Remove(filepath.Join(dir, f.Name)); err != nil {
				t.Fatal(err)
			}
			gone++
		}
	}
	if gone == 0 {
		t.Fatal(fmt.Errorf("no victims among %v", dry.Files))
	}
	r := cleanNow(t, dir, cleanup.Options{})
	if len(r.Removed) != len(dry.Removed) {
		t.Errorf("removed %v, want %v", r.Removed, dry.Removed)
	}
	after := lance.Snapshot(t, dir)
	if after.Fold != before.Fold {
		t.Errorf("%v became %v", before.Fold, after.Fold)
	}
	if len(after.Missing())+len(after.Unnamed()) > 0 {
		t.Errorf("missing %v, unnamed %v", after.Missing(), after.Unnamed())
	}
}
