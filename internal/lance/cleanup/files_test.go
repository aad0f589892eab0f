package cleanup

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/seaweedfs/seaweed-lance/internal/lance/journal"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects/faultstore"
)

// With the versions go the files that only they name.
func TestFilesGoWithVersions(t *testing.T) {
	w := newWorld(t, table.NamingV2)
	w.append()
	first := w.m.Fragments[0].Files[0].Path
	stem := strings.TrimSuffix(first, ".lance")
	w.put("data/" + stem + "/10000000000000000000000000000000.blob")
	w.delete()
	deletion := table.DeletionName(0, w.m.Fragments[0].DeletionFile)
	w.index()
	w.append()
	kept := w.m.Fragments[1].Files[0].Path
	w.put("data/" + strings.TrimSuffix(kept, ".lance") + "/01000000000000000000000000000000.blob")
	w.delete()
	w.index()
	before := files(t, w.s)
	res := clean(t, w.s, everything)
	after := files(t, w.s)
	for _, f := range []string{deletion} {
		if slices.Contains(after, f) {
			t.Errorf("%s is still there", f)
		}
	}
	for _, f := range []string{"data/" + first, "data/" + stem + "/10000000000000000000000000000000.blob", "data/" + kept, "data/" + strings.TrimSuffix(kept, ".lance") + "/01000000000000000000000000000000.blob"} {
		if !slices.Contains(after, f) {
			t.Errorf("%s is gone", f)
		}
	}
	// One index, one deletion file, two data files with sidecars, a manifest and its transaction.
	if len(after) != 2+1+4+2 {
		t.Errorf("left: %v", after)
	}
	if res.OldVersionsRemoved != 5 || res.FilesRemoved != len(before)-len(after)-5 || res.DataFilesRemoved != 0 {
		t.Errorf("%+v", res)
	}
	w.merge()
	res = clean(t, w.s, everything)
	if got := files(t, w.s); len(got) != 1+2+2 || res.DataFilesRemoved != 2 || res.BytesRemoved == 0 {
		t.Errorf("left %v, %+v", got, res)
	}
	everyVersion(t, w.s)
	checkIdle(t, w.s, everything)
}

// A tag on an old version does not make files of others immortal (#11).
func TestTagOnOldVersion(t *testing.T) {
	w := newWorld(t, table.NamingV2)
	w.append()
	w.tag("first", 1)
	for range 5 {
		w.append()
	}
	w.merge()
	clean(t, w.s, everything)
	if got := versions(t, w.s); !slices.Equal(got, []uint64{1, 7}) {
		t.Errorf("left: %v", got)
	}
	checkFiles(t, w.s)
}

// Short retention does not strand index files (#23).
func TestShortRetention(t *testing.T) {
	w := newWorld(t, table.NamingV2)
	w.at = start.Add(-21 * time.Hour)
	for range 10 {
		w.append()
		w.index()
		clean(t, w.s, Policy{Retain: time.Second, MinVersions: 1})
		checkFiles(t, w.s)
	}
	dirs := make(map[string]bool)
	for _, f := range files(t, w.s) {
		if strings.HasPrefix(f, "_indices/") {
			dirs[strings.Split(f, "/")[1]] = true
		}
	}
	if len(dirs) != 1 {
		t.Errorf("%d indices", len(dirs))
	}
}

const week = 7 * 24 * time.Hour

// Files that no version names: the young ones may be about to be committed.
func TestUnverified(t *testing.T) {
	id := uuid.NewString()
	ours := []string{
		"data/" + uuid.NewString() + ".lance", "data/" + uuid.NewString() + "/10000000000000000000000000000000.blob",
		"data/.tmp-x.lance-0011223344556677", "data/.tmpabc",
		"_transactions/3-" + id + ".txn", "_transactions/.tmp-y-00", "_deletions/0-1-2.arrow", "_deletions/0-1-2.bin", "_deletions/.tmp1",
		"_indices/" + id + "/index.idx", "_indices/" + id + "/deep/down/x", "_versions/.tmp-1.manifest-00", "_versions/.tmp9",
		"_versions/7.manifest-" + id, "_versions/18446744073709551608.manifest-" + id, "_maintenance/.tmp-rewrite-x.json-00",
	}
	for _, due := range []bool{false, true} {
		for _, tt := range []struct {
			age  time.Duration
			goes bool
		}{{0, false}, {week - time.Second, false}, {week, true}, {100 * week, true}, {-time.Hour, false}} {
			w := newWorld(t, table.NamingV2)
			w.append()
			w.append()
			for _, f := range ours {
				w.stray(f, tt.age)
			}
			p := Policy{Retain: 10_000 * time.Hour}
			if due {
				p = everything
			}
			res := clean(t, w.s, p)
			left := files(t, w.s)
			for _, f := range ours {
				if slices.Contains(left, f) == tt.goes {
					t.Errorf("versions due %t, %s old: %s still there %t", due, tt.age, f, !tt.goes)
				}
			}
			if res.Changed != (tt.goes || due) || !due && res.FilesRemoved != map[bool]int{true: len(ours), false: 0}[tt.goes] {
				t.Errorf("%s old: %+v", tt.age, res)
			}
			everyVersion(t, w.s)
			if len(versions(t, w.s)) != map[bool]int{true: 1, false: 2}[due] {
				t.Errorf("versions %v", versions(t, w.s))
			}
			checkIdle(t, w.s, p)
		}
	}
}

// What is not a table's own stays, however old and however much may go (#37).
func TestForeignFiles(t *testing.T) {
	w := newWorld(t, table.NamingV2)
	w.append()
	w.append()
	id := uuid.NewString()
	foreign := []string{
		"notes.md", ".hidden", "foo/video.mp4", "foo/data/x.lance", "data/readme.txt", "data/x.parquet", "data/x.lance.bak", "data/lance",
		"data/" + id + "/photo.jpg", "data/" + id + "/deep/1.blob", "metadata/v1.metadata.json", "_delta_log/0.json",
		"_transactions/readme", "_transactions/x.txn.old", "_transactions/sub/1-x.txn", "_deletions/notes.txt", "_deletions/sub/0-1-2.arrow",
		"_indices/readme", "_indices/0-1-2.idx", "_indices/not-a-uuid/index.idx", "_indices/" + strings.ToUpper(id) + "/index.idx",
		"_indices/" + strings.ReplaceAll(id, "-", "") + "/index.idx",
		"_versions/notes.txt", "_versions/7.manifest-backup", "_versions/manifest", "_versions/sub/1.manifest",
		"_mem_wal/x/1.wal", "_blobs/" + id + ".blob", "_fri/" + id, "_maintenance/notes.txt", "_maintenance/later-" + id + ".json",
		"_refs/tags/notes.txt", "_refs/other/x.json", "tree/readme.txt", "tree/dead/data/x.lance", "tree/dead/_transactions/1-x.txn",
	}
	for _, f := range foreign {
		w.stray(f, 100*week)
	}
	clean(t, w.s, everything)
	left := files(t, w.s)
	for _, f := range foreign {
		if !slices.Contains(left, f) {
			t.Errorf("%s is gone", f)
		}
	}
	checkIdle(t, w.s, everything)
}

// The versions and files of branches are not the main branch's business, and
// what branches name of it stays.
func TestBranches(t *testing.T) {
	for _, names := range [][2]string{
		{"dev", "dev/sub"}, {"team/dev", "other"}, {"data", "_indices"}, {"_versions", "_versions/_versions"}, {"a/data/_indices", "a"},
		{"dev", "dev/data/deep"}, {"dev", "dev/_versions/x"}, {"dev", "dev/_deletions"},
	} {
		name := names[0]
		t.Run(strings.Join(names[:], " "), func(t *testing.T) {
			w := newWorld(t, table.NamingV2)
			w.append()
			w.append()
			b := w.branch(name)
			b.append()
			sub := b.branch(names[1])
			sub.delete()
			b.merge()
			w.merge()
			for _, f := range []string{"data/" + uuid.NewString() + ".lance", "_transactions/1-x.txn"} {
				w.stray("tree/"+name+"/"+f, 100*week)
			}
			before := files(t, w.s)
			res := clean(t, w.s, everything)
			after := files(t, w.s)
			for _, f := range before {
				if strings.HasPrefix(f, "tree/") && !slices.Contains(after, f) {
					t.Errorf("%s is gone", f)
				}
			}
			// Version 1 goes; what it and the branches name stays.
			if got := versions(t, w.s); !slices.Equal(got, []uint64{2, 3}) || res.DataFilesRemoved != 0 {
				t.Errorf("left %v, %+v", got, res)
			}
			everyVersion(t, w.s)
			checkIdle(t, w.s, everything)
			// A branch that is being made has versions before it is listed.
			if err := w.s.Delete(t.Context(), "_refs/branches/"+strings.ReplaceAll(name, "/", "%2F")+".json"); err != nil {
				t.Fatal(err)
			}
			clean(t, w.s, everything)
			everyVersion(t, w.s)
		})
	}
}

// A detached version keeps what it names.
func TestDetached(t *testing.T) {
	for _, n := range []table.Naming{table.NamingV1, table.NamingV2} {
		w := newWorld(t, n)
		w.append()
		name := w.detached()
		w.old(name, 100*week)
		w.merge()
		clean(t, w.s, everything)
		if left := files(t, w.s); !slices.Contains(left, name) {
			t.Errorf("%s is gone", name)
		}
		everyVersion(t, w.s)
		checkIdle(t, w.s, everything)
	}
}

// Files of victims that are gone already are no failure (#66).
func TestFilesAlreadyGone(t *testing.T) {
	w := sample(t, table.NamingV2)
	dry, err := Run(t.Context(), w.s, dryRun(everything))
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range dry.Files {
		if i%3 == 0 && !strings.HasPrefix(f.Name, "_versions/") {
			if err := w.s.Delete(t.Context(), f.Name); err != nil {
				t.Fatal(err)
			}
		}
	}
	clean(t, w.s, everything)
	checkFiles(t, w.s)
}

// A dry run says what a run does, with a reason for each file, and changes nothing.
func TestDryRun(t *testing.T) {
	for _, n := range []table.Naming{table.NamingV1, table.NamingV2} {
		w := sample(t, n)
		w.stray("data/"+uuid.NewString()+".lance", 2*week)
		before := files(t, w.s)
		f := faultstore.New(w.s, nil)
		dry, err := Run(t.Context(), f, dryRun(everything))
		if err != nil {
			t.Fatal(err)
		}
		if f.Count(faultstore.Delete, faultstore.Publish, faultstore.Replace, faultstore.Create) != 0 || !slices.Equal(files(t, w.s), before) || dry.Changed {
			t.Errorf("%+v: %v", dry, f.Calls())
		}
		res := clean(t, w.s, everything)
		var foreseen []string
		var size int64
		for _, x := range dry.Files {
			foreseen = append(foreseen, x.Name)
			size += x.Size
			if x.Reason == "" {
				t.Errorf("no reason for %s", x.Name)
			}
		}
		slices.Sort(foreseen)
		after := files(t, w.s)
		gone := slices.DeleteFunc(before, func(f string) bool { return slices.Contains(after, f) })
		if !slices.Equal(gone, foreseen) {
			t.Errorf("foreseen %v, gone %v", foreseen, gone)
		}
		if res.BytesRemoved != size || dry.BytesRemoved != size || res.FilesRemoved != dry.FilesRemoved || res.DataFilesRemoved != dry.DataFilesRemoved || res.Versions != dry.Versions {
			t.Errorf("%+v, foreseen %+v", res, dry)
		}
	}
}

// Progress counts every object once and ends at the total.
func TestProgress(t *testing.T) {
	w := sample(t, table.NamingV2)
	o := options(everything)
	last, total := 0, 0
	o.Progress = func(done, of int) {
		if done != last+1 || total != 0 && of != total {
			t.Errorf("%d of %d after %d of %d", done, of, last, total)
		}
		last, total = done, of
	}
	res, err := Run(t.Context(), w.s, o)
	if err != nil || last != total || total != res.FilesRemoved+res.OldVersionsRemoved {
		t.Errorf("%d of %d; %+v, error %v", last, total, res, err)
	}
}

// Every table of testdata.
func TestFixtures(t *testing.T) {
	for _, name := range fixtures(t) {
		for _, p := range []Policy{everything, {MinVersions: 3}, {Retain: 20 * 365 * 24 * time.Hour}} {
			s := copyOf(t, name)
			before, had := openNewest(t, s), len(versions(t, s))
			strays := orphans(files(t, s), everyVersion(t, s))
			o := options(p)
			o.Now = time.Now
			res, err := Run(t.Context(), s, o)
			if err != nil {
				t.Errorf("%s, %+v: %v", name, p, err)
				continue
			}
			if o := orphans(files(t, s), everyVersion(t, s)); !slices.Equal(o, strays) {
				t.Errorf("%s, %+v: left behind: %v", name, p, o)
			}
			after := openNewest(t, s)
			if after.Version() != before.Version() || after.Rows() != before.Rows() {
				t.Errorf("%s, %+v: version %d of %d rows", name, p, after.Version(), after.Rows())
			}
			if n := len(versions(t, s)); p.Retain > 0 && res.Changed || p.MinVersions == 3 && n < min(3, had) || n != res.Versions {
				t.Errorf("%s, %+v: %d versions, %+v", name, p, n, res)
			}
			second, err := Run(t.Context(), s, o)
			if err != nil || second.Changed {
				t.Errorf("%s, %+v: the second run: %+v, error %v", name, p, second, err)
			}
		}
	}
}

// A branch's own root is refused: what holds on to its versions is seen from the table's.
func TestBranchRoot(t *testing.T) {
	w := newWorld(t, table.NamingV2)
	w.append()
	b := w.branch("dev")
	b.append()
	before := files(t, w.s)
	s := dirStore(t, filepath.Join(w.s.String(), "tree/dev"))
	if _, err := Run(t.Context(), s, options(everything)); err == nil || !strings.Contains(err.Error(), `"dev"`) {
		t.Errorf("error %v", err)
	}
	if !slices.Equal(files(t, w.s), before) {
		t.Error("something has changed")
	}
}

// More versions than fit into one batch.
func TestManyVersions(t *testing.T) {
	n := batchVersions + 20
	if !full {
		n = 120
	}
	w := newWorld(t, table.NamingV2)
	w.at = start.Add(-time.Duration(n) * time.Hour)
	for i := range n {
		if i%7 == 3 {
			w.merge()
		} else {
			w.append()
		}
	}
	w.tag("some", uint64(n/2))
	f := faultstore.New(w.s, nil)
	res := clean(t, f, everything)
	if res.OldVersionsRemoved != n-2 || !slices.Equal(versions(t, w.s), []uint64{uint64(n / 2), uint64(n)}) {
		t.Errorf("%d removed, left %v", res.OldVersionsRemoved, versions(t, w.s))
	}
	checkFiles(t, w.s)
	records := 0
	for _, c := range f.Calls() {
		if c.Op == faultstore.Publish && strings.HasPrefix(c.Name, journal.Dir) {
			records++
		}
	}
	if want := (n-3)/batchVersions + 1; records != want {
		t.Errorf("%d records, want %d", records, want)
	}
}

func TestBatches(t *testing.T) {
	refs := func(sizes ...int64) (out []table.VersionRef) {
		for i, n := range sizes {
			out = append(out, table.VersionRef{Version: uint64(i), Size: n})
		}
		return out
	}
	for _, tt := range []struct {
		in   []table.VersionRef
		want string
	}{
		{nil, "[]"},
		{refs(1), "[[0 1]]"},
		{refs(1, 1, 1), "[[0 3]]"},
		{refs(batchBytes, 1, 1), "[[0 1] [1 3]]"},
		{refs(1, batchBytes, 1), "[[0 1] [1 2] [2 3]]"},
		{refs(2*batchBytes, 2*batchBytes), "[[0 1] [1 2]]"},
		{refs(slices.Repeat([]int64{1}, 2*batchVersions+1)...), "[[0 1000] [1000 2000] [2000 2001]]"},
	} {
		if got := fmt.Sprint(batches(tt.in)); got != tt.want {
			t.Errorf("%d versions: %s, want %s", len(tt.in), got, tt.want)
		}
	}
}
