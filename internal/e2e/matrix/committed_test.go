package matrix_test

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/e2e/matrix"
	"github.com/seaweedfs/seaweed-lance/internal/lance/scan"
)

// pages is where the committed part of the matrix lies.
const pages = "../../../testdata/pages"

// fixture is one committed table.
type fixture struct {
	// dir holds the table as "t", and what is wanted beside it.
	dir, name string
}

// committed lists the tables by their directory.
func committed(tb testing.TB) []fixture {
	tb.Helper()
	f, err := os.Open(filepath.Join(pages, "cells.tsv"))
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	var out []fixture
	for lines := bufio.NewScanner(f); lines.Scan(); {
		part := strings.Split(lines.Text(), "\t")
		out = append(out, fixture{filepath.Join(pages, part[0]), part[2]})
	}
	if len(out) == 0 {
		tb.Fatal("no tables")
	}
	return out
}

// TestCommitted reads the committed part of the matrix: whole, and in ranges of rows.
func TestCommitted(t *testing.T) {
	var tally matrix.Tally
	for _, f := range committed(t) {
		t.Run(filepath.Base(f.dir), func(t *testing.T) {
			tbl := open(t, filepath.Join(f.dir, "t"))
			if err := tally.Add(t.Context(), tbl); err != nil {
				t.Errorf("%s: pages: %v", f.name, err)
			}
			for file, blobs := range map[string]bool{"want.arrow": false, "bytes.arrow": true} {
				want, err := matrix.ReadFile(filepath.Join(f.dir, file))
				if blobs && os.IsNotExist(err) {
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				if err := compare(t.Context(), tbl, want, f.name, scan.Options{BlobBytes: blobs}); err != nil {
					t.Errorf("%s: %s: %v", f.name, file, err)
				}
			}
		})
	}
	requires(t, &tally)
	t.Logf("%d pages with:\n%s", tally.Pages, &tally)
}
