package manytables

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/lance/lancetest"
	"github.com/seaweedfs/seaweed-lance/internal/lance/scan"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects/dirstore"
)

// laid is a kind as a directory.
func laid(t *testing.T, k Kind) *dirstore.Store {
	t.Helper()
	dir := t.TempDir()
	for name, content := range k.Files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s, err := dirstore.New(dir, dirstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Each kind is a whole table of the size that is promised, and all of its rows can be read.
func TestKinds(t *testing.T) {
	kinds, err := Kinds(lancetest.Root())
	if err != nil {
		t.Fatal(err)
	}
	names := make(map[table.Naming]int)
	many := 0
	for _, k := range kinds {
		s := laid(t, k)
		l, err := table.ListVersions(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		newest, err := table.Open(t.Context(), s)
		if err != nil {
			t.Fatalf("%s: %v", k.Name, err)
		}
		names[l.Naming]++
		fragments := len(newest.Fragments())
		if fragments >= 8 {
			many++
		}
		if len(l.Versions) > 12 || fragments > 12 {
			t.Errorf("%s: %d versions, %d fragments", k.Name, len(l.Versions), fragments)
		}
		if n, ok := strings.CutPrefix(k.Name, "appends_"); ok && (fmt.Sprint(len(l.Versions)) != n || fmt.Sprint(fragments) != n) {
			t.Errorf("%s: %d versions, %d fragments", k.Name, len(l.Versions), fragments)
		}
		rows, err := scan.Open(t.Context(), newest, scan.Options{})
		if err != nil {
			t.Fatalf("%s: %v", k.Name, err)
		}
		read := uint64(0)
		for read < newest.Rows() {
			batch, err := rows.Next(t.Context())
			if err != nil {
				t.Fatalf("%s after %d of %d rows: %v", k.Name, read, newest.Rows(), err)
			}
			read += uint64(batch.NumRows())
			batch.Release()
		}
		rows.Close()
	}
	if names[table.NamingV1] == 0 || names[table.NamingV2] <= 10*names[table.NamingV1] || many != len(kinds)/10 {
		t.Errorf("kinds by naming %v, of which %d have many fragments", names, many)
	}
}

// What a table of more appends has beyond one of fewer is new files alone, so that a table can be made to grow.
func TestAppends(t *testing.T) {
	few, err := Appends(lancetest.Root(), 4)
	if err != nil {
		t.Fatal(err)
	}
	more, err := Appends(lancetest.Root(), 6)
	if err != nil {
		t.Fatal(err)
	}
	added := make(map[string]int)
	for name, content := range more.Files {
		if was, ok := few.Files[name]; ok {
			if name != table.HintName && string(was) != string(content) {
				t.Errorf("%s changes", name)
			}
			continue
		}
		dir, _, _ := strings.Cut(name, "/")
		added[dir]++
	}
	if got := fmt.Sprint(added); got != "map[_refs:1 _transactions:2 _versions:2 data:2]" {
		t.Errorf("two more appends add %s", got)
	}
	for name := range few.Files {
		if _, ok := more.Files[name]; !ok {
			t.Errorf("%s goes", name)
		}
	}
	if _, err := Appends(lancetest.Root(), 1000); err == nil {
		t.Error("a table of more appends than there are")
	}
}
