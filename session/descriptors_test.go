package session

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/lance/lancetest"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
)

// descriptors are the files and directories below dir that this process has open, by their paths.
func descriptors(tb testing.TB, dir string) map[string]int {
	tb.Helper()
	if runtime.GOOS != "linux" {
		tb.Skip("open descriptors are listed on Linux only")
	}
	const list = "/proc/self/fd"
	entries, err := os.ReadDir(list)
	if err != nil {
		tb.Fatal(err)
	}
	out := make(map[string]int)
	for _, e := range entries {
		// One that was closed since leads nowhere.
		if path, err := os.Readlink(filepath.Join(list, e.Name())); err == nil && strings.HasPrefix(path, dir) {
			out[path]++
		}
	}
	return out
}

// tables makes n directories with small tables, all the same, and tells what they hold.
func tables(tb testing.TB, n int) (root string, at []Location, want string) {
	tb.Helper()
	root = tb.TempDir()
	for i := range n {
		dir := filepath.Join(root, fmt.Sprint(i))
		if err := copyTable(filepath.Join(lancetest.Root(), "types_22"), dir, 1); err != nil {
			tb.Fatal(err)
		}
		at = append(at, Directory(dir))
	}
	s, err := New(Options{})
	if err != nil {
		tb.Fatal(err)
	}
	defer s.Close()
	return root, at, textOf(tb, open(tb, s, at[0]))
}

// A session has as many directories open as it keeps tables, and none after its end, whatever is
// still held of it. What is held can be read.
func TestDescriptors(t *testing.T) {
	const n, kept = 300, 10
	root, at, want := tables(t, n)
	s := newSession(t, Options{Tables: kept})
	var held []*Table
	for i, l := range at {
		held = append(held, open(t, s, l))
		if got := len(descriptors(t, root)); got != min(i+1, kept) {
			t.Fatalf("%d descriptors after %d tables", got, i+1)
		}
	}
	read := func(i int) {
		t.Helper()
		if got := textOf(t, held[i]); got != want {
			t.Errorf("table %d: other rows", i)
		}
	}
	for _, i := range []int{0, 1, n - kept - 1, n - kept, n - 1} {
		read(i)
	}
	if got := descriptors(t, root); len(got) != kept {
		t.Errorf("after reads: %v", got)
	}
	s.Forget(at[n-1])
	read(n - 1)
	if got := descriptors(t, root); len(got) != kept-1 {
		t.Errorf("after one was forgotten: %v", got)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if got := descriptors(t, root); len(got) != 0 {
		t.Errorf("after the session was closed: %v", got)
	}
	read(0)
	read(n - 2)
	if got := descriptors(t, root); len(got) != 0 {
		t.Errorf("after reads: %v", got)
	}
}

// Directories that move away can be read on, the last of them; what is kept open for that is bounded.
func TestDescriptorsOfReplaced(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "table")
	s := newSession(t, Options{})
	const n = maxRetired + 10
	var held []*Table
	for i := range n {
		if err := copyTable(filepath.Join(lancetest.Root(), "types_22"), dir, 1); err != nil {
			t.Fatal(err)
		}
		held = append(held, open(t, s, Directory(dir)))
		if err := os.Rename(dir, filepath.Join(root, fmt.Sprint("old", i))); err != nil {
			t.Fatal(err)
		}
		if i%2 == 0 { // else another table is seen next
			if _, err := s.Open(t.Context(), Directory(dir)); !errors.Is(err, ErrNoTable) {
				t.Errorf("error %v", err)
			}
		}
		if got := descriptors(t, root); len(got) > maxRetired+1 {
			t.Fatalf("after %d directories: %d are open", i+1, len(got))
		}
	}
	want := textOf(t, held[n-1])
	for i, tab := range held {
		got, err := text(t.Context(), tab)
		if readable := i >= n-maxRetired; readable && (err != nil || got != want) || !readable && i < n-maxRetired-1 && !errors.Is(err, ErrGone) {
			t.Errorf("table %d of %d: error %v", i, n, err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if got := descriptors(t, root); len(got) != 0 {
		t.Errorf("after the session was closed: %v", got)
	}
}

// Bases are open only while something of them is read.
func TestDescriptorsOfBases(t *testing.T) {
	from, err := filepath.Abs("../internal/lance/scan/testdata")
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	if err := copyTable(filepath.Join(from, "clone"), w.dir, 0); err != nil {
		t.Fatal(err)
	}
	w.rewrite(func(tab *table.Table) {
		for _, b := range tab.Manifest().GetBasePaths() {
			b.Path = filepath.Join(from, filepath.Base(b.GetPath()))
		}
	})
	before := descriptors(t, w.dir)[w.dir]
	s := newSession(t, Options{})
	tab := open(t, s, Directory(w.dir))
	for range 3 {
		textOf(t, tab)
	}
	if got := descriptors(t, from); len(got) != 0 {
		t.Errorf("%v", got)
	}
	if got := descriptors(t, w.dir); len(got) != 1 || got[w.dir] != before+1 {
		t.Errorf("%v, %d before", got, before)
	}
}

// Many at once, over more tables than are kept: each gets its rows, and no more is open than is kept
// or in use.
func TestDescriptorsTogether(t *testing.T) {
	const n, kept, readers = 30, 3, 5
	root, at, want := tables(t, n)
	s := newSession(t, Options{Tables: kept})
	var wg sync.WaitGroup
	for i := range readers {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(9, uint64(i)))
			var before *Table
			for range 60 {
				tab, err := s.Open(t.Context(), at[r.IntN(n)])
				if err != nil {
					t.Error(err)
					return
				}
				for _, x := range []*Table{before, tab} {
					if x == nil {
						continue
					}
					if got, err := text(t.Context(), x); err != nil || got != want {
						t.Errorf("%s: error %v, or other rows", x, err)
					}
				}
				before = tab
				open := 0
				for path := range descriptors(t, root) {
					if filepath.Dir(path) == root {
						open++
					}
				}
				// Who opens one may not have let go yet of the one that it displaces.
				if open > kept+2*readers {
					t.Errorf("%d directories are open", open)
				}
			}
		})
	}
	wg.Wait()
	if got := descriptors(t, root); len(got) != kept {
		t.Errorf("in the end: %v", got)
	}
}
