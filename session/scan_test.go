package session

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/lancetest"
)

func fixture(name string) Location { return Directory(filepath.Join(lancetest.Root(), name)) }

// Projection, range and limit.
func TestScanOptions(t *testing.T) {
	tab := open(t, newSession(t, Options{}), fixture("many_appends"))
	column := "id"
	schema, err := tab.Schema()
	if err != nil {
		t.Fatal(err)
	}
	if len(schema.FieldIndices(column)) == 0 {
		column = schema.Field(0).Name
	}
	limit := uint64(60)
	s, err := tab.Scan(t.Context(), ScanOptions{Columns: []string{column}, RowAddress: true, Offset: 30, Limit: &limit, BatchRows: 10, Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if n := s.Schema().NumFields(); n != 2 || s.Schema().Field(0).Name != column {
		t.Errorf("schema %s", s.Schema())
	}
	at := uint64(30)
	for b, err := range s.All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if b.NumRows() > 10 {
			t.Errorf("a batch of %d rows", b.NumRows())
		}
		for _, address := range b.Column(1).(*array.Uint64).Uint64Values() {
			if want := at/25<<32 | at%25; address != want {
				t.Errorf("row %d has address %x, want %x", at, address, want)
			}
			at++
		}
	}
	if at != 90 {
		t.Errorf("rows up to %d", at)
	}
	if _, err := s.Next(t.Context()); !errors.Is(err, io.EOF) {
		t.Errorf("error %v at the end", err)
	}
	if _, err := tab.Scan(t.Context(), ScanOptions{Columns: []string{"no such column"}}); err == nil {
		t.Error("a scan of a column that is not there")
	}
}

// A loop that is left early leaves the scan to its Close.
func TestScanLeftEarly(t *testing.T) {
	tab := open(t, newSession(t, Options{}), fixture("many_appends"))
	s, err := tab.Scan(t.Context(), ScanOptions{BatchRows: 1})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, err := range s.All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if n++; n == 3 {
			break
		}
	}
	if err := s.Close(); err != nil || n != 3 {
		t.Errorf("%d batches, error %v", n, err)
	}
}

func TestFragments(t *testing.T) {
	tab := open(t, newSession(t, Options{}), fixture("deletions"))
	var rows, deleted uint64
	for _, f := range tab.Fragments() {
		rows, deleted = rows+f.Rows, deleted+f.Deleted
		if f.Files != 1 || f.Bytes == 0 {
			t.Errorf("%+v", f)
		}
	}
	if deleted == 0 || rows-deleted != tab.Rows() {
		t.Errorf("%d rows, %d of them deleted, but %d live ones", rows, deleted, tab.Rows())
	}
}

// A damaged file is ErrCorrupt, whichever part of the engine found it.
func TestCorrupt(t *testing.T) {
	w := newWorld(t)
	w.put("types_22", 1)
	s := newSession(t, Options{})
	tab := open(t, s, w.location())
	name := filepath.Join(w.dir, "data", tab.t.Fragments()[0].GetFiles()[0].GetPath())
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)-1] ^= 0xff
	if err := os.WriteFile(name, b, 0o666); err != nil {
		t.Fatal(err)
	}
	before := s.Stats().Metadata.Entries
	if _, err := text(t.Context(), tab); !errors.Is(err, ErrCorrupt) || !errors.Is(err, datafile.ErrCorrupt) {
		t.Errorf("error %v", err)
	}
	if s.Stats().Metadata.Entries != before {
		t.Error("metadata of a damaged file is kept")
	}
}

// A file that took the place of another under its name has its own metadata.
func TestReplacedFile(t *testing.T) {
	w := newWorld(t)
	w.put("types_22", 1)
	s := newSession(t, Options{})
	tab := open(t, s, w.location())
	name := "data/" + tab.t.Fragments()[0].GetFiles()[0].GetPath()
	end := func() uint64 {
		t.Helper()
		f, err := tab.openFile(t.Context(), tab.t.Store(), name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		return f.DataEnd
	}
	first := end()
	if again := end(); again != first || s.Stats().Metadata.Hits != 1 {
		t.Errorf("data ends at %d, then at %d; %+v", first, again, s.Stats().Metadata)
	}
	others, err := filepath.Glob(filepath.Join(lancetest.Root(), "types_20", "data", "*.lance"))
	if err != nil || len(others) == 0 {
		t.Fatalf("%d files, error %v", len(others), err)
	}
	if err := copyFile(others[0], filepath.Join(w.dir, name)); err != nil {
		t.Fatal(err)
	}
	if replaced := end(); replaced == first || s.Stats().Metadata.Hits != 1 {
		t.Errorf("data of another file ends at %d, too; %+v", replaced, s.Stats().Metadata)
	}
}

// What would be answered with something else than was asked for is refused.
func TestScanOptionsRefused(t *testing.T) {
	w := newWorld(t)
	w.put("many_appends", 0)
	tab := open(t, newSession(t, Options{}), w.location())
	schema, err := tab.Schema()
	if err != nil {
		t.Fatal(err)
	}
	name := schema.Field(0).Name
	for want, o := range map[string]ScanOptions{
		"twice":          {Columns: []string{name, name}},
		"no fragment 99": {Fragments: []uint64{0, 99}},
		"negative":       {BatchRows: -1},
		"bounds":         {ReadAhead: -1},
		"threads":        {Threads: -1},
		"batch":          {BatchBytes: -1},
		"no such column": {Columns: []string{"nope"}},
	} {
		if s, err := tab.Scan(t.Context(), o); err == nil || want != "no such column" && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, error %v", want, s, err)
		}
	}
}

// A place without a table is not one whose table has just changed.
func TestNoTableIsNotGone(t *testing.T) {
	s := newSession(t, Options{})
	for _, dir := range []string{t.TempDir(), filepath.Join(t.TempDir(), "missing")} {
		if _, err := s.Open(t.Context(), Directory(dir)); !errors.Is(err, ErrNoTable) || errors.Is(err, ErrGone) {
			t.Errorf("error %v", err)
		}
	}
}
