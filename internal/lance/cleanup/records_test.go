package cleanup

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/seaweedfs/seaweed-lance/internal/lance/journal"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// What a job that died left behind goes once nothing of it can be committed any more.
func TestRecordsOfDeadWriters(t *testing.T) {
	for _, kind := range []journal.Kind{journal.Rewrite, journal.Reserve} {
		for _, tt := range []struct {
			name     string
			fragment uint64 // of the newest version: 1; of older ones: 0
			alive    bool
			age      time.Duration
			files    bool // its files stay
			record   bool // its record stays
		}{
			{"the fragments are gone", 0, false, 0, false, false},
			{"the fragments are there", 1, false, 0, true, true},
			{"the fragments are there, almost seven days later", 1, false, week - time.Minute, true, true},
			{"the fragments are there, seven days later", 1, false, week, false, false},
			{"at work, the fragments are gone", 0, true, 0, true, true},
			{"at work", 1, true, 0, true, true},
		} {
			t.Run(fmt.Sprint(kind, " ", tt.name), func(t *testing.T) {
				w := newWorld(t, table.NamingV2)
				w.append()
				w.merge() // fragment 1 instead of 0
				for range 8 {
					w.append()
				}
				rec := died(t, w, kind, tt.fragment)
				if tt.alive {
					run, end := journal.Begin()
					defer end()
					rec.Holder.Run = run
				}
				if err := rec.Touch(t.Context(), w.s); err != nil {
					t.Fatal(err)
				}
				all := append([]string{rec.Name()}, rec.Files...)
				for _, f := range files(t, w.s) {
					if filepath.Base(f)[:4] == ".tmp" {
						all = append(all, f)
					}
				}
				for _, f := range all {
					w.old(f, tt.age)
				}
				d, err := detect(t.Context(), w.s, Policy{Retain: 10_000 * time.Hour}, start)
				if err != nil || d.Due != (!tt.files && tt.age == 0) {
					t.Errorf("detected %+v, error %v", d, err)
				}
				clean(t, w.s, Policy{Retain: 10_000 * time.Hour})
				left := files(t, w.s)
				for _, f := range all[1:] {
					if slices.Contains(left, f) != tt.files {
						t.Errorf("%s is there %t", f, !tt.files)
					}
				}
				if slices.Contains(left, rec.Name()) != tt.record {
					t.Errorf("the record is there %t", !tt.record)
				}
				everyVersion(t, w.s)
			})
		}
	}
}

// What a record names but a version names too is no garbage: the job had committed.
func TestRecordOfCommittedJob(t *testing.T) {
	w := newWorld(t, table.NamingV2)
	w.append()
	w.merge()
	rec := journal.New(journal.Rewrite, start)
	rec.Version, rec.Fragments = 1, []uint64{0}
	rec.Files = []string{"data/" + w.m.Fragments[0].Files[0].Path, "_transactions/" + w.m.TransactionFile}
	if err := rec.Write(t.Context(), w.s); err != nil {
		t.Fatal(err)
	}
	clean(t, w.s, everything)
	checkFiles(t, w.s)
	if got := files(t, w.s); len(got) != 3 {
		t.Errorf("left %v", got)
	}
}

// A record may name whatever it likes: only files of kinds that Lance makes go.
func TestHostileRecord(t *testing.T) {
	w := newWorld(t, table.NamingV2)
	w.append()
	b := w.branch("b")
	b.append()
	victims := []string{"notes.md", "data/readme.txt", "tree/b/data/" + b.m.Fragments[1].Files[0].Path, "_refs/tags/x.json", "foo/bar.lance",
		"data/" + w.m.Fragments[0].Files[0].Path, w.n.ManifestName(1), table.HintName}
	w.put("notes.md")
	w.put("data/readme.txt")
	w.put("foo/bar.lance")
	w.tag("x", 1)
	if err := w.s.Publish(t.Context(), table.HintName, []byte(`{"version":1}`)); err != nil {
		t.Fatal(err)
	}
	rec := journal.New(journal.Cleanup, start)
	rec.Files = victims
	if err := rec.Write(t.Context(), w.s); err != nil {
		t.Fatal(err)
	}
	before := files(t, w.s)
	clean(t, w.s, everything)
	if got := files(t, w.s); !slices.Equal(got, slices.DeleteFunc(before, func(f string) bool { return f == rec.Name() })) {
		t.Errorf("left %v, were %v", got, before)
	}
}

// A cleanup that died between deleting versions and looking again: a version that
// was tagged meanwhile is published again, byte for byte, before anything else.
func TestRepublish(t *testing.T) {
	for _, n := range []table.Naming{table.NamingV1, table.NamingV2} {
		for _, named := range []string{"tag", "branch"} {
			w := newWorld(t, n)
			w.append()
			w.merge()
			w.merge()
			w.merge()
			rec := journal.New(journal.Cleanup, start)
			for _, v := range []uint64{1, 2, 3} {
				b, _, err := objects.ReadAll(t.Context(), w.s, n.ManifestName(v), 1<<20)
				if err != nil {
					t.Fatal(err)
				}
				rec.Manifests = append(rec.Manifests, journal.Manifest{Version: v, Name: n.ManifestName(v), Content: b})
			}
			for _, f := range files(t, w.s) {
				if f[:5] == "data/" || f[:5] == "_tran" {
					rec.Files = append(rec.Files, f)
				}
			}
			if err := rec.Write(t.Context(), w.s); err != nil {
				t.Fatal(err)
			}
			if named == "tag" {
				w.tag("late", 2)
			} else if err := w.s.Publish(t.Context(), "_refs/branches/late.json", []byte(`{"parentVersion":2}`)); err != nil {
				t.Fatal(err)
			}
			for _, v := range []uint64{1, 2, 3} {
				if err := w.s.Delete(t.Context(), n.ManifestName(v)); err != nil {
					t.Fatal(err)
				}
			}
			// Not even a dry run, nor a policy that retains all, looks over it.
			dry, err := Run(t.Context(), w.s, dryRun(everything))
			if err != nil || dry.Changed {
				t.Errorf("%+v, error %v", dry, err)
			}
			if d, err := detect(t.Context(), w.s, Policy{Retain: 10_000 * time.Hour}, start); err != nil || !d.Due {
				t.Errorf("detected %+v, error %v", d, err)
			}
			clean(t, w.s, Policy{Retain: 10_000 * time.Hour})
			if got := versions(t, w.s); !slices.Equal(got, []uint64{2, 4}) {
				t.Errorf("versions %v", got)
			}
			if b, err := os.ReadFile(filepath.Join(w.s.String(), n.ManifestName(2))); err != nil || string(b) != string(rec.Manifests[1].Content) {
				t.Errorf("the manifest has changed (%v)", err)
			}
			checkFiles(t, w.s)
			checkIdle(t, w.s, everything)
		}
	}
}
