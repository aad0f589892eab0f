package scan

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// sharing keeps metadata of files and counts how often it had to be read.
type sharing struct {
	mu    sync.Mutex
	kept  map[string]*datafile.File
	reads int
}

func (x *sharing) open(ctx context.Context, s objects.Store, name string) (*datafile.File, error) {
	r, err := s.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if f := x.kept[name]; f != nil {
		return f.With(r), nil
	}
	f, err := datafile.Read(ctx, r)
	if err != nil {
		r.Close()
		return nil, err
	}
	x.reads++
	x.kept[name] = f.With(nil)
	return f, nil
}

// Files whose metadata is shared read the same, scan after scan.
func TestSharedFiles(t *testing.T) {
	for _, name := range []string{"shared_types_20", "shared_types_21", "shared_types_22", "shared_deletions"} {
		x := &sharing{kept: make(map[string]*datafile.File)}
		tab := openFixture(t, name)
		_, want, err := scanAll(t, tab, Options{})
		if err != nil {
			t.Fatal(err)
		}
		schema, err := SchemaOf(tab, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			got, batches, err := scanAll(t, tab, Options{Files: x.open})
			if err != nil {
				t.Fatal(err)
			}
			if !got.Equal(schema) {
				t.Errorf("%s: the scan has schema %s, SchemaOf says %s", name, got, schema)
			}
			all := joined(t, schema, want)
			check(t, got, batches, all, 0, all.NumRows())
		}
		if x.reads != len(x.kept) || x.reads == 0 {
			t.Errorf("%s: metadata of %d files was read %d times", name, len(x.kept), x.reads)
		}
	}
}

func TestFilesThatDontOpen(t *testing.T) {
	no := errors.New("no")
	_, _, err := scanAll(t, openFixture(t, "shared_types_22"), Options{
		Files: func(context.Context, objects.Store, string) (*datafile.File, error) { return nil, no }})
	if !errors.Is(err, no) {
		t.Errorf("error %v", err)
	}
	if _, err := SchemaOf(openFixture(t, "shared_types_22"), Options{Columns: []string{"no such column"}}); err == nil {
		t.Error("a schema of columns that are not there")
	}
}
