package table

import (
	"errors"
	"slices"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
	"github.com/seaweedfs/seaweed-lance/internal/objects/faultstore"
)

func TestTags(t *testing.T) {
	s := dirStore(t, t.TempDir())
	if tags, err := Tags(t.Context(), s); err != nil || len(tags) != 0 {
		t.Errorf("no directory: %v, error %v", tags, err)
	}
	for name, content := range map[string]string{
		"a.json":         `{"branch":null,"version":3,"createdAt":"2026-01-02T03:04:05Z","manifestSize":900,"metadata":{}}`,
		"b.json":         `{"version":18446744073709551615}`,
		"on-branch.json": `{"branch":"x/y","version":4}`,
		"on-main.json":   `{"branch":"main","version":5}`,
		"v1.0.json":      `{"version":6}`,
		"readme.txt":     `not a tag`,
		".tmp-c.json-12": `not yet a tag`,
	} {
		write(t, s, TagsDir+"/"+name, content)
	}
	write(t, s, TagsDir+"/dir.json/x", "a directory")
	got, err := Tags(t.Context(), s)
	want := []Tag{{"a", "", 3}, {"b", "", 1<<64 - 1}, {"on-branch", "x/y", 4}, {"on-main", "", 5}, {"v1.0", "", 6}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, error %v", got, err)
	}
}

func TestBranches(t *testing.T) {
	s := dirStore(t, t.TempDir())
	if branches, err := Branches(t.Context(), s); err != nil || len(branches) != 0 {
		t.Errorf("no directory: %v, error %v", branches, err)
	}
	for name, content := range map[string]string{
		"dev.json":        `{"parentBranch":null,"parentVersion":3,"createAt":1,"manifestSize":900}`,
		"team%2Fdev.json": `{"parentBranch":"main","parentVersion":4}`,
		"a%2Fb%2Fc.json":  `{"parentBranch":"team/dev","parentVersion":5}`,
		"100%25.json":     `{"parentVersion":6}`,
		"plus+sign.json":  `{"parentVersion":7}`,
		"something.else":  `not a branch`,
	} {
		write(t, s, BranchesDir+"/"+name, content)
	}
	got, err := Branches(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	want := []Branch{{"100%", "", 6}, {"a/b/c", "team/dev", 5}, {"dev", "", 3}, {"plus+sign", "", 7}, {"team/dev", "", 4}}
	if !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
	if dir := got[1].Dir(); dir != "tree/a/b/c" {
		t.Errorf("directory %s", dir)
	}
}

// A reference that can't be read protects something that is not known.
func TestBrokenRefs(t *testing.T) {
	for _, content := range []string{"", "{", "[]", `"x"`, "null", "{}", `{"version":-1,"parentVersion":-1}`, `{"version":"3","parentVersion":"3"}`,
		`{"version":1.5,"parentVersion":1.5}`, `{"version":null,"parentVersion":null}`, `{"version":3,"branch":4,"parentVersion":3,"parentBranch":4}`} {
		s := dirStore(t, t.TempDir())
		write(t, s, TagsDir+"/good.json", `{"version":1}`)
		write(t, s, TagsDir+"/odd.json", content)
		_, err := Tags(t.Context(), s)
		if !errors.Is(err, ErrCorrupt) {
			t.Errorf("tag %s: error %v", content, err)
		}
		says(t, err, TagsDir+"/odd.json")
		write(t, s, BranchesDir+"/odd.json", content)
		_, err = Branches(t.Context(), s)
		if !errors.Is(err, ErrCorrupt) {
			t.Errorf("branch %s: error %v", content, err)
		}
		says(t, err, BranchesDir+"/odd.json")
	}
	for _, name := range []string{"%2F.json", "..%2F..%2Fx.json", "a%2F%2Fb.json", "a%zz.json", "%00.json", ".json"} {
		s := dirStore(t, t.TempDir())
		write(t, s, BranchesDir+"/"+name, `{"parentVersion":1}`)
		_, err := Branches(t.Context(), s)
		if !errors.Is(err, ErrCorrupt) {
			t.Errorf("branch file %s: error %v", name, err)
		}
		says(t, err, name)
	}
}

func TestRefsStoreFails(t *testing.T) {
	s := dirStore(t, t.TempDir())
	for _, name := range []string{"a", "b", "c"} {
		write(t, s, TagsDir+"/"+name+".json", `{"version":1}`)
		write(t, s, BranchesDir+"/"+name+".json", `{"parentVersion":1}`)
	}
	both := func(s objects.Store) error {
		_, e1 := Tags(t.Context(), s)
		_, e2 := Branches(t.Context(), s)
		if (e1 == nil) != (e2 == nil) {
			t.Errorf("tags: %v, branches: %v", e1, e2)
		}
		return errors.Join(e1, e2)
	}
	boom := errors.New("boom")
	for _, op := range []faultstore.Op{faultstore.List, faultstore.Open, faultstore.Read} {
		if err := both(faultstore.New(s, faultstore.When(faultstore.On(faultstore.Before, op, ""), faultstore.Fail(boom)))); !errors.Is(err, boom) {
			t.Errorf("%s fails: error %v", op, err)
		}
	}
	short := faultstore.When(faultstore.On(faultstore.After, faultstore.List, ""), faultstore.Short(1, boom))
	if err := both(faultstore.New(s, short)); !errors.Is(err, boom) {
		t.Errorf("a listing is cut off: error %v", err)
	}
	// One that is deleted between listing and reading is gone, and that is all right.
	gone := faultstore.When(faultstore.On(faultstore.Before, faultstore.Open, TagsDir+"/b"), faultstore.Fail(objects.ErrNotFound))
	if tags, err := Tags(t.Context(), faultstore.New(s, gone)); err != nil || len(tags) != 2 {
		t.Errorf("%v, error %v", tags, err)
	}
}

// What real Lance wrote.
func TestRefsOfFixtures(t *testing.T) {
	var tags, branches, nested int
	for _, f := range fixtures(t) {
		s := f.store(t)
		l, err := ListVersions(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		ts, err := Tags(t.Context(), s)
		if err != nil {
			t.Errorf("%s: %v", f.name, err)
		}
		for _, x := range ts {
			tags++
			if x.Branch == "" && !slices.Contains(numbers(l.Versions), x.Version) {
				t.Errorf("%s: tag %q names version %d, which is not there", f.name, x.Name, x.Version)
			}
		}
		bs, err := Branches(t.Context(), s)
		if err != nil {
			t.Errorf("%s: %v", f.name, err)
		}
		for _, b := range bs {
			branches++
			if b.ParentBranch != "" {
				nested++
			}
			tab, err := Open(t.Context(), objects.Sub(s, b.Dir()))
			if err != nil || tab.Manifest().GetBranch() != b.Name || tab.Version() < b.ParentVersion {
				t.Errorf("%s, branch %q: %v", f.name, b.Name, err)
			}
		}
	}
	if tags == 0 || branches == 0 {
		t.Errorf("testdata has %d tags and %d branches, %d of them of branches", tags, branches, nested)
	}
}
