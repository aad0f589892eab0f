package storetest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// oddNames: characters that mean something to shells, URLs or patterns.
func oddNames(t *testing.T, s objects.Store) {
	odd := []string{
		"a b", "a+b", "a%2Fb", "a%20b", "a#b", "a&b=c", "a;b", "a@b", "a~", "[a]", "{a}", "$a", "'a'", "a,b",
		"...", "..a", "a..b", "ü", "日本", "\U0001F600", strings.Repeat("n", 200),
	}
	for i, name := range odd {
		put(t, s, "d/"+name+"/"+name, noise(uint64(i), 10))
		put(t, s, name, noise(uint64(i), 20))
	}
	slices.Sort(odd)
	for _, dir := range []string{"d", ""} {
		got := slices.DeleteFunc(names(entries(t, s, dir)), func(n string) bool { return dir == "" && n == "d" })
		if !slices.Equal(got, odd) {
			t.Errorf("%q lists\n%q, want\n%q", dir, got, odd)
		}
	}
	for _, name := range odd {
		if p, _ := content(t, s, "d/"+name+"/"+name); len(p) != 10 {
			t.Errorf("d/%s/%s holds %d bytes", name, name, len(p))
		}
		if err := s.Delete(t.Context(), name); err != nil {
			t.Errorf("Delete(%q): %v", name, err)
		}
		absent(t, s, name)
	}
}

// escapingNames: such a name is an error of its own, not an object that isn't there.
func escapingNames(t *testing.T, s objects.Store) {
	put(t, s, "a/b", []byte("kept"))
	for _, name := range []string{
		"", "/", "/a", "a/", "a//b", ".", "..", "./a", "../a", "a/..", "a/../../x", "a/./b", "a\\b", "..\\a", "a\x00b", "/etc/passwd",
	} {
		calls := map[string]func() error{
			"Open": func() error { return opened(t, s, name) },
			"Create": func() error {
				w, err := s.Create(t.Context(), name)
				if err == nil {
					w.Abort()
				}
				return err
			},
			"Publish": func() error { return s.Publish(t.Context(), name, nil) },
			"Replace": func() error { return s.Replace(t.Context(), name, nil) },
			"Delete":  func() error { return s.Delete(t.Context(), name) },
		}
		if name != "" { // which is the root
			calls["List"] = func() error {
				_, err := s.List(t.Context(), name, "", 1)
				return err
			}
		}
		for what, call := range calls {
			err := call()
			if err == nil || errors.Is(err, objects.ErrNotFound) || errors.Is(err, objects.ErrExists) || errors.Is(err, objects.ErrUnknown) {
				t.Errorf("%s(%q): got %v, want an error about the name", what, name, err)
			}
		}
	}
	holds(t, s, "a/b", []byte("kept"))
	if got := names(entries(t, s, "")); !slices.Equal(got, []string{"a"}) {
		t.Errorf("the root lists %q", got)
	}
}

func notFound(t *testing.T, s objects.Store) {
	put(t, s, "a/b/c", nil)
	for _, name := range []string{"x", "a/x", "a/b/x", "x/y/z", "a", "a/b"} {
		wantErr(t, "Open("+name+")", opened(t, s, name), objects.ErrNotFound)
	}
}

// cancelled: no method goes on under a context that has ended, and what such
// a call was to make is not there, unless it says that it may be.
func cancelled(t *testing.T, s objects.Store) {
	put(t, s, "d/x", []byte("kept"))
	r, err := s.Open(t.Context(), "d/x")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	w, err := s.Create(t.Context(), "d/w")
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		what, made string
		call       func() error
	}{
		{"Open", "", func() error { _, err := s.Open(ctx, "d/x"); return err }},
		{"ReadAt", "", func() error { return r.ReadAt(ctx, make([]byte, 4), 0) }},
		{"List", "", func() error { _, err := s.List(ctx, "d", "", 10); return err }},
		{"Create", "d/c", func() error {
			w, err := s.Create(ctx, "d/c")
			if err == nil { // then it is for Finish to notice
				_, err = w.Finish(ctx)
			}
			return err
		}},
		{"Publish", "d/p", func() error { return s.Publish(ctx, "d/p", nil) }},
		{"Replace", "d/r", func() error { return s.Replace(ctx, "d/r", nil) }},
		{"CopyRange", "", func() error { return objects.CopyRange(ctx, w, r, 0, 4, nil) }},
		{"Finish", "d/w", func() error { _, err := w.Finish(ctx); return err }},
		{"Delete", "", func() error { return s.Delete(ctx, "d/x") }},
	} {
		err := c.call()
		if err == nil {
			t.Errorf("%s: no error", c.what)
		}
		if errors.Is(err, objects.ErrUnknown) {
			continue
		}
		if c.made != "" {
			absent(t, s, c.made)
		}
		if c.what == "Delete" {
			holds(t, s, "d/x", []byte("kept"))
		}
	}
}
