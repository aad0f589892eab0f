package lease

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/seaweedfs/seaweed-lance/internal/lance/lancetest"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
	"github.com/seaweedfs/seaweed-lance/internal/objects/dirstore"
	"github.com/seaweedfs/seaweed-lance/internal/objects/faultstore"
	"github.com/seaweedfs/seaweed-lance/internal/pin"
)

// world is a table that real Lance wrote, and leases on it.
type world struct {
	t     *testing.T
	s     *dirstore.Store
	f     *faultstore.Store // what the leases see of s
	clock *clock
	l     *Leases
}

const fixture = "many_appends"

// newWorld copies what leases see of the fixture: manifests and tags. All calls
// of the leases pass the hook.
func newWorld(t *testing.T, hook faultstore.Hook) *world {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "table")
	for _, part := range []string{table.VersionsDir, table.TagsDir} {
		if err := os.CopyFS(filepath.Join(dir, part), os.DirFS(filepath.Join(lancetest.Root(), fixture, part))); err != nil {
			t.Fatal(err)
		}
	}
	return worldOf(t, lancetest.Dir(t, dir, nil), hook)
}

// wholeWorld has the data, too.
func wholeWorld(t *testing.T) *world {
	t.Helper()
	return worldOf(t, lancetest.Copy(t, fixture, nil), nil)
}

func worldOf(t *testing.T, s *dirstore.Store, hook faultstore.Hook) *world {
	w := &world{t: t, s: s, clock: newClock()}
	w.f = faultstore.New(w.s, hook)
	w.l = w.process()
	return w
}

// process makes the leases of one more process.
func (w *world) process() *Leases {
	l := New(Options{Holder: "test", Now: w.clock.Now, After: w.clock.After, Log: slog.New(slog.DiscardHandler)})
	w.t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel() // what a test still holds, it holds for good
		_ = l.Close(ctx)
	})
	return l
}

// open opens a version, 0 being the newest, through a store that has no fault in it.
func (w *world) open(version uint64) pin.Version {
	w.t.Helper()
	if version == 0 {
		t, err := table.Open(context.Background(), w.s)
		if err != nil {
			w.t.Fatal(err)
		}
		version = t.Version()
	}
	return w.at(w.f, version, w.s.String())
}

// at opens a version; the Table's store is s.
func (w *world) at(s objects.Store, version uint64, location string) pin.Version {
	w.t.Helper()
	t, err := table.OpenVersion(context.Background(), w.s, table.NamingV2, version)
	if err != nil {
		w.t.Fatal(err)
	}
	b, _, err := objects.ReadAll(context.Background(), w.s, t.Ref().Name, 1<<30)
	if err != nil {
		w.t.Fatal(err)
	}
	t, err = table.Decode(s, t.Ref(), t.Naming(), b)
	if err != nil {
		w.t.Fatal(err)
	}
	return pin.Version{Location: location, Table: t}
}

// take is a Take that must succeed.
func (w *world) take(t pin.Version) *Lease {
	w.t.Helper()
	le, err := w.l.pin(context.Background(), t)
	if err != nil {
		w.t.Fatal(err)
	}
	return le
}

// people is the tag that the fixture has: it stays, whatever happens to leases.
const people = "fifth"

// tags are the names of the tags in the store.
func (w *world) tags() []string {
	w.t.Helper()
	names, err := table.TagNames(context.Background(), w.s)
	if err != nil {
		w.t.Fatal(err)
	}
	return names
}

// wantTags asserts which tags are there besides the one that people made.
func (w *world) wantTags(when string, want ...string) {
	w.t.Helper()
	want = append(want, people)
	slices.Sort(want)
	if got := w.tags(); !slices.Equal(got, want) {
		w.t.Errorf("%s: tags %q, want %q", when, got, want)
	}
}

func (w *world) wantStats(when string, want Stats) {
	w.t.Helper()
	if got := w.l.Stats(); got != want {
		w.t.Errorf("%s: %+v, want %+v", when, got, want)
	}
}

// path is a file of the table.
func (w *world) path(name string) string { return filepath.Join(w.s.String(), name) }

// tag makes a tag that is none of the world's leases.
func (w *world) tag(name string) {
	w.t.Helper()
	if err := table.CreateTag(context.Background(), w.s, table.Tag{Name: name, Version: 1}, 1, w.clock.Now()); err != nil {
		w.t.Fatal(err)
	}
}

// older is the name of a tag that a holder made that long ago.
func (w *world) older(holder string, age time.Duration) string {
	return pin.NewTag(holder, w.clock.Now().Add(-age))
}
