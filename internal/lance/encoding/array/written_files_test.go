package array

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// rewrite writes the rows of a file anew, in arrays of so many rows.
func rewrite(tb testing.TB, fx *fixture, pageBytes int64, batch int) []byte {
	s := sink{spec: fileSpec{schema: fx.file.Descriptor.GetSchema()}}
	rows := int(fx.rows.NumRows())
	for i, f := range fields(fx.rows.Schema()) {
		all := fx.column(tb, i)
		var parts []arrow.Array
		for at := 0; at < rows; at += batch {
			parts = append(parts, array.NewSlice(all, int64(at), int64(min(at+batch, rows))))
		}
		s.add(tb, f, pageBytes, parts...)
	}
	return s.file(tb, rows)
}

// TestWritten makes sure that the files in testdata/written, which Lance was asked about, are those that the writer makes.
func TestWritten(t *testing.T) {
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			raw := rewrite(t, readFixture(t, "14.0.2", kind), 1500, 100)
			path := filepath.Join("testdata", "written", kind+".lance")
			if *update {
				if err := os.WriteFile(path, raw, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if on, err := os.ReadFile(path); err != nil || !bytes.Equal(on, raw) {
				t.Errorf("%s is not what the writer makes (-update writes it): %v", path, err)
			}
		})
	}
}

// TestRewrite writes files of other rows, for Lance to read: for each NAME.lance and NAME.arrow in the folder, NAME.ours.
func TestRewrite(t *testing.T) {
	if *folder == "" {
		t.Skip("no -rewrite")
	}
	all, err := filepath.Glob(filepath.Join(*folder, "*.arrow"))
	if err != nil || len(all) == 0 {
		t.Fatalf("nothing in %s: %v", *folder, err)
	}
	for _, path := range all {
		name := strings.TrimSuffix(path, ".arrow")
		rows, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		lance, err := os.ReadFile(name + ".lance")
		if err != nil {
			t.Fatal(err)
		}
		raw := rewrite(t, &fixture{lance, openBytes(t, lance), readArrow(t, rows)}, *pageSize, 8192)
		if err := os.WriteFile(name+".ours", raw, 0o644); err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d bytes, Lance has %d: %.4f", filepath.Base(name), len(raw), len(lance), float64(len(raw))/float64(len(lance)))
	}
}
