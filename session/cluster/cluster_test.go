package cluster

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/lance/lancetest"
	"github.com/seaweedfs/seaweed-lance/internal/location"
	"github.com/seaweedfs/seaweed-lance/session"
)

func connect(tb testing.TB, f *fakeFiler) *Cluster {
	tb.Helper()
	c, err := Connect(tb.Context(), Options{Filers: []string{f.addr}})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(c.Close)
	return c
}

func newSession(tb testing.TB) *session.Session {
	tb.Helper()
	s, err := session.New(session.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { s.Close() })
	return s
}

// text is all that a scan of a location's newest version returns.
func text(tb testing.TB, s *session.Session, l session.Location) string {
	tb.Helper()
	t, err := s.Open(tb.Context(), l)
	if err != nil {
		tb.Fatal(err)
	}
	rows, err := t.Scan(tb.Context(), session.ScanOptions{})
	if err != nil {
		tb.Fatal(err)
	}
	defer rows.Close()
	var b strings.Builder
	for batch, err := range rows.All(tb.Context()) {
		if err != nil {
			tb.Fatal(err)
		}
		fmt.Fprintln(&b, batch)
	}
	return b.String()
}

// Tables read the same from a cluster as from a directory; one that is unchanged costs a
// listing, one that was replaced is noticed.
func TestOpen(t *testing.T) {
	f := newFake(t)
	f.declare("lab", "ml", "vectors")
	c, s, local := connect(t, f), newSession(t), newSession(t)
	for _, name := range []string{"types_22", "types_21", "many_appends", "types_22"} {
		f.put("/buckets/lab/ml/vectors", name)
		l, err := c.Find(t.Context(), "lab", "ml", "vectors")
		if err != nil {
			t.Fatal(err)
		}
		want := text(t, local, session.Directory(filepath.Join(lancetest.Root(), name)))
		for range 2 {
			if text(t, s, l) != want {
				t.Errorf("%s: other rows", name)
			}
		}
		f.calls()
		if _, err := s.Open(t.Context(), l); err != nil {
			t.Fatal(err)
		}
		if got := f.calls(); got != [2]int64{1, 0} {
			t.Errorf("%s: opened again, listings and lookups %v", name, got)
		}
	}
	if x := s.Stats(); x.StartOvers != 3 || x.Opens != 1 {
		t.Errorf("%+v", x)
	}
}

func TestFind(t *testing.T) {
	f := newFake(t)
	f.declare("lab", "ml", "vectors")
	f.put("/buckets/lab/ml/vectors", "types_22")
	c, s := connect(t, f), newSession(t)
	l, err := c.Find(t.Context(), "lab", "ml", "vectors")
	if err != nil || l.String() != "lab/ml/vectors" {
		t.Fatalf("%s, error %v", l, err)
	}
	if direct := c.Directory("/buckets/lab/ml/vectors"); location.Key(direct) != location.Key(l) || text(t, s, direct) != text(t, s, l) {
		t.Error("the table and its directory are two places")
	}
	if _, err := c.Find(t.Context(), "lab", "ml", "other"); !errors.Is(err, session.ErrNoTable) {
		t.Errorf("error %v", err)
	}
	if _, err := s.Open(t.Context(), c.Directory("/buckets/lab/ml/other")); !errors.Is(err, session.ErrNoTable) {
		t.Errorf("error %v", err)
	}
	other := connect(t, newFake(t))
	if location.Key(other.Directory("/x")) == location.Key(c.Directory("/x")) {
		t.Error("two clusters are one")
	}
}

func TestBase(t *testing.T) {
	f := newFake(t)
	f.declare("lab", "ml", "vectors")
	f.put("/buckets/lab/ml/vectors", "types_22")
	place, err := location.Open(t.Context(), connect(t, f).Directory("/buckets/lab/ml/clone"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := place.Base(t.Context(), "s3://lab/ml/vectors/")
	if err != nil {
		t.Fatal(err)
	}
	if page, err := s.List(t.Context(), "_versions", "", 10); err != nil || len(page) < 3 {
		t.Errorf("%d names, error %v", len(page), err)
	}
	for _, path := range []string{"/tmp/x", "s3://lab", "s3://lab/../x/y"} {
		if _, err := place.Base(t.Context(), path); !errors.Is(err, session.ErrRefused) {
			t.Errorf("base %q: error %v", path, err)
		}
	}
	if _, err := place.Base(t.Context(), "s3://lab/ml/other"); err == nil {
		t.Error("a base that is not there opens")
	}
}

func TestNoFiler(t *testing.T) {
	if _, err := Connect(t.Context(), Options{}); err == nil {
		t.Error("connected to nothing")
	}
}

func TestEach(t *testing.T) {
	f := newFake(t)
	f.declare("lab", "ml", "vectors")
	f.put("/buckets/lab/ml/vectors", "types_22")
	f.declare("lab", "ml", "declared")
	c, s := connect(t, f), newSession(t)
	var seen []string
	err := c.Each(t.Context(), func(x Table) error {
		seen = append(seen, strings.Join(x.ID, "/"))
		if x.Err != nil {
			return x.Err
		}
		_, err := s.Open(t.Context(), x.Location)
		return err
	})
	if err != nil || len(seen) != 1 || seen[0] != "lab/ml/vectors" {
		t.Errorf("%v, error %v", seen, err)
	}
	stop := errors.New("stop")
	if err := c.Each(t.Context(), func(Table) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("error %v", err)
	}
}
