package dirstore

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// calls are all those of a store, each with what it returns.
func calls(t *testing.T, s objects.Store) map[string]error {
	_, open := s.Open(t.Context(), "a")
	_, create := s.Create(t.Context(), "b")
	_, list := s.List(t.Context(), "", "", 10)
	return map[string]error{"open": open, "create": create, "list": list,
		"publish": s.Publish(t.Context(), "c", nil), "replace": s.Replace(t.Context(), "a", nil)}
}

// What is at the path is another directory, or none: nothing of it is read or changed.
func TestReleasedAndGone(t *testing.T) {
	for what, put := range map[string]func(dir string) error{
		"nothing": func(string) error { return nil },
		"another": func(dir string) error { return os.Mkdir(dir, 0o777) },
		"a file":  func(dir string) error { return os.WriteFile(dir, nil, 0o666) },
		"a file on the way": func(dir string) error {
			up := filepath.Dir(dir)
			return errors.Join(os.Rename(up, up+".old"), os.WriteFile(up, nil, 0o666))
		},
		"a link to another":   func(dir string) error { return os.Symlink(t.TempDir(), dir) },
		"a link that is open": func(dir string) error { return os.Symlink(dir+".none", dir) },
	} {
		t.Run(what, func(t *testing.T) {
			up := filepath.Join(t.TempDir(), "up")
			dir := filepath.Join(up, "table")
			s := onDemand(t, dir, Options{NoSync: true, Create: true})
			if err := s.Publish(t.Context(), "a", []byte("1")); err != nil {
				t.Fatal(err)
			}
			s.Release()
			if err := os.Rename(dir, dir+".old"); err != nil {
				t.Fatal(err)
			}
			if err := put(dir); err != nil {
				t.Fatal(err)
			}
			if what == "another" {
				if err := os.WriteFile(filepath.Join(dir, "a"), []byte("2"), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			for call, err := range calls(t, s) {
				if !errors.Is(err, objects.ErrNotFound) || !strings.Contains(err.Error(), dir) {
					t.Errorf("%s: error %v", call, err)
				}
			}
			if err := s.Delete(t.Context(), "a"); err != nil {
				t.Error(err)
			}
			if !s.Moved() || s.open() {
				t.Errorf("moved %v, open %v", s.Moved(), s.open())
			}
			if what == "another" {
				if b, err := os.ReadFile(filepath.Join(dir, "a")); err != nil || string(b) != "2" {
					t.Errorf("%q, %v", b, err)
				}
			}
			// The very directory comes back.
			if what == "a file on the way" {
				if err := errors.Join(os.Remove(up), os.Rename(up+".old", up)); err != nil {
					t.Fatal(err)
				}
			}
			if err := errors.Join(os.RemoveAll(dir), os.Rename(dir+".old", dir)); err != nil {
				t.Fatal(err)
			}
			if b, _, err := objects.ReadAll(t.Context(), s, "a", 10); err != nil || string(b) != "1" || s.Moved() {
				t.Errorf("%q, %v, moved %v", b, err, s.Moved())
			}
		})
	}
}

// A directory that gets the inode of the one before it is another one where birth times are known.
func TestReleasedAndMadeAnew(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "table")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	first := onDemand(t, dir, Options{NoSync: true})
	first.Release()
	if !strings.Contains(first.id.id, "+") {
		t.Skip("no birth times here")
	}
	for range 20 {
		if err := errors.Join(os.Remove(dir), os.Mkdir(dir, 0o777)); err != nil {
			t.Fatal(err)
		}
		next := onDemand(t, dir, Options{NoSync: true})
		next.Release()
		if next.id.id == first.id.id {
			continue // in the same tick of the clock: nothing tells them apart
		}
		if _, err := first.List(t.Context(), "", "", 1); !errors.Is(err, objects.ErrNotFound) {
			t.Fatalf("error %v", err)
		}
		if _, err := next.List(t.Context(), "", "", 1); err != nil {
			t.Fatal(err)
		}
	}
}

// A directory that was not let go of is read wherever it is.
func TestKeptAndMoved(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "table")
	s := onDemand(t, dir, Options{NoSync: true, Create: true})
	if err := errors.Join(s.Publish(t.Context(), "a", []byte("1")), os.Rename(dir, dir+".old")); err != nil {
		t.Fatal(err)
	}
	if b, _, err := objects.ReadAll(t.Context(), s, "a", 10); err != nil || string(b) != "1" || !s.Moved() {
		t.Errorf("%q, %v, moved %v", b, err, s.Moved())
	}
	s.Release()
	if _, err := s.Open(t.Context(), "a"); !errors.Is(err, objects.ErrNotFound) {
		t.Errorf("error %v", err)
	}
	if _, err := NewOnDemand(dir, Options{}); !errors.Is(err, objects.ErrNotFound) {
		t.Errorf("error %v", err)
	}
}
