package session

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/objects/faultstore"
)

// A table that is not kept open any more is read from its very directory, or is gone.
func TestEvictedAndReplaced(t *testing.T) {
	root, at, _ := tables(t, 4)
	s := newSession(t, Options{Tables: 1})
	var held []*Table
	for _, l := range at {
		held = append(held, open(t, s, l))
	}
	path := func(i int) string { return filepath.Join(root, fmt.Sprint(i)) }
	err := errors.Join(os.Rename(path(0), path(0)+".old"), os.Rename(path(1), path(0)), os.RemoveAll(path(2)))
	if err != nil {
		t.Fatal(err)
	}
	for i, tab := range held[:3] {
		if _, err := text(t.Context(), tab); !errors.Is(err, ErrGone) {
			t.Errorf("table %d: error %v", i, err)
		}
	}
	textOf(t, open(t, s, at[0]))
	// Where it was again, it is the one that was opened.
	if err := os.Rename(path(0), path(1)); err != nil {
		t.Fatal(err)
	}
	textOf(t, held[1])
}

// The place is let go of, and its directory replaced, while it is looked at: what is there then
// is found.
func TestEvictedUnderALook(t *testing.T) {
	w := newWorld(t)
	s := newSession(t, Options{Tables: 1})
	other := fixture("types_21")
	under := func(name string, upTo uint64) {
		var once sync.Once
		listed := faultstore.On(faultstore.Before, faultstore.List, "")
		hook := faultstore.Hook(func(c faultstore.Call) faultstore.Action {
			if listed(c) {
				once.Do(func() {
					open(t, s, other)
					w.drop()
					if name != "" {
						w.put(name, upTo)
					}
				})
			}
			return faultstore.Pass
		})
		w.hook.Store(&hook)
	}
	w.put("types_22", 0)
	for _, name := range []string{"many_appends", "types_22"} { // unknown at first, then known
		under(name, 2)
		if got := open(t, s, w.location()); textOf(t, got) != fresh(t, w.location()) {
			t.Errorf("%s: other rows", name)
		}
	}
	under("many_appends", 7)
	if v, err := s.Versions(t.Context(), w.location()); err != nil || len(v) != 7 {
		t.Errorf("versions %v, error %v", v, err)
	}
	under("", 0)
	if _, err := s.Open(t.Context(), w.location()); !errors.Is(err, ErrNoTable) {
		t.Errorf("error %v", err)
	}
}
