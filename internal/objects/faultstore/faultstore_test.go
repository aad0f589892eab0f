package faultstore_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
	"github.com/seaweedfs/seaweed-lance/internal/objects/dirstore"
	"github.com/seaweedfs/seaweed-lance/internal/objects/faultstore"
)

func inner(t *testing.T) *dirstore.Store {
	t.Helper()
	s, err := dirstore.New(t.TempDir(), dirstore.Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// state is what a store holds: name=content of all objects in d.
func state(t *testing.T, s objects.Store) string {
	t.Helper()
	var all []string
	err := objects.All(context.Background(), s, "d", func(e objects.Entry) error {
		if strings.HasPrefix(e.Name, ".tmp") {
			all = append(all, ".tmp")
			return nil
		}
		p, _, err := objects.ReadAll(context.Background(), s, "d/"+e.Name, 1<<20)
		all = append(all, e.Name+"="+string(p))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(all, " ")
}

func seed(t *testing.T, s objects.Store, name, content string) {
	t.Helper()
	if err := s.Publish(t.Context(), name, []byte(content)); err != nil {
		t.Fatal(err)
	}
}

func TestDead(t *testing.T) {
	in := inner(t)
	seed(t, in, "d/old", "0")
	s := faultstore.New(in, nil)
	ctx := t.Context()
	r, err := s.Open(ctx, "d/old")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	w, err := s.Create(ctx, "d/new")
	if err != nil {
		t.Fatal(err)
	}
	before := s.Count()
	s.Kill()
	if !s.Dead() {
		t.Error("not dead")
	}
	for what, call := range map[string]func() error{
		"Open":    func() error { _, err := s.Open(ctx, "d/old"); return err },
		"Create":  func() error { _, err := s.Create(ctx, "d/x"); return err },
		"Publish": func() error { return s.Publish(ctx, "d/x", nil) },
		"Replace": func() error { return s.Replace(ctx, "d/x", nil) },
		"Delete":  func() error { return s.Delete(ctx, "d/old") },
		"List":    func() error { _, err := s.List(ctx, "d", "", 1); return err },
		"ReadAt":  func() error { return r.ReadAt(ctx, make([]byte, 1), 0) },
		"Finish":  func() error { _, err := w.Finish(ctx); return err },
	} {
		if err := call(); !errors.Is(err, faultstore.ErrDead) {
			t.Errorf("%s: got %v, want ErrDead", what, err)
		}
	}
	w.Abort()
	if got := state(t, in); got != ".tmp old=0" {
		t.Errorf("the inner store holds %q", got)
	}
	if got := s.Count(); got != before {
		t.Errorf("a dead process made %d calls", got-before)
	}
}

func TestCalls(t *testing.T) {
	in := inner(t)
	seed(t, in, "d/old", "0")
	var hooked bytes.Buffer
	s := faultstore.New(in, func(c faultstore.Call) faultstore.Action {
		if c.Phase == faultstore.After && c.Err != nil {
			fmt.Fprintln(&hooked, c, errors.Is(c.Err, objects.ErrNotFound))
		}
		return faultstore.Pass
	})
	if err := run(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	if err := s.Replace(t.Context(), "h", []byte("123")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Open(t.Context(), "none"); !errors.Is(err, objects.ErrNotFound) {
		t.Error(err)
	}
	w, err := s.Create(t.Context(), "d/a")
	if err != nil {
		t.Fatal(err)
	}
	w.Abort()
	w.Abort()
	var log []string
	for _, c := range s.Calls() {
		log = append(log, fmt.Sprintf("%s %s %d", c.Op, c.Name, c.Size))
	}
	want := []string{
		"list d 10", "open d/old 0", "create d/new 0", "write d/new 1", "copy d/new 1", "finish d/new 0", "delete d/old 0",
		"replace h 3", "open none 0", "create d/a 0", "abort d/a 0",
	}
	if !slices.Equal(log, want) {
		t.Errorf("calls\n%q, want\n%q", log, want)
	}
	if s.Count() != len(want) || s.Count(faultstore.Open, faultstore.Create) != 4 {
		t.Errorf("counts %d, %d", s.Count(), s.Count(faultstore.Open, faultstore.Create))
	}
	if got := hooked.String(); got != "#8 after open none true\n" {
		t.Errorf("hook saw %q", got)
	}
}
