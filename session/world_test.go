package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seaweedfs/seaweed-lance/internal/lance/lancetest"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/location"
	"github.com/seaweedfs/seaweed-lance/internal/objects/dirstore"
	"github.com/seaweedfs/seaweed-lance/internal/objects/faultstore"
)

// world is a directory in which tables come and go, and what is called of its store.
type world struct {
	tb   testing.TB
	dir  string
	hook atomic.Pointer[faultstore.Hook]
	// lists, opens and reads count calls of the store.
	lists, opens, reads atomic.Int64
	// lags tells that the store may be out of date.
	lags bool
}

func newWorld(tb testing.TB) *world {
	tb.Helper()
	return &world{tb: tb, dir: filepath.Join(tb.TempDir(), "table")}
}

// location leads to the world's directory, counted and through its hook.
func (w *world) location() Location {
	return location.New("test "+w.dir, w.dir, func(context.Context) (location.Place, error) {
		s, err := dirstore.NewOnDemand(w.dir, dirstore.Options{})
		if err != nil {
			return location.Place{}, err
		}
		return location.Place{Store: faultstore.New(s, w.called), Moved: s.Moved, Release: s.Release, Lags: w.lags}, nil
	})
}

func (w *world) called(c faultstore.Call) faultstore.Action {
	if c.Phase == faultstore.Before {
		switch c.Op {
		case faultstore.List:
			w.lists.Add(1)
		case faultstore.Open:
			w.opens.Add(1)
		case faultstore.Read:
			w.reads.Add(1)
		}
	}
	if h := w.hook.Load(); h != nil {
		return (*h)(c)
	}
	return faultstore.Pass
}

// calls are those since it was called last: listings, opens, reads.
func (w *world) calls() [3]int64 {
	return [3]int64{w.lists.Swap(0), w.opens.Swap(0), w.reads.Swap(0)}
}

// put makes the directory hold a table of testdata up to a version, all of it for 0. The
// directory itself stays when it is there.
func (w *world) put(name string, upTo uint64) {
	w.tb.Helper()
	w.empty()
	if err := copyTable(filepath.Join(lancetest.Root(), name), w.dir, upTo); err != nil {
		w.tb.Fatal(err)
	}
}

// empty removes what is in the directory.
func (w *world) empty() {
	w.tb.Helper()
	entries, err := os.ReadDir(w.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		w.tb.Fatal(err)
	}
	for _, e := range entries {
		if err := os.RemoveAll(filepath.Join(w.dir, e.Name())); err != nil {
			w.tb.Fatal(err)
		}
	}
}

// drop removes the directory, too.
func (w *world) drop() {
	w.tb.Helper()
	if err := os.RemoveAll(w.dir); err != nil {
		w.tb.Fatal(err)
	}
}

// grow adds the manifests of a table up to a version.
func (w *world) grow(name string, from, to uint64) {
	w.tb.Helper()
	for v := from; v <= to; v++ {
		m := table.NamingV2.ManifestName(v)
		if err := copyFile(filepath.Join(lancetest.Root(), name, m), filepath.Join(w.dir, m)); err != nil {
			w.tb.Fatal(err)
		}
	}
}

// hideAbove takes the manifests above a version away, and puts those up to it back as the objects
// that they were.
func (w *world) hideAbove(version uint64) {
	w.tb.Helper()
	hidden := w.dir + ".hidden"
	if err := os.MkdirAll(hidden, 0o777); err != nil {
		w.tb.Fatal(err)
	}
	move := func(from, to string, when func(uint64) bool) {
		entries, err := os.ReadDir(from)
		if err != nil {
			w.tb.Fatal(err)
		}
		for _, e := range entries {
			if v := versionIn(e.Name()); v != 0 && when(v) {
				if err := os.Rename(filepath.Join(from, e.Name()), filepath.Join(to, e.Name())); err != nil {
					w.tb.Fatal(err)
				}
			}
		}
	}
	shown := filepath.Join(w.dir, table.VersionsDir)
	move(shown, hidden, func(v uint64) bool { return v > version })
	move(hidden, shown, func(v uint64) bool { return v <= version })
}

// rewrite changes the table's manifests where they lie, and so what objects they are.
func (w *world) rewrite(change func(t *table.Table)) {
	w.tb.Helper()
	s := lancetest.Dir(w.tb, w.dir, nil)
	l, err := table.ListVersions(w.tb.Context(), s)
	if err != nil {
		w.tb.Fatal(err)
	}
	for _, ref := range l.Versions {
		t, err := table.OpenRef(w.tb.Context(), s, l, ref)
		if err != nil {
			w.tb.Fatal(err)
		}
		change(t)
		if err := writeFile(filepath.Join(w.dir, ref.Name), encode(w.tb, t)); err != nil {
			w.tb.Fatal(err)
		}
	}
}

// mark gives all versions of the table an id.
func (w *world) mark(id string) {
	w.tb.Helper()
	w.rewrite(func(t *table.Table) {
		m := t.Manifest()
		if m.SchemaMetadata == nil {
			m.SchemaMetadata = make(map[string][]byte)
		}
		m.SchemaMetadata[DefaultIDKey] = []byte(id)
	})
}

// newSession makes a session that is closed at the end of the test.
func newSession(tb testing.TB, o Options) *Session {
	tb.Helper()
	s, err := New(o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Error(err)
		}
	})
	return s
}

func open(tb testing.TB, s *Session, l Location) *Table {
	tb.Helper()
	t, err := s.Open(tb.Context(), l)
	if err != nil {
		tb.Fatal(err)
	}
	return t
}

// text is all that a scan of a table returns.
func text(ctx context.Context, t *Table) (string, error) {
	rows, err := t.Scan(ctx, ScanOptions{RowAddress: true})
	if err != nil {
		return "", err
	}
	defer rows.Close()
	var b strings.Builder
	fmt.Fprintf(&b, "%d %s\n", t.Version(), rows.Schema())
	for batch, err := range rows.All(ctx) {
		if err != nil {
			return "", err
		}
		for i, c := range batch.Columns() {
			fmt.Fprintf(&b, "%s %v\n", batch.ColumnName(i), c)
		}
	}
	return b.String(), nil
}

func textOf(tb testing.TB, t *Table) string {
	tb.Helper()
	out, err := text(tb.Context(), t)
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

// fresh is what a session without a past reads.
func fresh(tb testing.TB, l Location) string {
	tb.Helper()
	return textOf(tb, open(tb, newSession(tb, Options{}), l))
}

// clock stands still until it is told.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.Unix(1_800_000_000, 0)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}
