// Package storetest checks a store against the contract of objects.Store.
//
// It uses nothing but the interface, so that every store is held to the same:
//
//	func TestContract(t *testing.T) { storetest.Run(t, open) }
//
// What the contract leaves to the store is not checked: whether Create or
// Finish notices a name that is taken, what is left of a directory of the first level
// when nothing lies in it any more, and names that begin with ".tmp", which are
// unfinished objects where a store shows them.
package storetest

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// Open makes an empty store. It registers with the test what has to be cleaned up.
type Open func(testing.TB) objects.Store

// Run checks the whole contract, each part on a store of its own.
func Run(t *testing.T, open Open) {
	parts := []struct {
		name  string
		check func(*testing.T, objects.Store)
	}{
		{"Publish", publish},
		{"PublishTaken", publishTaken},
		{"Write", write},
		{"WriteEmpty", writeEmpty},
		{"WriterKeepsNothing", writerKeepsNothing},
		{"InvisibleBeforeFinish", invisibleBeforeFinish},
		{"FinishTaken", finishTaken},
		{"FinishEnds", finishEnds},
		{"Abort", abort},
		{"Replace", replace},
		{"Delete", remove},
		{"Tokens", tokens},
		{"ReadRanges", readRanges},
		{"ReadAll", readAll},
		{"CopyRange", copyRange},
		{"CopyOutside", copyOutside},
		{"ListOrder", listOrder},
		{"ListBounds", listBounds},
		{"ListDirectories", listDirectories},
		{"ListEntries", listEntries},
		{"ListOpen", listOpen},
		{"ListOpenChanged", listOpenChanged},
		{"ListOpenBounds", listOpenBounds},
		{"All", all},
		{"OddNames", oddNames},
		{"EscapingNames", escapingNames},
		{"NotFound", notFound},
		{"Context", cancelled},
		{"ExclusivePublish", exclusivePublish},
		{"ExclusiveFinish", exclusiveFinish},
		{"ReplaceIsAtomic", replaceIsAtomic},
		{"ListWhileChanging", listWhileChanging},
		{"DirectoriesComeAndGo", directoriesComeAndGo},
	}
	for _, p := range parts {
		t.Run(p.name, func(t *testing.T) { p.check(t, open(t)) })
	}
}

// noise is n bytes that do not repeat.
func noise(seed uint64, n int) []byte {
	var key [32]byte
	key[0], key[1] = byte(seed), byte(seed>>8)
	p := make([]byte, n)
	rand.NewChaCha8(key).Read(p) // never fails
	return p
}

// put publishes an object that must not be there.
func put(t testing.TB, s objects.Store, name string, content []byte) {
	t.Helper()
	if err := s.Publish(t.Context(), name, content); err != nil {
		t.Fatalf("Publish(%q): %v", name, err)
	}
}

// stream writes an object through a Writer.
func stream(t testing.TB, s objects.Store, name string, pieces ...[]byte) objects.Entry {
	t.Helper()
	w, err := s.Create(t.Context(), name)
	if err != nil {
		t.Fatalf("Create(%q): %v", name, err)
	}
	defer w.Abort()
	for _, p := range pieces {
		if n, err := w.Write(p); err != nil || n != len(p) {
			t.Fatalf("Write(%d bytes) to %q = %d, %v", len(p), name, n, err)
		}
	}
	e, err := w.Finish(t.Context())
	if err != nil {
		t.Fatalf("Finish(%q): %v", name, err)
	}
	return e
}

// content reads an object by Open and ReadAt.
func content(t testing.TB, s objects.Store, name string) ([]byte, objects.Entry) {
	t.Helper()
	p, e, err := read(t.Context(), s, name)
	if err != nil {
		t.Fatalf("reading %q: %v", name, err)
	}
	return p, e
}

func read(ctx context.Context, s objects.Store, name string) ([]byte, objects.Entry, error) {
	r, err := s.Open(ctx, name)
	if err != nil {
		return nil, objects.Entry{}, err
	}
	p := make([]byte, r.Entry().Size)
	err = errors.Join(r.ReadAt(ctx, p, 0), r.Close())
	return p, r.Entry(), err
}

// holds checks an object's content.
func holds(t testing.TB, s objects.Store, name string, want []byte) objects.Entry {
	t.Helper()
	got, e := content(t, s, name)
	if !bytes.Equal(got, want) {
		t.Fatalf("%q holds %d bytes %.40q, want %d bytes %.40q", name, len(got), got, len(want), want)
	}
	if e.Name != name || e.Dir || e.Size != int64(len(want)) {
		t.Errorf("entry of %q = %+v, want its whole name and size %d", name, e, len(want))
	}
	return e
}

// absent checks that there is no such object, by name and in its directory.
func absent(t testing.TB, s objects.Store, name string) {
	t.Helper()
	wantErr(t, "Open("+name+")", opened(t, s, name), objects.ErrNotFound)
	dir, base := "", name
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		dir, base = name[:i], name[i+1:]
	}
	for _, e := range entries(t, s, dir) {
		if e.Name == base {
			t.Errorf("%q is in the listing", name)
		}
	}
}

func opened(t testing.TB, s objects.Store, name string) error {
	r, err := s.Open(t.Context(), name)
	if err == nil {
		_ = r.Close()
	}
	return err
}

// entries lists a directory without unfinished objects.
func entries(t testing.TB, s objects.Store, dir string) []objects.Entry {
	t.Helper()
	var es []objects.Entry
	err := objects.All(t.Context(), s, dir, func(e objects.Entry) error {
		if !strings.HasPrefix(e.Name, ".tmp") {
			es = append(es, e)
		}
		return nil
	})
	if err != nil {
		t.Fatalf("listing %q: %v", dir, err)
	}
	return es
}

func names(es []objects.Entry) []string {
	ns := make([]string, len(es))
	for i, e := range es {
		ns[i] = e.Name
	}
	return ns
}

func wantErr(t testing.TB, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: got %v, want %v", what, err, want)
	}
}

// together runs n goroutines that start at once, and returns their errors.
func together(n int, do func(i int) error) []error {
	var ready, ended sync.WaitGroup
	start := make(chan struct{})
	errs := make([]error, n)
	for i := range n {
		ready.Add(1)
		ended.Go(func() {
			ready.Done()
			<-start
			errs[i] = do(i)
		})
	}
	ready.Wait()
	close(start)
	ended.Wait()
	return errs
}
