package lanceworker

import (
	"context"
	"errors"
	"hash/maphash"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seaweedfs/seaweed-lance/internal/catalog"
	"github.com/seaweedfs/seaweed-lance/internal/lance/cleanup"
	"github.com/seaweedfs/seaweed-lance/internal/lance/compact"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/location"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
	"github.com/seaweedfs/seaweed-lance/internal/objects/dirstore"
	"github.com/seaweedfs/seaweed-lance/internal/objects/faultstore"
	"github.com/seaweedfs/seaweed-lance/lanceworker/internal/pins"
	"github.com/seaweedfs/seaweed-lance/lease"
	"github.com/seaweedfs/seaweed-lance/session"
)

// shelf is one real table with what is known of it.
type shelf struct {
	*tables
	t     *testing.T
	clock *clock
	dir   string
	store *faultstore.Store
	e     entry
	// looks counts how often the directory was looked at, and dataset is what is there.
	looks, before int
	dataset       catalog.Dataset
}

func newShelf(t *testing.T, fixture string) *shelf {
	t.Helper()
	h := &shelf{t: t, clock: newClock(), dir: copyOf(t, fixture), dataset: catalog.Dataset{Written: true, Refs: true}}
	inner, err := dirstore.New(h.dir, dirstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { inner.Close() })
	h.store = faultstore.New(inner, nil)
	h.e = entry{id: []string{"lab", "ml", "v"},
		place: location.New("place", "lab/ml/v", func(context.Context) (location.Place, error) {
			return location.Place{Store: h.store}, nil
		}),
		dataset: func(context.Context) (catalog.Dataset, error) {
			h.looks++
			return h.dataset, nil
		}}
	s, err := session.New(session.Options{Now: h.clock.now})
	if err != nil {
		t.Fatal(err)
	}
	l := lease.New(lease.Options{Now: h.clock.now})
	t.Cleanup(func() {
		if err := l.Close(context.Background()); err != nil {
			t.Error(err)
		}
		s.Close()
	})
	// Later than any version of it.
	h.clock.t = time.Now()
	h.tables = &tables{Pins: pins.Pins{Session: s, Leases: l}, now: h.clock.now, seed: maphash.MakeSeed(), again: allowance{now: h.clock.now}}
	return h
}

func (h *shelf) look() sighting {
	h.t.Helper()
	s, err := h.tables.look(h.t.Context(), h.e)
	if err != nil {
		h.t.Fatal(err)
	}
	return s
}

// calls are how many the store and the directory have had since the last time.
func (h *shelf) calls() int {
	n := h.store.Count(faultstore.List, faultstore.Open) + h.looks
	defer func() { h.before = n }()
	return n - h.before
}

func TestLookIsCheap(t *testing.T) {
	h := newShelf(t, "many_appends")
	h.look()
	h.calls()
	for i, step := range []struct {
		later time.Duration
		calls int
	}{
		{0, 0},
		{session.Freshness - 1, 0}, // another job type's sweep
		{1, 1},
		{10 * time.Minute, 1},
		{2 * lookEvery, 2}, // the directory, too
		{10 * time.Minute, 1},
	} {
		h.clock.advance(step.later)
		h.look()
		if n := h.calls(); n != step.calls {
			t.Errorf("step %d: %d calls, want %d", i, n, step.calls)
		}
	}
	// Looks at many tables don't come due at once.
	sooner, middle := 0, lookEvery+lookEvery/2
	for i := range 1000 {
		if h.lookAfter(strings.Repeat("x", i)) < middle {
			sooner++
		}
	}
	if sooner < 400 || sooner > 600 {
		t.Errorf("%d of 1000 tables are looked at again within %s", sooner, middle)
	}
}

func TestLookWithdrawn(t *testing.T) {
	h := newShelf(t, "many_appends")
	s := h.look()
	h.dataset.Withdrawn = true
	h.look()
	if err := h.still(t.Context(), s); err != nil {
		t.Errorf("just looked at: %v", err)
	}
	h.clock.advance(session.Freshness)
	if err := h.still(t.Context(), s); !errors.Is(err, errWithdrawn) {
		t.Errorf("before it is proposed: %v", err)
	}
	h.clock.advance(2 * lookEvery)
	for range 2 {
		if _, err := h.tables.look(t.Context(), h.e); !errors.Is(err, errWithdrawn) {
			t.Errorf("later: %v", err)
		}
	}
	h.dataset.Withdrawn = false
	h.look()
	if err := os.RemoveAll(h.dir); err != nil {
		t.Fatal(err)
	}
	h.clock.advance(session.Freshness)
	if _, err := h.tables.look(t.Context(), h.e); !errors.Is(err, table.ErrNoTable) {
		t.Errorf("gone: %v", err)
	}
	h.keep(func(string) bool { return false })
	if len(h.mu.known) != 0 {
		t.Errorf("still knows %v", h.mu.known)
	}
}

// What is due by age is noticed without a call, and looked at before anybody is told.
func TestOutlook(t *testing.T) {
	h := newShelf(t, "many_appends")
	newest, err := table.Open(t.Context(), h.store)
	if err != nil {
		t.Fatal(err)
	}
	p := cleanup.Policy{Retain: 24 * time.Hour, MinVersions: 2}
	h.clock.t = newest.Time()
	detect := func(calls int, due bool) {
		t.Helper()
		s := h.look()
		h.calls()
		d, err := h.detect(t.Context(), s, p)
		if err != nil || d.Due != due || d.Newest != newest.Version() {
			t.Errorf("%+v, error %v; want due %v", d, err, due)
		}
		if n := h.calls(); n != calls {
			t.Errorf("%d calls, want %d", n, calls)
		}
	}
	const look = 3 // the versions, the newest and the oldest one; a cluster's listing opens them
	detect(look, false)
	detect(0, false)
	h.clock.advance(10 * time.Minute)
	detect(0, false)
	if n, err := h.versions(t.Context(), h.e); err != nil || n != 40 || h.calls() > 1 {
		t.Errorf("%d versions, %v", n, err)
	}
	h.clock.advance(24 * time.Hour)
	h.look()
	h.calls()
	s := h.look()
	for i, want := range []bool{true, false} { // the second within a minute
		d, err := h.detect(t.Context(), s, p)
		if n := h.calls(); err != nil || !d.Due || (n > 0) != want {
			t.Errorf("due, look %d: %+v, %v, %d calls", i, d, err, n)
		}
	}
	h.clock.advance(time.Minute)
	h.look()
	h.calls()
	if d, err := h.detect(t.Context(), h.look(), p); err != nil || !d.Due || h.calls() == 0 {
		t.Errorf("a minute later it is not looked at again: %+v, %v", d, err)
	}
	// Another worker has seen to it.
	if _, err := cleanup.Run(t.Context(), h.store, cleanup.Options{Policy: p, Now: h.clock.now}); err != nil {
		t.Fatal(err)
	}
	h.clock.advance(10 * time.Minute)
	if d, err := h.detect(t.Context(), h.look(), p); err != nil || d.Due {
		t.Errorf("cleaned up: %+v, %v", d, err)
	}
}

// Versions that people's tags hold on to are taken to be held for hours, those of leases for a
// minute.
func TestOutlookHeld(t *testing.T) {
	for _, c := range []struct {
		lease bool
		calls bool
	}{{false, false}, {true, true}} {
		h := newShelf(t, "many_appends")
		p := cleanup.Policy{Retain: time.Hour, MinVersions: 39}
		first := h.version(t, 1)
		if c.lease {
			le, err := h.Leases.Take(t.Context(), first)
			if err != nil {
				t.Fatal(err)
			}
			defer le.Release()
		} else if err := table.CreateTag(t.Context(), h.store, table.Tag{Name: "keep", Version: 1}, 1, h.now()); err != nil {
			t.Fatal(err)
		}
		if d, err := h.detect(t.Context(), h.look(), p); err != nil || d.Due {
			t.Fatalf("held: %+v, %v", d, err)
		}
		h.clock.advance(10 * time.Minute)
		s := h.look()
		h.calls()
		if d, err := h.detect(t.Context(), s, p); err != nil || d.Due || (h.calls() > 0) != c.calls {
			t.Errorf("lease %v: %+v, %v", c.lease, d, err)
		}
	}
}

func (h *shelf) version(t *testing.T, n uint64) *session.Table {
	t.Helper()
	v, err := h.Session.OpenVersion(t.Context(), h.e.place, n)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestJudge(t *testing.T) {
	h := newShelf(t, "many_appends")
	found, fail := 0, error(nil)
	judge := func(name string) finding {
		t.Helper()
		f, err := h.judge(t.Context(), h.look(), name, func(_ context.Context, v compactView, refused error) (finding, error) {
			found++
			seen := v.facts()
			return finding{seen: true, facts: &seen, reason: name}, errors.Join(refused, fail)
		})
		if !errors.Is(err, fail) {
			t.Fatal(err)
		}
		return f
	}
	for range 3 {
		if f := judge("a"); f.reason != "a" || f.newest != 40 || f.facts.version != 40 || f.facts.fragments != 40 {
			t.Errorf("%+v", f)
		}
	}
	if judge("b"); found != 2 {
		t.Errorf("judged %d times", found)
	}
	// A failure is not remembered, and tells how far it got.
	fail = errFake
	for range 2 {
		if f := judge("c"); f.facts == nil {
			t.Error("what was seen is lost")
		}
	}
	if fail = nil; found != 4 {
		t.Errorf("judged %d times", found)
	}
	// A job has changed the table.
	r, err := h.compact(t.Context(), h.e, compact.Options{Policy: compact.Policy{TargetRows: 1 << 20}, Now: h.now})
	if err != nil || !r.Changed {
		t.Fatal(r, err)
	}
	h.changed(t.Context(), h.e)
	if f := judge("a"); f.facts.fragments != 1 || f.newest != r.Version {
		t.Errorf("%+v", f.facts)
	}
}

// A compaction pins what it reads; a cleanup in the same process does not wait for the tag.
func TestJobsPin(t *testing.T) {
	h := newShelf(t, "many_appends")
	r, err := h.compact(t.Context(), h.e, compact.Options{Policy: compact.Policy{TargetRows: 1 << 20}, Now: h.now})
	if err != nil || !r.Changed {
		t.Fatal(r, err)
	}
	if s := h.Leases.Stats(); s.Taken != 1 || s.Held != 1 {
		t.Errorf("%+v", s)
	}
	h.clock.advance(time.Second)
	c, err := h.clean(t.Context(), h.e, cleanup.Options{Policy: cleanup.Policy{MinVersions: 1}, Now: h.clock.now})
	if err != nil {
		t.Fatal(err)
	}
	// Version 5 has a tag of its own.
	if c.Versions != 2 || len(c.Kept) != 1 || c.Kept[0].Version != 5 {
		t.Errorf("%+v", c)
	}
	if s := h.Leases.Stats(); s.Held != 0 {
		t.Errorf("%+v", s)
	}
	names, err := os.ReadDir(filepath.Join(h.dir, "_refs", "tags"))
	if err != nil || len(names) != 1 {
		t.Errorf("tags %v, %v", names, err)
	}
}

// A failing store is an error, nothing else.
func TestLookFails(t *testing.T) {
	h := newShelf(t, "many_appends")
	h.e.dataset = func(context.Context) (catalog.Dataset, error) { return catalog.Dataset{}, objects.ErrDenied }
	if _, err := h.tables.look(t.Context(), h.e); !errors.Is(err, objects.ErrDenied) {
		t.Errorf("error %v", err)
	}
	if len(h.mu.known) != 0 {
		t.Error("half of it is remembered")
	}
}
