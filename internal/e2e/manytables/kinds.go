// Package manytables fills a table bucket of a cluster with many small tables, fast enough
// for tests of what thousands of them cost.
//
// Of each kind the first table is made as anybody's: declared at the Lance namespace, written
// through the S3 gateway. The others are made of its entries on the filer, under names and marks of
// their own. They share its chunks, so their files must not be removed: a table that a
// test changes is to be made by Lake.Make.
package manytables

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects/dirstore"
)

// Kind is what a table is to hold.
type Kind struct {
	Name string
	// Files by their names in the table.
	Files map[string][]byte
}

// appended is the table of testdata that grows by a fragment with each of its versions.
const appended = "many_appends"

// Kinds are small tables out of testdata, whose directory root is: of one to twelve versions
// and fragments, with manifests of both naming schemes, deletions, indices, tags; one in
// ten would be compacted. Among as many tables as there are kinds, each is there once.
func Kinds(root string) ([]Kind, error) {
	var kinds []Kind
	for _, name := range []string{
		"types_22", "types_21", "types_20", "deletions", "deletion_bitmap", "stable_ids", "indexed",
		"columns_changed", "configured", "lance_10", "v1_names", "no_rows",
	} {
		files, err := read(filepath.Join(root, name))
		if err != nil {
			return nil, err
		}
		kinds = append(kinds, Kind{name, files})
	}
	for _, n := range []uint64{1, 2, 3, 4, 5, 6, 8, 12} {
		k, err := Appends(root, n)
		if err != nil {
			return nil, err
		}
		kinds = append(kinds, k)
	}
	return kinds, nil
}

// Appends is a table of n versions and n fragments; one of more of them holds all files of one
// of fewer, but for the hint.
func Appends(root string, n uint64) (Kind, error) {
	dir := filepath.Join(root, appended)
	files, err := read(dir)
	if err != nil {
		return Kind{}, err
	}
	store, err := dirstore.New(dir, dirstore.Options{})
	if err != nil {
		return Kind{}, err
	}
	ctx := context.Background()
	versions, err := table.ListVersions(ctx, store)
	if err != nil {
		return Kind{}, err
	}
	t, err := table.OpenVersion(ctx, store, versions.Naming, n)
	if err != nil {
		return Kind{}, fmt.Errorf("version %d of %s: %w", n, appended, err)
	}
	named := map[string]bool{table.HintName: true}
	for _, ref := range versions.Versions {
		named[ref.Name] = ref.Version <= n
	}
	for _, f := range t.Fragments() {
		for _, file := range f.GetFiles() {
			named["data/"+file.GetPath()] = true
		}
	}
	maps.DeleteFunc(files, func(name string, _ []byte) bool { return !named[name] && !within(name, n) })
	files[table.HintName] = fmt.Appendf(nil, `{"version":%d}`, n)
	return Kind{fmt.Sprintf("appends_%d", n), files}, nil
}

// within tells whether a file that no manifest names was there at version n.
func within(name string, n uint64) bool {
	dir, base := path.Split(name)
	switch {
	case dir == "_transactions/":
		// It is named after the version that it was made from.
		of, _, _ := strings.Cut(base, "-")
		from, err := strconv.ParseUint(of, 10, 64)
		return err == nil && from < n
	case strings.HasPrefix(dir, "_refs/"):
		return n >= 5 // the version that is tagged
	default:
		return false
	}
}

func read(dir string) (map[string][]byte, error) {
	files := make(map[string][]byte)
	tree := os.DirFS(dir)
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files[name], err = fs.ReadFile(tree, name)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading a table of testdata: %w", err)
	}
	return files, nil
}
