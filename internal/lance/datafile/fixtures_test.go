package datafile

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
	"github.com/seaweedfs/seaweed-lance/internal/objects/dirstore"
)

// dataFiles are data files of testdata, by their size: for each size one.
func dataFiles(tb testing.TB) map[string][]byte {
	tb.Helper()
	const root = "../../../testdata"
	out := make(map[string][]byte)
	sizes := make(map[int64]bool)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".lance") || filepath.Base(filepath.Dir(path)) != "data" {
			return err
		}
		fi, err := d.Info()
		if err != nil || sizes[fi.Size()] {
			return err
		}
		sizes[fi.Size()] = true
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		out[filepath.ToSlash(rel)], err = os.ReadFile(path)
		return err
	})
	if err != nil || len(out) == 0 {
		tb.Fatalf("looking for data files below %s: %d found, %v", root, len(out), err)
	}
	return out
}

// put makes a store that holds one object.
func put(tb testing.TB, b []byte) objects.Store {
	tb.Helper()
	s, err := dirstore.New(tb.TempDir(), dirstore.Options{NoSync: true})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { s.Close() })
	if err := s.Publish(tb.Context(), name, b); err != nil {
		tb.Fatal(err)
	}
	return s
}

const name = "data/file.lance"
