package pins

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"go.uber.org/goleak"

	"github.com/seaweedfs/seaweed-lance/internal/lance/lancetest"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
	"github.com/seaweedfs/seaweed-lance/internal/objects/dirstore"
	"github.com/seaweedfs/seaweed-lance/internal/pin"
	"github.com/seaweedfs/seaweed-lance/lease"
	"github.com/seaweedfs/seaweed-lance/session"
)

func put(t *testing.T, dir, fixture string) {
	t.Helper()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(lancetest.Root(), fixture))); err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, dir string) *table.Table {
	t.Helper()
	s, err := dirstore.New(dir, dirstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	v, err := table.Open(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func tags(t *testing.T, v *table.Table) []table.Tag {
	t.Helper()
	found, err := table.Tags(t.Context(), v.Store())
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestAt(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	s, err := session.New(session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	p := Pins{Session: s, Leases: lease.New(lease.Options{})}
	dir := filepath.Join(t.TempDir(), "t")
	put(t, dir, "many_appends")
	hook, v := p.At(session.Directory(dir)), open(t, dir)
	release, err := hook(t.Context(), v)
	if err != nil {
		t.Fatal(err)
	}
	leased := func(tag table.Tag) bool {
		_, ok := pin.ParseTag(tag.Name)
		return ok && tag.Version == v.Version()
	}
	if found := tags(t, v); !slices.ContainsFunc(found, leased) {
		t.Errorf("tags %+v", found)
	}
	release()

	// Another table with that version, and none at all.
	put(t, dir, "many_appends")
	if _, err := hook(t.Context(), v); !errors.Is(err, objects.ErrNotFound) {
		t.Errorf("a table made anew: %v", err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := hook(t.Context(), v); !errors.Is(err, objects.ErrNotFound) {
		t.Errorf("a table that is gone: %v", err)
	}
	if err := p.Leases.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Error("the table's directory came back")
	}
}
