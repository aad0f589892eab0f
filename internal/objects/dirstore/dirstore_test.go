package dirstore

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

func publish(t *testing.T, s *Store, name, content string) {
	t.Helper()
	if err := s.Publish(t.Context(), name, []byte(content)); err != nil {
		t.Fatal(err)
	}
}

func text(t *testing.T, s *Store, name string) string {
	t.Helper()
	p, _, err := objects.ReadAll(t.Context(), s, name, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	return string(p)
}

// onDisk is every path below the root, directories with a slash at the end.
func onDisk(t *testing.T, root string) []string {
	t.Helper()
	var paths []string
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || p == root {
			return err
		}
		rel, err := filepath.Rel(root, p)
		if d.IsDir() {
			rel += "/"
		}
		paths = append(paths, filepath.ToSlash(rel))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

func TestNew(t *testing.T) {
	dir := t.TempDir()
	missing := filepath.Join(dir, "a", "b")
	if _, err := New(missing, Options{}); !errors.Is(err, objects.ErrNotFound) {
		t.Errorf("a root that is not there: got %v, want ErrNotFound", err)
	}
	if got := onDisk(t, dir); len(got) != 0 {
		t.Errorf("opening it made %q", got)
	}
	s, err := New(missing, Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	publish(t, s, "x", "1")
	if s.String() != missing {
		t.Errorf("named %q, want %q", s, missing)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	again, err := New(missing, Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if got := text(t, again, "x"); got != "1" {
		t.Errorf("after opening it again: %q", got)
	}
	if _, err := New(filepath.Join(missing, "x"), Options{}); err == nil {
		t.Error("a file as root: no error")
	}
}

func TestTemporaryFile(t *testing.T) {
	s := fresh(t, Options{})
	long := strings.Repeat("l", 255) // the longest name there can be
	for _, base := range []string{"1.manifest", long} {
		w, err := s.Create(t.Context(), "_versions/"+base)
		if err != nil {
			t.Fatal(err)
		}
		es, err := s.List(t.Context(), "_versions", "", 10)
		if err != nil {
			t.Fatal(err)
		}
		// The random part last: nothing may take it for a manifest.
		if len(es) != 1 || !strings.HasPrefix(es[0].Name, ".tmp-"+base[:min(len(base), 200)]+"-") || strings.HasSuffix(es[0].Name, ".manifest") {
			t.Errorf("while writing: %+v", es)
		}
		if _, err := w.Finish(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := s.Delete(t.Context(), "_versions/"+base); err != nil {
			t.Fatal(err)
		}
	}
	if got := onDisk(t, s.path); !slices.Equal(got, []string{"_versions/"}) {
		t.Errorf("left %q", got)
	}
}

// A crash between the object's name and the end of the temporary one leaves
// both. Removing the temporary one later must not hurt.
func TestCrashBetweenNames(t *testing.T) {
	s := fresh(t, Options{})
	publish(t, s, "data/x", "whole")
	temp := filepath.Join(s.path, "data", ".tmp-x-0123")
	if err := os.Link(filepath.Join(s.path, "data", "x"), temp); err != nil {
		t.Skip(err)
	}
	if err := s.Delete(t.Context(), "data/.tmp-x-0123"); err != nil {
		t.Fatal(err)
	}
	if got := text(t, s, "data/x"); got != "whole" {
		t.Errorf("the object holds %q", got)
	}
}

// A network file system repeats a request whose answer was lost, and then
// finds the name taken by us.
func TestLinkAnswerLost(t *testing.T) {
	for _, answer := range []error{fs.ErrExist, syscall.EEXIST, syscall.EIO} {
		s := fresh(t, Options{})
		s.link = func(old, new string) error {
			if err := s.root.Link(old, new); err != nil {
				return err
			}
			return answer
		}
		publish(t, s, "v/1", "ours")
		if err := s.Publish(t.Context(), "v/1", []byte("ours")); !errors.Is(err, objects.ErrExists) {
			t.Errorf("%v: second Publish: %v, want ErrExists", answer, err)
		}
		if got := onDisk(t, s.path); !slices.Equal(got, []string{"v/", "v/1"}) {
			t.Errorf("%v: left %q", answer, got)
		}
	}
}

func TestTemporaryFileRemoved(t *testing.T) {
	s := fresh(t, Options{})
	w, err := s.Create(t.Context(), "_indices/u/x")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(s.path, "_indices")); err != nil {
		t.Fatal(err)
	}
	_, err = w.Finish(t.Context())
	for _, class := range []error{nil, objects.ErrNotFound, objects.ErrExists, objects.ErrUnknown, objects.ErrDenied} {
		if errors.Is(err, class) {
			t.Errorf("Finish without the file: %v", err)
		}
	}
	publish(t, s, "_indices/u/x", "again")
}

func TestPrune(t *testing.T) {
	s := fresh(t, Options{})
	for _, name := range []string{"data/x", "_indices/u/p/a", "_indices/u/b", "top"} {
		publish(t, s, name, "")
	}
	steps := []struct {
		name string
		left []string
	}{
		{"_indices/u/p/a", []string{"_indices/", "_indices/u/", "_indices/u/b", "data/", "data/x", "top"}},
		{"_indices/u/b", []string{"_indices/", "data/", "data/x", "top"}},
		{"data/x", []string{"_indices/", "data/", "top"}}, // the first level stays
		{"top", []string{"_indices/", "data/"}},
	}
	for _, step := range steps {
		if err := s.Delete(t.Context(), step.name); err != nil {
			t.Fatal(err)
		}
		if got := onDisk(t, s.path); !slices.Equal(got, step.left) {
			t.Errorf("after deleting %s: %q, want %q", step.name, got, step.left)
		}
	}
	// What a crash between the file and its directory left goes with the next attempt.
	if err := os.MkdirAll(filepath.Join(s.path, "_indices", "u", "p"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := s.Delete(t.Context(), "_indices/u/p/a"); err != nil {
		t.Fatal(err)
	}
	// A directory is no object, not even an empty one.
	if err := os.MkdirAll(filepath.Join(s.path, "a", "b"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := s.Delete(t.Context(), "a/b"); err != nil {
		t.Fatal(err)
	}
	if got := onDisk(t, s.path); !slices.Equal(got, []string{"_indices/", "a/", "a/b/", "data/"}) {
		t.Errorf("left %q", got)
	}
}

func TestClock(t *testing.T) {
	now := time.Date(2031, 5, 6, 7, 8, 9, 100, time.UTC)
	s := fresh(t, Options{Now: func() time.Time { return now }})
	publish(t, s, "a", "")
	dated := func(name string) time.Time {
		r, err := s.Open(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		return r.Entry().ModTime
	}
	if got := dated("a"); !got.Equal(now) {
		t.Errorf("dated %v, want %v", got, now)
	}
	publish(t, s, "b", "")
	if got := dated("b"); !got.Equal(now.Add(timeStep)) {
		t.Errorf("the next is dated %v, want one step later", got)
	}
	now = now.Add(-time.Hour)
	publish(t, s, "c", "")
	if got := dated("c"); !got.Equal(now) {
		t.Errorf("after the clock was set back: %v, want %v", got, now)
	}
}
