package shell

import (
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// fixture is a copy of a table that Lance wrote.
func fixture(t *testing.T, name string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("..", "..", "..", "..", "testdata", name))); err != nil {
		t.Fatal(err)
	}
	return dir
}

// decoded runs a subcommand with -json and returns its one object.
func decoded[T any](t *testing.T, want int, args ...string) T {
	t.Helper()
	r := run(t, Env{}, append(args, "-json")...)
	if r.status != want {
		t.Fatalf("%v: status %d, want %d\nstdout %s\nstderr %s", args, r.status, want, r.stdout, r.stderr)
	}
	var o T
	if err := json.Unmarshal([]byte(r.stdout), &o); err != nil || strings.Count(r.stdout, "\n") != 1 {
		t.Fatalf("%v: stdout is not one object: %v\n%s", args, err, r.stdout)
	}
	return o
}

// tree is the names and sizes of the files below a directory.
func tree(t *testing.T, dir string) map[string]int64 {
	t.Helper()
	files := make(map[string]int64)
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			files[name] = info.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestInspect(t *testing.T) {
	r := decoded[Report](t, Done, "inspect", fixture(t, "branched"))
	if r.Version != 5 || r.Versions != 5 || r.Rows != 50 || r.Fragments != 5 || r.FileVersion != "2.2" || r.Naming != "V2" || r.StableRowIDs {
		t.Errorf("%+v", r)
	}
	if want := []Tag{{Name: "cut", Version: 3}}; !slices.Equal(r.Tags, want) {
		t.Errorf("tags %+v, want %+v", r.Tags, want)
	}
	if want := []Branch{{Name: "work", ParentVersion: 3}, {Name: "work/more", ParentBranch: "work", ParentVersion: 5}}; !sameBranches(r.Branches, want) {
		t.Errorf("branches %+v, want %+v", r.Branches, want)
	}

	r = decoded[Report](t, Done, "inspect", fixture(t, "indexed"))
	if len(r.Indices) != 1 {
		t.Fatalf("indices %+v", r.Indices)
	}
	i := r.Indices[0]
	if i.Name != "id_idx" || i.Type != "BTree" || !slices.Equal(i.Columns, []string{"id"}) || i.Covered != 4 || i.Bytes == 0 {
		t.Errorf("index %+v", i)
	}

	r = decoded[Report](t, Done, "inspect", fixture(t, "stable_ids"))
	if !r.StableRowIDs || r.ReaderFlags != 3 || r.DeletedRows != 20 || r.Rows != 130 {
		t.Errorf("%+v", r)
	}

	r = decoded[Report](t, Done, "inspect", fixture(t, "types_22"))
	var names []string
	for _, c := range r.Columns {
		names = append(names, c.Name)
	}
	if !slices.Contains(names, "struct.a") || !slices.Contains(names, "lists.item.item") {
		t.Errorf("columns %v", names)
	}
	dir := fixture(t, "many_appends")
	r = decoded[Report](t, Done, "inspect", dir)
	files := tree(t, dir)
	var bytes int64
	for n := range maps.Values(files) {
		bytes += n
	}
	if r.Stored.Files != len(files) || r.Stored.Bytes != bytes {
		t.Errorf("stored %+v, want %d files of %d bytes", r.Stored, len(files), bytes)
	}
}

func sameBranches(a, b []Branch) bool {
	byName := func(x, y Branch) int { return strings.Compare(x.Name, y.Name) }
	return slices.Equal(slices.SortedFunc(slices.Values(a), byName), slices.SortedFunc(slices.Values(b), byName))
}

func TestInspectForPeople(t *testing.T) {
	for name, want := range map[string][]string{
		"branched":   {"version     5, made", "cut  3", "work/more  5 of branch work", "scheme V2"},
		"indexed":    {"id_idx  id       BTree  4 of 5"},
		"configured": {"config      team = search"},
		"detached":   {"versions    2, and 1 detached"},
		"v1_names":   {"scheme V1"},
		"lance_0":    {"by lance 0.39.0", "unknown"},
	} {
		r := run(t, Env{}, "inspect", fixture(t, name))
		for _, w := range want {
			if r.status != Done || !strings.Contains(r.stdout, w) {
				t.Errorf("%s: status %d, %s%s\nwant %q", name, r.status, r.stdout, r.stderr, w)
			}
		}
	}
}

func TestPlanAndCompact(t *testing.T) {
	dir := fixture(t, "many_appends")
	before := tree(t, dir)

	plan := decoded[planObject](t, Done, "plan", dir)
	if len(plan.Tasks) != 1 || len(plan.Tasks[0].Fragments) != 40 || plan.Tasks[0].Reason == "" || plan.Tasks[0].Rows != 1000 || len(plan.Left) != 0 {
		t.Errorf("plan %+v", plan)
	}
	// As many tasks as the target asks for, the shell taking what no form offers.
	if plan := decoded[planObject](t, Done, "plan", "-target_rows_per_fragment", "100", dir); len(plan.Tasks) != 10 {
		t.Errorf("with a target of 100 rows: %d tasks, want 10", len(plan.Tasks))
	}
	plan = decoded[planObject](t, Done, "plan", dir, "-target_rows_per_fragment=1")
	if len(plan.Tasks) != 0 || len(plan.Left) != 40 || plan.Left[0].Reason == "" {
		t.Errorf("with a target of 1 row: %d tasks, %d left", len(plan.Tasks), len(plan.Left))
	}
	plan = decoded[planObject](t, Done, "plan", dir, "-min_fragments=41")
	if len(plan.Tasks) != 0 || len(plan.Left) != 40 || !strings.Contains(plan.Left[0].Reason, "-min_fragments=41") {
		t.Errorf("below the threshold: %+v", plan)
	}
	dry := decoded[compactObject](t, Done, "compact", "-dry-run", dir)
	if dry.Changed || len(dry.Tasks) != 1 {
		t.Errorf("dry run: %+v", dry)
	}
	if o := decoded[compactObject](t, Done, "compact", dir, "-min_fragments=41"); o.Changed {
		t.Errorf("below the threshold: %+v", o)
	}
	if after := tree(t, dir); !maps.Equal(before, after) {
		t.Error("something was written where nothing should be")
	}

	o := decoded[compactObject](t, Done, "compact", dir, "-min_fragments=40")
	if !o.Changed || o.FragmentsRemoved != 40 || o.FragmentsAdded != 1 || o.FilesRemoved != 40 || o.FilesAdded != 1 || o.BytesWritten == 0 || o.Version <= 40 {
		t.Errorf("compact: %+v", o)
	}
	again := decoded[compactObject](t, Done, "compact", dir)
	if again.Changed || again.FragmentsRemoved != 0 || len(again.Left) != 1 {
		t.Errorf("compact again: %+v", again)
	}
	if r := decoded[Report](t, Done, "inspect", dir); r.Fragments != 1 || r.Rows != 1000 || r.Version != o.Version {
		t.Errorf("afterwards: %+v", r)
	}
}

func TestCompactForPeople(t *testing.T) {
	dir := fixture(t, "many_appends")
	for _, c := range []struct{ args, want []string }{
		{[]string{"plan", dir}, []string{"0-39 ", "40 fragments would become 1"}},
		{[]string{"compact", "-dry-run", dir}, []string{"40 fragments would become 1"}},
		{[]string{"compact", dir}, []string{"40 fragments became 1"}},
		{[]string{"compact", dir}, []string{"nothing to do", "left as they are"}},
		{[]string{"plan", dir}, []string{"nothing to merge"}},
	} {
		r := run(t, Env{}, c.args...)
		for _, w := range c.want {
			if r.status != Done || r.stderr != "" || !strings.Contains(r.stdout, w) {
				t.Errorf("%v: status %d, %s%s\nwant %q", c.args, r.status, r.stdout, r.stderr, w)
			}
		}
	}
}

func TestCleanup(t *testing.T) {
	dir := fixture(t, "many_appends")
	before := tree(t, dir)
	args := []string{"cleanup-versions", dir, "-retain_hours=0", "-min_versions_to_keep=2"}

	dry := decoded[cleanupObject](t, Done, append(args, "-dry-run")...)
	if dry.Changed || len(dry.Removed) != 37 || len(dry.Files) < 37 {
		t.Errorf("dry run: %+v", dry)
	}
	if after := tree(t, dir); !maps.Equal(before, after) {
		t.Error("a dry run changed the table")
	}
	o := decoded[cleanupObject](t, Done, args...)
	if !o.Changed || o.OldVersionsRemoved != 37 || o.Versions != 3 || o.BytesRemoved == 0 {
		t.Errorf("cleanup: %+v", o)
	}
	if want := (keptObject{Version: 5}); len(o.Kept) != 1 || o.Kept[0].Version != want.Version || !strings.Contains(o.Kept[0].Reason, "fifth") {
		t.Errorf("kept %+v, want version 5 for its tag", o.Kept)
	}
	for _, f := range dry.Files {
		if _, err := os.Stat(filepath.Join(dir, f.Name)); err == nil || f.Size == 0 || f.Reason == "" {
			t.Errorf("%+v was announced and is still there, or not described", f)
		}
	}
	if again := decoded[cleanupObject](t, Done, args...); again.Changed {
		t.Errorf("cleanup again: %+v", again)
	}
	if r := decoded[Report](t, Done, "inspect", dir); r.Versions != 3 || r.Rows != 1000 {
		t.Errorf("afterwards: %+v", r)
	}
	// The least that may stay is the newest version and what is tagged.
	if o := decoded[cleanupObject](t, Done, "cleanup-versions", dir, "-retain_hours=0", "-min_versions_to_keep=0"); o.Versions != 2 {
		t.Errorf("with nothing to keep: %+v", o)
	}
}

func TestCleanupForPeople(t *testing.T) {
	dir := fixture(t, "many_appends")
	for _, c := range []struct{ args, want []string }{
		{[]string{"cleanup-versions", dir, "-min_versions_to_keep=40", "-retain_hours=0"}, []string{"nothing to remove; 40 versions left"}},
		{[]string{"cleanup-versions", dir, "-retain_hours=0", "-dry-run"}, []string{"would remove 34 versions", "_versions/", "version kept", "fifth"}},
		{[]string{"cleanup-versions", dir, "-retain_hours=0"}, []string{"removed 34 versions", "6 versions left"}},
	} {
		r := run(t, Env{}, c.args...)
		for _, w := range c.want {
			if r.status != Done || r.stderr != "" || !strings.Contains(r.stdout, w) {
				t.Errorf("%v: status %d, %s%s\nwant %q", c.args, r.status, r.stdout, r.stderr, w)
			}
		}
	}
}

func TestRefused(t *testing.T) {
	dir := fixture(t, "many_appends")
	manifests, err := filepath.Glob(filepath.Join(dir, "_versions", "*.manifest"))
	if err != nil || len(manifests) != 40 {
		t.Fatalf("%d manifests, %v", len(manifests), err)
	}
	newest := slices.Min(manifests)
	if err := os.Truncate(newest, 20); err != nil {
		t.Fatal(err)
	}
	before := tree(t, dir)
	for _, command := range []string{"inspect", "plan", "compact", "cleanup-versions"} {
		o := decoded[failure](t, Refused, command, dir)
		if o.Changed || !strings.Contains(o.Error, filepath.Base(newest)) {
			t.Errorf("%s: %+v, want the manifest named", command, o)
		}
		if r := run(t, Env{}, command, dir); r.status != Refused || r.stdout != "" || !strings.Contains(r.stderr, filepath.Base(newest)) {
			t.Errorf("%s: status %d, stdout %q, stderr %q", command, r.status, r.stdout, r.stderr)
		}
	}
	if after := tree(t, dir); !maps.Equal(before, after) {
		t.Error("a refused table was changed")
	}
}

// TestBrokenFragment cuts one data file: the others are merged, and the status
// tells that one was not.
func TestBrokenFragment(t *testing.T) {
	dir := fixture(t, "many_appends")
	files, err := filepath.Glob(filepath.Join(dir, "data", "*.lance"))
	if err != nil || len(files) == 0 {
		t.Fatal(len(files), err)
	}
	if err := os.Truncate(files[0], 100); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"plan", dir}, {"compact", "-dry-run", dir}, {"compact", dir}, {"compact", dir}} {
		r := run(t, Env{}, args...)
		if r.status != Refused || !strings.Contains(r.stderr, filepath.Base(files[0])) {
			t.Errorf("%v: status %d, stderr %q; want status 3 and the file named", args, r.status, r.stderr)
		}
	}
	if r := decoded[Report](t, Done, "inspect", dir); r.Fragments >= 40 || r.Rows != 1000 {
		t.Errorf("afterwards: %+v", r)
	}
}
