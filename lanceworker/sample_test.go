package lanceworker

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/lanceworker/internal/pins"
	"github.com/seaweedfs/seaweed-lance/lease"
	"github.com/seaweedfs/seaweed-lance/session"
)

// realTable is a table that Lance wrote.
func realTable(t *testing.T, name string) session.Location {
	t.Helper()
	return session.Directory(copyOf(t, name))
}

// copyOf is a copy of a table that Lance wrote.
func copyOf(t *testing.T, name string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("..", "testdata", name))); err != nil {
		t.Fatal(err)
	}
	return dir
}

// newPins are pins that leave nothing behind.
func newPins(t *testing.T) pins.Pins {
	t.Helper()
	s, err := session.New(session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p := pins.Pins{Session: s, Leases: lease.New(lease.Options{})}
	t.Cleanup(func() {
		if err := p.Leases.Close(context.Background()); err != nil {
			t.Error(err)
		}
		s.Close()
	})
	return p
}

func TestSample(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	b := sampler{columns: previewColumns, bytes: previewBytes}
	for _, name := range []string{"types_20", "types_21", "types_22"} {
		s, err := b.read(t.Context(), newPins(t), realTable(t, name), 25)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if s.total != 60 || len(s.rows) != 25 || len(s.columns) < 19 {
			t.Fatalf("%s: %d of %d rows of %d columns", name, len(s.rows), s.total, len(s.columns))
		}
		// Row 4 is the first with nulls, row 21 in the second fragment.
		for column, want := range map[string][2]string{
			"id": {"4", "21"}, "i8": {"", "21"}, "text": {"", ""}, "flag": {"", "false"}, "struct": {`{"a": 4, "b": null}`, `{"a": 21, "b": "s21"}`},
			"list": {"", "[0]"}, "dec": {"", "5.25"}, "ts": {"2024-01-01T00:00:04Z", "2024-01-01T00:00:21Z"}, "bin": {"", "3 bytes: 151515"},
		} {
			k := slices.Index(s.columns, column)
			if got := [2]string{s.rows[4][k], s.rows[21][k]}; got != want {
				t.Errorf("%s: column %s has %q, want %q", name, column, got, want)
			}
		}
		if v := s.rows[0][slices.Index(s.columns, "vec")]; !strings.HasSuffix(v, ", … 128 values]") {
			t.Errorf("%s: a vector is shown as %s", name, v)
		}
	}
}

func TestSampleIsBounded(t *testing.T) {
	s, err := sampler{columns: 3, bytes: 1 << 20}.read(t.Context(), newPins(t), realTable(t, "types_22"), 200)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(s.columns, []string{"id", "i8", "u32", "… 17 more columns"}) || len(s.rows) != 60 || !slices.Equal(s.rows[7], []string{"7", "7", "7", ""}) {
		t.Errorf("columns %q, %d rows", s.columns, len(s.rows))
	}
	s, err = sampler{columns: 100, bytes: 2000}.read(t.Context(), newPins(t), realTable(t, "types_22"), 200)
	if err != nil || len(s.rows) == 0 || len(s.rows) > 10 || s.total != 60 {
		t.Errorf("%d of %d rows in 2000 bytes, %v", len(s.rows), s.total, err)
	}
	for _, row := range s.rows {
		for _, cell := range row {
			if len(cell) > 200 {
				t.Errorf("admin would cut %s", cell)
			}
		}
	}
}

func TestSampleErrors(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	b := sampler{columns: previewColumns, bytes: previewBytes}
	empty := session.Directory(t.TempDir())
	if _, err := b.read(t.Context(), newPins(t), empty, 5); !errors.Is(err, table.ErrNoTable) {
		t.Errorf("no table: %v", err)
	}
	if s, err := b.read(t.Context(), newPins(t), realTable(t, "no_rows"), 5); err != nil || len(s.rows) != 0 || len(s.columns) != 3 {
		t.Errorf("no rows: %+v, %v", s, err)
	}
	dir := copyOf(t, "many_appends")
	files, err := filepath.Glob(filepath.Join(dir, "data", "*.lance"))
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	for _, f := range files {
		if err := os.Truncate(f, 100); err != nil {
			t.Fatal(err)
		}
	}
	cut := session.Directory(dir)
	if _, err := b.read(t.Context(), newPins(t), cut, 5); err == nil || !strings.Contains(err.Error(), ".lance") {
		t.Errorf("files cut off: %v", err)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.read(over, newPins(t), realTable(t, "types_22"), 5); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
