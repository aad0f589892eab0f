//go:build unix

package dirstore

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

func symlink(t *testing.T, target, link string) {
	t.Helper()
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
}

// A link that leads out of the root is refused by everything, and what it
// leads to is not touched.
func TestLinkOutside(t *testing.T) {
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "precious"), []byte("1"), 0o666); err != nil {
		t.Fatal(err)
	}
	s := fresh(t, Options{})
	symlink(t, outside, filepath.Join(s.path, "data"))
	symlink(t, filepath.Join(outside, "precious"), filepath.Join(s.path, "file"))
	symlink(t, "../..", filepath.Join(s.path, "up"))
	ctx := t.Context()
	for what, call := range map[string]func() error{
		"Open":         func() error { _, err := s.Open(ctx, "data/precious"); return err },
		"Open a link":  func() error { _, err := s.Open(ctx, "file"); return err },
		"Create":       func() error { _, err := s.Create(ctx, "data/new"); return err },
		"Publish":      func() error { return s.Publish(ctx, "data/new", nil) },
		"Publish deep": func() error { return s.Publish(ctx, "data/a/b", nil) },
		"Replace":      func() error { return s.Replace(ctx, "data/precious", nil) },
		"Delete":       func() error { return s.Delete(ctx, "data/precious") },
		"Delete up":    func() error { return s.Delete(ctx, "up/x") },
		"List":         func() error { _, err := s.List(ctx, "data", "", 10); return err },
		"List up":      func() error { _, err := s.List(ctx, "up", "", 10); return err },
	} {
		if err := call(); !errors.Is(err, objects.ErrDenied) {
			t.Errorf("%s: got %v, want ErrDenied", what, err)
		}
	}
	// The links themselves are there, as something that is not a directory.
	es, err := s.List(ctx, "", "", 10)
	if err != nil || len(es) != 3 || es[0].Dir || es[1].Dir || es[2].Dir {
		t.Errorf("root lists %+v, %v", es, err)
	}
	if err := s.Publish(ctx, "file", nil); !errors.Is(err, objects.ErrExists) {
		t.Errorf("Publish over a link: %v, want ErrExists", err)
	}
	if err := s.Replace(ctx, "file", []byte("own")); err != nil { // the link, not what it leads to
		t.Error(err)
	}
	for _, link := range []string{"data", "up"} {
		if err := s.Delete(ctx, link); err != nil {
			t.Error(err)
		}
	}
	if got := onDisk(t, s.path); !slices.Equal(got, []string{"file"}) {
		t.Errorf("left inside: %q", got)
	}
	p, err := os.ReadFile(filepath.Join(outside, "precious"))
	if got := onDisk(t, outside); err != nil || string(p) != "1" || !slices.Equal(got, []string{"precious"}) {
		t.Errorf("outside: %q, holding %q, %v", got, p, err)
	}
}

func TestLinkInside(t *testing.T) {
	s := fresh(t, Options{})
	publish(t, s, "store/d/x", "content")
	symlink(t, "store", filepath.Join(s.path, "data"))
	symlink(t, "../store/d/x", filepath.Join(s.path, "store", "y"))
	symlink(t, "nowhere", filepath.Join(s.path, "store", "z"))
	if got := text(t, s, "data/d/x"); got != "content" {
		t.Errorf("through a link: %q", got)
	}
	es, err := s.List(t.Context(), "data", "", 10)
	if err != nil || len(es) != 3 || !es[0].Dir || es[1].Size != 7 || es[2].Dir {
		t.Fatalf("listed %+v, %v", es, err)
	}
	r, err := s.Open(t.Context(), "data/y")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if r.Entry().Token != es[1].Token {
		t.Errorf("a link's token: listed %q, opened %q", es[1].Token, r.Entry().Token)
	}
	if _, err := s.Open(t.Context(), "data/z"); !errors.Is(err, objects.ErrNotFound) {
		t.Errorf("a link to nowhere: %v, want ErrNotFound", err)
	}
	// Through the link's name: the directory behind it goes when it is empty, the link never.
	symlink(t, "../store/d", filepath.Join(s.path, "store", "e"))
	if err := s.Delete(t.Context(), "store/e/x"); err != nil {
		t.Fatal(err)
	}
	if got := onDisk(t, s.path); !slices.Equal(got, []string{"data", "store/", "store/d/", "store/e", "store/y", "store/z"}) {
		t.Errorf("left %q", got)
	}
}

func TestNotAFile(t *testing.T) {
	s := fresh(t, Options{})
	publish(t, s, "f", "1")
	if err := syscall.Mkfifo(filepath.Join(s.path, "pipe"), 0o666); err != nil {
		t.Skip(err)
	}
	if _, err := s.Open(t.Context(), "pipe"); err == nil || errors.Is(err, objects.ErrNotFound) {
		t.Errorf("a named pipe: %v, want an error of its own", err)
	}
	if _, err := s.Open(t.Context(), "f/x"); !errors.Is(err, objects.ErrNotFound) {
		t.Errorf("below a file: %v, want ErrNotFound", err)
	}
	if es, err := s.List(t.Context(), "f", "", 10); err != nil || len(es) != 0 {
		t.Errorf("a file as a directory: %v, %v", es, err)
	}
	if err := s.Delete(t.Context(), "f/x"); err != nil {
		t.Errorf("deleting below a file: %v", err)
	}
	if err := s.Publish(t.Context(), "f/x", nil); err == nil {
		t.Error("creating below a file: no error")
	}
}

func TestDenied(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("permissions do not stop root")
	}
	s := fresh(t, Options{})
	publish(t, s, "d/x", "1")
	publish(t, s, "d/sub/y", "1")
	dir := filepath.Join(s.path, "d")
	ctx := t.Context()
	deny := func(path string, mode os.FileMode, calls map[string]func() error) {
		t.Helper()
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		defer os.Chmod(path, 0o755)
		for what, call := range calls {
			if err := call(); !errors.Is(err, objects.ErrDenied) {
				t.Errorf("%s: got %v, want ErrDenied", what, err)
			}
		}
	}
	deny(filepath.Join(dir, "x"), 0, map[string]func() error{
		"Open": func() error { _, err := s.Open(ctx, "d/x"); return err },
	})
	deny(dir, 0o555, map[string]func() error{
		"Create":  func() error { _, err := s.Create(ctx, "d/new"); return err },
		"Publish": func() error { return s.Publish(ctx, "d/new", nil) },
		"Replace": func() error { return s.Replace(ctx, "d/x", nil) },
		"Delete":  func() error { return s.Delete(ctx, "d/x") },
	})
	deny(dir, 0, map[string]func() error{
		"List":     func() error { _, err := s.List(ctx, "d", "", 1); return err },
		"List sub": func() error { _, err := s.List(ctx, "d/sub", "", 1); return err },
		"Open":     func() error { _, err := s.Open(ctx, "d/x"); return err },
	})
}

func TestErrorClasses(t *testing.T) {
	for _, c := range []struct {
		cause error
		class error
	}{
		{syscall.EACCES, objects.ErrDenied},
		{syscall.EPERM, objects.ErrDenied},
		{syscall.EROFS, objects.ErrDenied},
		{errors.New("path escapes from parent"), objects.ErrDenied},
		{syscall.EIO, objects.ErrUnknown},
		{syscall.ETIMEDOUT, objects.ErrUnknown},
		{syscall.ESTALE, objects.ErrUnknown},
		{syscall.ENOSPC, nil},
		{syscall.EMFILE, nil},
		{fs.ErrClosed, nil},
	} {
		err := change("creating", "x", &fs.PathError{Op: "openat", Path: "x", Err: c.cause})
		if !errors.Is(err, c.cause) {
			t.Errorf("%v lost its cause", err)
		}
		for _, class := range []error{objects.ErrDenied, objects.ErrUnknown, objects.ErrNotFound, objects.ErrExists} {
			if errors.Is(err, class) != (class == c.class) {
				t.Errorf("%v: is %v = %v", err, class, errors.Is(err, class))
			}
		}
	}
}
