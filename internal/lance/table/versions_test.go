package table

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
	"github.com/seaweedfs/seaweed-lance/internal/objects/faultstore"
)

// Names that sort before, between and behind those of manifests.
var strangers = []string{
	".tmp-18446744073709551610.manifest-0011223344556677", ".tmp_x", "latest_version_hint.json", "notes.txt",
	"d9223372036854775900.manifest", "18446744073709551000.manifest-0b9a7a33-6c1e-4a35-8a20-6d7a0c1b2a3d",
}

func TestNewest(t *testing.T) {
	many := make([]string, 40)
	for i := range many {
		many[i] = fmt.Sprintf(".tmp-%02d", i)
	}
	for _, n := range []Naming{NamingV1, NamingV2} {
		for _, versions := range [][]uint64{{1}, {1, 2, 3}, {9, 10}, {99, 100, 101}, {5, 1 << 40}} {
			for name, others := range map[string][]string{"alone": nil, "with others": strangers, "behind many": many} {
				t.Run(fmt.Sprint(n, versions, name), func(t *testing.T) {
					s := dirStore(t, t.TempDir())
					for _, v := range versions {
						write(t, s, n.ManifestName(v), fmt.Sprintf("version %d", v))
					}
					for _, o := range others {
						write(t, s, VersionsDir+"/"+o, "x")
					}
					want := versions[len(versions)-1]
					ref, naming, err := Newest(t.Context(), s)
					if err != nil || ref.Version != want || naming != n {
						t.Fatalf("newest %d (%s), error %v", ref.Version, naming, err)
					}
					if ref.Name != n.ManifestName(want) || ref.Size != int64(len(fmt.Sprintf("version %d", want))) || ref.Token == "" || ref.ModTime.IsZero() {
						t.Errorf("newest is %+v", ref)
					}
					l, err := ListVersions(t.Context(), s)
					if err != nil {
						t.Fatal(err)
					}
					if got := numbers(l.Versions); !slices.Equal(got, versions) || l.Naming != n {
						t.Errorf("listed %v (%s)", got, l.Naming)
					}
					detached := 0
					if name == "with others" {
						detached = 1
					}
					if len(l.Detached) != detached || len(l.Other) != len(others)-detached {
						t.Errorf("%d detached, %d others", len(l.Detached), len(l.Other))
					}
					for i, v := range versions {
						above, err := versionsAbove(t.Context(), s, n, v)
						if err != nil || !slices.Equal(numbers(above), versions[i+1:]) {
							t.Errorf("above %d: %v, %v", v, numbers(above), err)
						}
					}
				})
			}
		}
	}
}

func numbers(refs []VersionRef) (v []uint64) {
	for _, r := range refs {
		v = append(v, r.Version)
	}
	return v
}

// With V2 names the newest of any number of versions is one entry away.
func TestNewestIsCheap(t *testing.T) {
	w := newWorld(t, NamingV2, 1)
	for range 50 {
		w.config("x")
	}
	s := faultstore.New(w.s, nil)
	ref, _, err := Newest(t.Context(), s)
	if err != nil || ref.Version != 51 {
		t.Fatal(ref, err)
	}
	if calls := s.Calls(); len(calls) != 1 || calls[0].Size != 1 {
		t.Errorf("it took %v", calls)
	}
	s = faultstore.New(w.s, nil)
	if above, err := versionsAbove(t.Context(), s, NamingV2, 49); err != nil || !slices.Equal(numbers(above), []uint64{50, 51}) {
		t.Error(numbers(above), err)
	}
	if n := s.Count(); n != 1 {
		t.Errorf("two versions above: %d calls", n)
	}
	// More than fit into one answer.
	if above, err := versionsAbove(t.Context(), w.s, NamingV2, 1); err != nil || len(above) != 50 || above[0].Version != 2 {
		t.Error(numbers(above), err)
	}
}

func TestNoTable(t *testing.T) {
	for name, files := range map[string][]string{
		"nothing":           nil,
		"no versions":       {"data/x.lance"},
		"only strangers":    {VersionsDir + "/.tmp-1", VersionsDir + "/latest_version_hint.json"},
		"only detached":     {VersionsDir + "/d9223372036854775900.manifest"},
		"another format":    {"metadata/v1.metadata.json", "data/x.parquet"},
		"a directory there": {VersionsDir + "/1.manifest/x"},
	} {
		s := dirStore(t, t.TempDir())
		for _, f := range files {
			write(t, s, f, "x")
		}
		if _, err := Open(t.Context(), s); !errors.Is(err, ErrNoTable) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func TestBothNamings(t *testing.T) {
	s := dirStore(t, t.TempDir())
	write(t, s, NamingV1.ManifestName(1), "x")
	write(t, s, NamingV2.ManifestName(2), "x")
	if _, err := ListVersions(t.Context(), s); !errors.Is(err, ErrRefused) {
		t.Errorf("error %v", err)
	}
}

// A failed page is an error, never a short list.
func TestListingFails(t *testing.T) {
	boom := errors.New("boom")
	for _, n := range []Naming{NamingV1, NamingV2} {
		w := newWorld(t, n, 1)
		for range 20 {
			w.config("x")
		}
		for name, hook := range map[string]faultstore.Hook{
			"fails":     faultstore.When(faultstore.On(faultstore.Before, faultstore.List, VersionsDir), faultstore.Fail(boom)),
			"is short":  faultstore.When(faultstore.On(faultstore.After, faultstore.List, VersionsDir), faultstore.Short(1, boom)),
			"next page": faultstore.When(faultstore.NextPage(faultstore.Before, VersionsDir), faultstore.Fail(boom)),
		} {
			s := faultstore.New(w.s, hook)
			_, err := versionsAbove(t.Context(), s, n, 1)
			if n == NamingV1 && name == "next page" {
				continue // one page holds them all
			}
			if !errors.Is(err, boom) {
				t.Errorf("%s, %s: above: error %v", n, name, err)
			}
			if name == "next page" {
				continue
			}
			if _, err := Open(t.Context(), s); !errors.Is(err, boom) {
				t.Errorf("%s, %s: open: error %v", n, name, err)
			}
			if _, err := ListVersions(t.Context(), s); !errors.Is(err, boom) {
				t.Errorf("%s, %s: list: error %v", n, name, err)
			}
		}
	}
}

// The newest version may be cleaned away between finding and reading it, but
// only when there is a newer one.
func TestOpenWhileCleaned(t *testing.T) {
	for _, n := range []Naming{NamingV1, NamingV2} {
		w := newWorld(t, n, 1)
		hook := func(c faultstore.Call) faultstore.Action {
			if c.Op == faultstore.Open && c.Phase == faultstore.Before && w.head().Version() < 4 {
				w.config("x")
				w.drop(w.head().Version() - 1)
			}
			return faultstore.Pass
		}
		got, err := Open(t.Context(), faultstore.New(w.s, hook))
		if err != nil || got.Version() != 4 {
			t.Errorf("%s: opened %v, error %v", n, got, err)
		}
	}
	w := newWorld(t, NamingV2, 1)
	gone := faultstore.New(w.s, faultstore.When(faultstore.On(faultstore.Before, faultstore.Open, ""), faultstore.Fail(objects.ErrNotFound)))
	if _, err := Open(t.Context(), gone); !errors.Is(err, objects.ErrNotFound) {
		t.Errorf("a manifest that is never there: error %v", err)
	}
	if n := gone.Count(); n > 20 {
		t.Errorf("a manifest that is never there: %d calls", n)
	}
}

func TestOpenVersion(t *testing.T) {
	w := newWorld(t, NamingV2, 1)
	w.config("x")
	got, err := OpenVersion(t.Context(), w.s, NamingV2, 1)
	if err != nil || got.Version() != 1 {
		t.Errorf("version %v, error %v", got, err)
	}
	if _, err := OpenVersion(t.Context(), w.s, NamingV2, 3); !errors.Is(err, objects.ErrNotFound) {
		t.Errorf("error %v", err)
	}
	write(t, w.s, NamingV2.ManifestName(3), "")
	_, err = Open(t.Context(), w.s)
	if !errors.Is(err, ErrCorrupt) {
		t.Errorf("a manifest of no bytes: error %v", err)
	}
	says(t, err, NamingV2.ManifestName(3))
}

func TestHint(t *testing.T) {
	tests := []struct {
		name, before, after string
		raise               uint64
	}{
		{"raised", `{"version":3}`, `{"version":7}`, 7},
		{"as high", `{"version":7}`, `{"version":7}`, 7},
		{"higher", `{"version":9}`, `{"version":9}`, 7},
		{"not JSON", `hello`, `{"version":7}`, 7},
		{"another shape", `[1]`, `{"version":7}`, 7},
		{"empty", ``, `{"version":7}`, 7},
	}
	for _, tt := range tests {
		s := dirStore(t, t.TempDir())
		write(t, s, HintName, tt.before)
		if err := FixHint(t.Context(), s, tt.raise); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		if got := string(read(t, s, HintName)); got != tt.after {
			t.Errorf("%s: hint %s, want %s", tt.name, got, tt.after)
		}
	}
	s := dirStore(t, t.TempDir())
	if err := FixHint(t.Context(), s, 3); err != nil {
		t.Error(err)
	}
	if n := names(t, s, VersionsDir); len(n) != 0 {
		t.Errorf("a table without a hint got one: %v", n)
	}
	write(t, s, HintName, `{"version":1}`)
	boom := errors.New("boom")
	for _, op := range []faultstore.Op{faultstore.Open, faultstore.Read, faultstore.Replace} {
		bad := faultstore.New(s, faultstore.When(faultstore.On(faultstore.Before, op, HintName), faultstore.Fail(boom)))
		if err := FixHint(t.Context(), bad, 3); !errors.Is(err, boom) {
			t.Errorf("%s fails: error %v", op, err)
		}
	}
}

// A commit brings a hint up to date that is there, and does not fail for it.
func TestCommitWritesHint(t *testing.T) {
	w := newWorld(t, NamingV2, 1)
	if _, err := committer(nil).Commit(context.Background(), w.head(), reserve(1)); err != nil {
		t.Fatal(err)
	}
	if slices.Contains(names(t, w.s, VersionsDir), "latest_version_hint.json") {
		t.Error("a table without a hint got one")
	}
	write(t, w.s, HintName, `{"version":1}`)
	if _, err := committer(nil).Commit(context.Background(), w.head(), reserve(1)); err != nil {
		t.Fatal(err)
	}
	if got := string(read(t, w.s, HintName)); got != `{"version":3}` {
		t.Errorf("hint %s", got)
	}
	s := faultstore.New(w.s, faultstore.When(faultstore.On(faultstore.Before, faultstore.Replace, ""), faultstore.Fail(errors.New("no"))))
	if got, err := committer(nil).Commit(context.Background(), open(t, s), reserve(1)); err != nil || got.Version() != 4 {
		t.Errorf("version %v, error %v", got, err)
	}
}

func open(tb testing.TB, s objects.Store) *Table {
	tb.Helper()
	t, err := Open(context.Background(), s)
	if err != nil {
		tb.Fatal(err)
	}
	return t
}
