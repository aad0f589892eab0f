package storetest

import (
	"errors"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

func replace(t *testing.T, s objects.Store) {
	var tokens []string
	for _, p := range [][]byte{[]byte("one"), []byte("two"), nil, noise(4, 200_000), []byte("one")} {
		if err := s.Replace(t.Context(), "_maintenance/j", p); err != nil {
			t.Fatal(err)
		}
		tokens = append(tokens, holds(t, s, "_maintenance/j", p).Token)
	}
	distinct(t, tokens)
	put(t, s, "v/1", []byte("published"))
	if err := s.Replace(t.Context(), "v/1", []byte("replaced")); err != nil {
		t.Fatal(err)
	}
	holds(t, s, "v/1", []byte("replaced"))
	if es := entries(t, s, "_maintenance"); len(es) != 1 {
		t.Errorf("Replace left something: %q", names(es))
	}
}

func remove(t *testing.T, s objects.Store) {
	put(t, s, "a/b/c/one", nil)
	put(t, s, "a/b/two", nil)
	for _, name := range []string{"a/b/c/one", "a/b/c/one", "a/b/none", "never/was/here", "nothing"} {
		if err := s.Delete(t.Context(), name); err != nil {
			t.Errorf("Delete(%q): %v", name, err)
		}
		absent(t, s, name)
	}
	holds(t, s, "a/b/two", nil)
	if got := names(entries(t, s, "a/b")); len(got) != 1 {
		t.Errorf("a/b lists %q: a directory exists as long as something lies in it", got)
	}
	// A directory is not an object.
	if err := s.Delete(t.Context(), "a/b"); err != nil && errors.Is(err, objects.ErrUnknown) {
		t.Errorf("Delete of a directory: %v", err)
	}
	holds(t, s, "a/b/two", nil)
	put(t, s, "a/b/c/one", []byte("again"))
	holds(t, s, "a/b/c/one", []byte("again"))
}

// tokens: each object that has had a name has its own, however fast they
// follow each other and however alike they are.
func tokens(t *testing.T, s objects.Store) {
	var made []string
	for i := range 30 {
		switch i % 3 {
		case 0:
			put(t, s, "v/1", []byte("same"))
		case 1:
			stream(t, s, "v/1", []byte("same"))
		case 2:
			if err := s.Replace(t.Context(), "v/1", []byte("same")); err != nil {
				t.Fatal(err)
			}
		}
		e := holds(t, s, "v/1", []byte("same"))
		if again := holds(t, s, "v/1", []byte("same")); again.Token != e.Token {
			t.Errorf("one object, tokens %q and %q", e.Token, again.Token)
		}
		if l := entries(t, s, "v"); len(l) != 1 || l[0].Token != e.Token {
			t.Errorf("listed as %+v, opened with token %q", l, e.Token)
		}
		made = append(made, e.Token)
		if err := s.Delete(t.Context(), "v/1"); err != nil {
			t.Fatal(err)
		}
	}
	distinct(t, made)
}

func distinct(t *testing.T, tokens []string) {
	t.Helper()
	at := map[string]int{}
	for i, token := range tokens {
		if first, twice := at[token]; twice && token != "" {
			t.Errorf("objects %d and %d of one name both have token %q", first, i, token)
		}
		at[token] = i
	}
}
