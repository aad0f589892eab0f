package catalog

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/seaweedfs/seaweedfs/weed/pb/filer_pb"
	"github.com/seaweedfs/seaweedfs/weed/s3api/s3tables"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// fakeFiler is a filer's entries in memory.
type fakeFiler struct {
	t       *testing.T
	entries map[string]*filer_pb.Entry
	// fail makes listings and lookups of a path fail.
	fail  map[string]error
	calls []string
}

func newFake(t *testing.T) *fakeFiler {
	return &fakeFiler{t: t, entries: map[string]*filer_pb.Entry{}, fail: map[string]error{}}
}

func (f *fakeFiler) ListEntries(ctx context.Context, dir, from string, limit int) ([]*filer_pb.Entry, error) {
	f.calls = append(f.calls, "list "+dir)
	if err := f.fail[dir]; err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var page []*filer_pb.Entry
	for name, e := range f.entries {
		if path.Dir(name) == dir && e.Name >= from {
			page = append(page, e)
		}
	}
	slices.SortFunc(page, func(a, b *filer_pb.Entry) int { return strings.Compare(a.Name, b.Name) })
	return page[:min(limit, len(page))], nil
}

func (f *fakeFiler) LookupEntry(_ context.Context, dir, name string) (*filer_pb.Entry, error) {
	full := path.Join(dir, name)
	f.calls = append(f.calls, "look "+full)
	if err := f.fail[full]; err != nil {
		return nil, err
	}
	if e := f.entries[full]; e != nil {
		return e, nil
	}
	return nil, fmt.Errorf("looking up %s: %w", full, objects.ErrNotFound)
}

// dir makes a directory, and those above it.
func (f *fakeFiler) dir(name string, attrs ...string) *filer_pb.Entry {
	for d := path.Dir(name); d != "/"; d = path.Dir(d) {
		if f.entries[d] == nil {
			f.entries[d] = &filer_pb.Entry{Name: path.Base(d), IsDirectory: true}
		}
	}
	e := &filer_pb.Entry{Name: path.Base(name), IsDirectory: true, Extended: map[string][]byte{}}
	for i := 0; i < len(attrs); i += 2 {
		e.Extended[attrs[i]] = []byte(attrs[i+1])
	}
	f.entries[name] = e
	return e
}

// bucket makes a table bucket; record is its format, or its whole record when
// it begins with a brace.
func (f *fakeFiler) bucket(name, record string) *filer_pb.Entry {
	if !strings.HasPrefix(record, "{") {
		record = fmt.Sprintf(`{"name":%q,"format":%q}`, name, record)
	}
	return f.dir("/buckets/"+name, s3tables.ExtendedKeyTableBucket, "true", s3tables.ExtendedKeyMetadata, record)
}

// table makes a record at bucket/namespace/name. An empty location is the
// place itself, as the Lance namespace declares it.
func (f *fakeFiler) table(at, format, location string) *filer_pb.Entry {
	if location == "" {
		location = "s3://" + at
	}
	record, err := json.Marshal(map[string]any{"name": path.Base(at), "format": format, "metadataLocation": location, "metadataVersion": 1})
	if err != nil {
		f.t.Fatal(err)
	}
	return f.dir("/buckets/"+at, s3tables.ExtendedKeyEntryType, "table", s3tables.ExtendedKeyMetadata, string(record))
}

// written gives a dataset directory its versions.
func (f *fakeFiler) written(at string) { f.dir("/buckets/" + at + "/_versions") }

func (f *fakeFiler) file(name string) {
	f.dir(name).IsDirectory = false
}

// lance makes a Lance table that holds something.
func (f *fakeFiler) lance(at string) *filer_pb.Entry {
	e := f.table(at, "LANCE", "")
	f.written(at)
	return e
}

// sweep runs Each and returns what it yielded, as "path -> dir" or "path: reason".
func (f *fakeFiler) sweep() []string {
	f.t.Helper()
	got, err := f.trySweep()
	if err != nil {
		f.t.Fatal(err)
	}
	return got
}

func (f *fakeFiler) trySweep() ([]string, error) {
	var got []string
	err := New(f).Each(f.t.Context(), func(t Table) error {
		line := t.String()
		if t.Refused != "" {
			line += ": " + t.Refused
		} else {
			line += " -> " + t.Dir
		}
		got = append(got, line)
		return nil
	})
	return got, err
}
