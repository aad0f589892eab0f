package e2e

import (
	"fmt"
	"maps"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seaweedfs/seaweed-lance/internal/e2e/manytables"
	"github.com/seaweedfs/seaweed-lance/internal/lance/cleanup"
	"github.com/seaweedfs/seaweed-lance/internal/lance/journal"
	"github.com/seaweedfs/seaweed-lance/internal/lance/lancetest"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
	"github.com/seaweedfs/seaweed-lance/internal/objects/filerstore"
	"github.com/seaweedfs/seaweed-lance/internal/weed/cluster"
)

// late is how long a sweep may go on with what it knows of a table whose newest version has not
// changed. A job looks afresh, so a proposal that is late costs a look.
const late = 16 * time.Hour

// change is something that happens to tables between two sweeps.
type change struct {
	name string
	// within is how long sweeps may take to see all of it; 0 means that the next one does.
	within time.Duration
	do     func(t *testing.T, l *lake, f *filerstore.Cluster)
}

// own are the tables that are changed; each is made of the first so many appends.
var own = map[string]uint64{
	"grows": 1, "fills": 6, "cleaned": 12, "tagged": 12, "untagged": 12, "dropped": 8, "again": 8, "higher": 3,
	"hidden": 8, "hushed": 3, "renamed": 8, "crashed": 4, "declared": 0,
}

// The tables' sweeps run with these settings: old versions are due, but for the newest four.
var sameSettings = map[string]int64{"retain_hours": 1, "min_versions_to_keep": 4}

// changes happen one after the other.
var changes = []change{
	{"nothing", 0, func(*testing.T, *lake, *filerstore.Cluster) {}},
	{"appends", 0, func(t *testing.T, l *lake, _ *filerstore.Cluster) {
		l.appendTo(t, "grows", 1, 2)
		l.appendTo(t, "fills", 6, 8)
	}},
	{"a cleanup by another worker, which leaves the newest version", late, func(t *testing.T, l *lake, f *filerstore.Cluster) {
		r, err := cleanup.Run(t.Context(), f.Table(l.Dir("cleaned")), cleanup.Options{Policy: cleanup.Policy{MinVersions: 1}})
		if err != nil || r.OldVersionsRemoved != 10 { // and one is tagged
			t.Fatalf("%+v, %v", r, err)
		}
	}},
	{"tags on all versions that are due", late, func(t *testing.T, l *lake, f *filerstore.Cluster) {
		for v := uint64(1); v <= 8; v++ {
			tag(t, f.Table(l.Dir("tagged")), v)
		}
	}},
	{"tags removed", late, func(t *testing.T, l *lake, f *filerstore.Cluster) {
		for v := uint64(1); v <= 8; v++ {
			if err := table.DeleteTag(t.Context(), f.Table(l.Dir("untagged")), fmt.Sprintf("v%d", v)); err != nil {
				t.Fatal(err)
			}
		}
	}},
	{"dropped", 0, func(t *testing.T, l *lake, _ *filerstore.Cluster) {
		must(t, l.Cluster.Lance().DropTable(t.Context(), sweptBucket, sweptNamespace, "dropped"))
	}},
	{"dropped and made again", 0, func(t *testing.T, l *lake, _ *filerstore.Cluster) {
		for name, k := range map[string]manytables.Kind{"again": l.named(t, "deletions"), "higher": l.named(t, "stable_ids")} {
			must(t, l.Cluster.Lance().DropTable(t.Context(), sweptBucket, sweptNamespace, name))
			must(t, l.Make(t.Context(), name, k))
		}
	}},
	{"deregistered", late, func(t *testing.T, l *lake, _ *filerstore.Cluster) {
		for _, name := range []string{"hidden", "hushed"} {
			must(t, l.Cluster.Lance().DeregisterTable(t.Context(), sweptBucket, sweptNamespace, name))
		}
	}},
	{"registered again", late, func(t *testing.T, l *lake, _ *filerstore.Cluster) {
		for _, name := range []string{"hidden", "hushed"} {
			l.makeTable(t, sweptBucket, sweptNamespace, name)
		}
	}},
	{"renamed", 0, func(t *testing.T, l *lake, _ *filerstore.Cluster) {
		must(t, l.Cluster.Lance().RenameTable(t.Context(), []string{sweptBucket, sweptNamespace, "renamed"}, []string{sweptBucket, sweptNamespace, "renamed_now"}))
	}},
	{"a job that died", late, func(t *testing.T, l *lake, f *filerstore.Cluster) {
		r := journal.New(journal.Rewrite, time.Now())
		r.Holder = journal.Holder{Host: "elsewhere"}
		r.Version, r.Fragments, r.Files = 4, []uint64{99}, []string{"data/half.lance"}
		must(t, r.Write(t.Context(), f.Table(l.Dir("crashed"))))
	}},
	{"written at last", 0, func(t *testing.T, l *lake, _ *filerstore.Cluster) {
		must(t, l.Put(t.Context(), "declared", l.named(t, "appends_12").Files))
	}},
	{"the bucket encrypts with keys of others", 0, func(t *testing.T, l *lake, _ *filerstore.Cluster) {
		l.encryptBucket(t, sweptBucket, "aws:kms")
	}},
	{"the bucket encrypts", 0, func(t *testing.T, l *lake, _ *filerstore.Cluster) {
		l.encryptBucket(t, sweptBucket, "AES256")
	}},
	{"the bucket does not encrypt", 0, func(t *testing.T, l *lake, _ *filerstore.Cluster) {
		_, err := l.S3().Do(t.Context(), http.MethodDelete, sweptBucket+"?encryption=", nil, nil)
		must(t, err)
	}},
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func tag(t *testing.T, s objects.Store, version uint64) {
	t.Helper()
	must(t, table.CreateTag(t.Context(), s, table.Tag{Name: fmt.Sprintf("v%d", version), Version: version}, 1, time.Now()))
}

// named is a kind by its name.
func (l *lake) named(t *testing.T, name string) manytables.Kind {
	t.Helper()
	i := slices.IndexFunc(l.kinds, func(k manytables.Kind) bool { return k.Name == name })
	if i < 0 {
		t.Fatalf("no kind %s", name)
	}
	return l.kinds[i]
}

// TestSweepSame: sweeps that remember find what sweeps find that begin anew, whatever
// happens to the tables between them.
func TestSweepSame(t *testing.T) {
	t.Parallel()
	l := startLake(t, 21, withKEK(cluster.Options{Buckets: []string{"other"}, WaitForJobs: []string{}}))
	f := l.filers(t)
	// In another bucket, as a sweep that can read no table at all is an error.
	l.manyAppends(t, "other", "ml", "vectors")
	for _, name := range slices.Sorted(maps.Keys(own)) {
		if own[name] == 0 {
			l.makeTable(t, sweptBucket, sweptNamespace, name)
			continue
		}
		k, err := manytables.Appends(lancetest.Root(), own[name])
		must(t, err)
		must(t, l.Make(t.Context(), name, k))
	}
	for v := uint64(1); v <= 8; v++ {
		tag(t, f.Table(l.Dir("untagged")), v)
	}
	clock := &sweepClock{t: time.Now()}
	s := l.sweeper(t, clock, sameSettings)
	s.sweep(t)
	for _, c := range changes {
		c.do(t, l, f)
		l.same(t, s, c)
	}
	// Time alone makes versions due.
	s.settings = map[string]int64{"retain_hours": 24 * 60, "min_versions_to_keep": 4}
	none := l.same(t, s, change{name: "other settings"})
	clock.advance(24 * 70 * time.Hour)
	if some := l.same(t, s, change{name: "versions come of age"}); some <= none {
		t.Errorf("%d jobs proposed when versions have come of age, %d before", some, none)
	}
}

// same sweeps until what is found is what new handlers find, and returns how many jobs these
// propose. Tables that are not changed are found the same at each sweep.
func (l *lake) same(t *testing.T, s *sweeper, c change) (proposed int) {
	t.Helper()
	changed := s.clock.now()
	for {
		anew := l.sweeper(t, &sweepClock{t: s.clock.now()}, s.settings)
		want := words(anew.sweep(t))
		at := s.clock.now().Sub(changed)
		got := words(s.sweep(t))
		proposed = len(strings.Split(strings.Join(slices.Collect(maps.Values(want)), ""), "proposed: ")) - 1
		var differ []string
		for name := range union(got, want) {
			if got[name] != want[name] {
				differ = append(differ, name)
			}
		}
		if len(differ) == 0 {
			t.Logf("%s: seen after %v; %d proposed", c.name, at, proposed)
			return proposed
		}
		if at >= c.within || len(differ) > 4 {
			for _, name := range differ {
				t.Errorf("%s, %v later, %s:\nfound %s\nwant  %s", c.name, at, name, got[name], want[name])
			}
			return proposed
		}
		for range 5 { // an hour
			s.sweep(t)
		}
	}
}

func union(a, b map[string]string) map[string]string {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// aTable finds the table that words are about.
var aTable = regexp.MustCompile(regexp.QuoteMeta(sweptBucket+"$"+sweptNamespace+"$") + `[a-z0-9_]+`)

// words are what a sweep says of each table, by its name; what it says of all of them is under no name.
func words(found map[string]*swept) map[string]string {
	out := make(map[string]string)
	for _, jobType := range slices.Sorted(maps.Keys(found)) {
		for _, line := range found[jobType].say() {
			name := path.Base(strings.ReplaceAll(aTable.FindString(line), "$", "/"))
			out[name] += jobType + ": " + line + "\n"
		}
	}
	return out
}
