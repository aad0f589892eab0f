package lease

import (
	"errors"
	"os"
	"testing"
	"testing/synctest"

	"github.com/seaweedfs/seaweed-lance/internal/lance/cleanup"
	"github.com/seaweedfs/seaweed-lance/internal/lance/compact"
	"github.com/seaweedfs/seaweed-lance/internal/lance/lancetest"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
	"github.com/seaweedfs/seaweed-lance/internal/objects/faultstore"
	"github.com/seaweedfs/seaweed-lance/internal/pin"
)

// A cleanup that had listed the tags takes the version before it is tagged.
func TestGoneBeforeTag(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		until := make(chan struct{})
		w := newWorld(t, faultstore.When(faultstore.On(faultstore.Before, faultstore.Publish, ""), faultstore.Freeze(until)))
		v := w.open(2)
		all := w.crowd(t.Context(), 10, v)
		synctest.Wait()
		if err := os.Remove(w.path(v.Table.Ref().Name)); err != nil {
			t.Fatal(err)
		}
		close(until)
		for range 10 {
			if o := <-all; !errors.Is(o.err, ErrGone) {
				t.Errorf("%v", o.err)
			}
		}
		// It is gone for all of them: one look is enough.
		if got := w.f.Count(faultstore.Publish); got != 1 {
			t.Errorf("%d tags were made", got)
		}
		w.wantTags("after")
		w.wantStats("after", Stats{})
	})
}

// The same number of another table.
func TestReplacedBeforeTag(t *testing.T) {
	w := newWorld(t, nil)
	v := w.open(2)
	name := v.Table.Ref().Name
	b, _, err := objects.ReadAll(t.Context(), w.s, name, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.s.Delete(t.Context(), name), w.s.Publish(t.Context(), name, b)); err != nil {
		t.Fatal(err)
	}
	if _, err := w.l.pin(t.Context(), v); !errors.Is(err, ErrGone) {
		t.Errorf("error %v", err)
	}
	w.wantTags("after")
	// Opened again it is another key, and there.
	le := w.take(w.open(2))
	w.wantTags("again", le.Tag())
}

// On a place from which the table was removed nothing is left.
func TestTableRemoved(t *testing.T) {
	w := newWorld(t, nil)
	v := w.open(0)
	le := w.take(v)
	empty := func(when string) {
		t.Helper()
		if files := lancetest.Files(t, w.s); len(files) != 0 {
			t.Errorf("%s: %q", when, files)
		}
	}
	entries, err := os.ReadDir(w.s.String())
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if err := os.RemoveAll(w.path(e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	// A version that was not tagged yet.
	w.clock.Advance(reuseWindow + 1)
	if _, err := w.l.pin(t.Context(), v); !errors.Is(err, ErrGone) {
		t.Errorf("error %v", err)
	}
	empty("taking")
	le.Release()
	w.clock.Advance(releaseDelay)
	empty("releasing")
	w.wantStats("after", Stats{Taken: 1})
	if err := w.l.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// Compaction and cleanup leave what is leased; afterwards it goes.
func TestMaintenanceUnderLease(t *testing.T) {
	for _, early := range []bool{true, false} {
		w := wholeWorld(t)
		if err := table.DeleteTag(t.Context(), w.s, people); err != nil {
			t.Fatal(err)
		}
		v := w.open(0)
		tab := v.Table
		le := w.take(v)
		c, err := compact.Run(t.Context(), w.s, compact.Options{Policy: compact.Policy{TargetRows: 1 << 20}})
		if err != nil || !c.Changed {
			t.Fatalf("%+v, error %v", c, err)
		}
		clean := func() cleanup.Result {
			t.Helper()
			r, err := cleanup.Run(t.Context(), w.s, cleanup.Options{Policy: cleanup.Policy{MinVersions: 1}})
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		there := func() (n int) {
			t.Helper()
			for _, f := range tab.Fragments() {
				for _, d := range f.GetFiles() {
					if _, err := os.Stat(w.path(table.DataName(d))); err == nil {
						n++
					}
				}
			}
			return n
		}
		files := there()
		if early {
			le.Release() // nobody holds it, and the tag stays for a while
			w.clock.Advance(releaseDelay - 1)
		}
		if r := clean(); r.OldVersionsRemoved == 0 {
			t.Errorf("%+v", r)
		}
		if got := there(); got != files || files == 0 {
			t.Errorf("%d of %d files are left", got, files)
		}
		if _, err := table.OpenVersion(t.Context(), w.s, tab.Naming(), tab.Version()); err != nil {
			t.Error(err)
		}
		le.Release()
		w.clock.Advance(releaseDelay)
		if r := clean(); r.OldVersionsRemoved != 1 || there() != 0 {
			t.Errorf("%+v, %d files are left", r, there())
		}
	}
}

// A cleanup of this module that had looked at the tags looks again.
func TestTagDuringCleanup(t *testing.T) {
	w := wholeWorld(t)
	v := w.open(2)
	ref := v.Table.Ref()
	var le *Lease
	var taking error
	hook := faultstore.Nth(0, func(c faultstore.Call) bool {
		if c.Phase == faultstore.Before && c.Op == faultstore.Delete && c.Name == ref.Name {
			le, taking = w.l.pin(t.Context(), v)
			return true
		}
		return false
	}, faultstore.Pass)
	r, err := cleanup.Run(t.Context(), faultstore.New(w.s, hook), cleanup.Options{Policy: cleanup.Policy{MinVersions: 1}, Parallel: 1})
	if err != nil || taking != nil || le == nil {
		t.Fatalf("%+v, errors %v and %v, lease %v", r, err, taking, le)
	}
	tab, err := table.OpenVersion(t.Context(), w.s, table.NamingV2, 2)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range tab.Fragments() {
		for _, d := range f.GetFiles() {
			if _, err := os.Stat(w.path(table.DataName(d))); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestBranch(t *testing.T) {
	s := lancetest.Copy(t, "branched", nil)
	branches, err := table.Branches(t.Context(), s)
	if err != nil || len(branches) == 0 {
		t.Fatalf("%v, error %v", branches, err)
	}
	tab, err := table.Open(t.Context(), objects.Sub(s, branches[0].Dir()))
	if err != nil {
		t.Fatal(err)
	}
	before := lancetest.Files(t, s)
	l := New(Options{})
	if _, err := l.pin(t.Context(), pin.Version{Location: "x", Table: tab}); err == nil {
		t.Error("a branch was leased")
	}
	if after := lancetest.Files(t, s); len(after) != len(before) {
		t.Errorf("%d files became %d", len(before), len(after))
	}
}
