package catalog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seaweedfs/seaweedfs/weed/s3api/s3tables"
)

// TestEach: what is found, and what is left out without a word.
func TestEach(t *testing.T) {
	f := newFake(t)
	f.bucket("lab", "LANCE")
	f.lance("lab/ml/vectors")
	f.lance("lab/ml.deep.er/faces")
	renamed := f.table("lab/ml/new-name", "LANCE", "s3://lab/ml/old_name")
	delete(renamed.Extended, s3tables.ExtendedKeyEntryType) // as old records lack it
	f.written("lab/ml/old_name")
	f.table("lab/ml/unwritten", "LANCE", "")
	f.file("/buckets/lab/ml/unwritten/.lance-reserved")
	f.dir("/buckets/lab/ml/unwritten/data")
	f.lance("lab/ml/deregistered")
	f.file("/buckets/lab/ml/deregistered/.lance-deregistered")
	f.lance("lab/ml/view").Extended[s3tables.ExtendedKeyEntryType] = []byte("view")
	f.lance("lab/ml/creating").Extended[s3tables.ExtendedKeyDeleting] = []byte("create")
	f.lance("lab/ml/renaming").Extended[s3tables.ExtendedKeyDeleting] = []byte("rename-dest")
	f.table("lab/ml/iceberg", "ICEBERG", "s3://lab/ml/iceberg/metadata/v1.metadata.json")
	f.dir("/buckets/lab/ml/plain")
	f.file("/buckets/lab/ml/file")
	f.file("/buckets/lab/file")
	f.lance("lab/.hidden/x")
	f.lance("lab/Not-A-Namespace/x")
	f.bucket("ice", "ICEBERG")
	f.lance("ice/ml/vectors")
	f.bucket("old", `{"name":"old"}`)
	f.lance("old/ml/vectors")
	f.dir("/buckets/ordinary")
	f.lance("ordinary/ml/vectors")
	f.file("/buckets/stray")
	want := []string{
		"lab/ml/new-name -> /buckets/lab/ml/old_name",
		"lab/ml/vectors -> /buckets/lab/ml/vectors",
		"lab/ml.deep.er/faces -> /buckets/lab/ml.deep.er/faces",
		"old/ml/vectors -> /buckets/old/ml/vectors",
	}
	if got := f.sweep(); !slices.Equal(got, want) {
		t.Errorf("found\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	err := New(f).Each(t.Context(), func(table Table) error {
		if table.Name == "faces" {
			if want := []string{"lab", "ml", "deep", "er", "faces"}; !slices.Equal(table.ID, want) || !slices.Equal(table.Namespace, want[1:4]) {
				t.Errorf("%+v", table)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestPages: more buckets, namespaces and tables than fit in a page, in one
// call for each page and one for each table.
func TestPages(t *testing.T) {
	f := newFake(t)
	const n = pageSize + 1
	for i := range n {
		f.bucket(fmt.Sprintf("b%04d", i), "LANCE")
	}
	for i := range n {
		f.lance(fmt.Sprintf("b0000/ns%04d/t", i))
		f.lance(fmt.Sprintf("b0001/ns/t%04d", i))
	}
	got := f.sweep()
	if len(got) != 2*n || !slices.IsSorted(got) {
		t.Errorf("%d tables, want %d in order", len(got), 2*n)
	}
	counts := map[string]int{}
	for _, call := range f.calls {
		counts[call]++
	}
	for call, want := range map[string]int{"list /buckets": 2, "list /buckets/b0000": 2, "list /buckets/b0001/ns": 2, "list /buckets/b0001/ns/t0000": 1, "list /buckets/b0200": 1} {
		if counts[call] != want {
			t.Errorf("%s: %d times, want %d", call, counts[call], want)
		}
	}
	// Buckets 2, namespaces n+2 (b0000 in two pages, the others one each), n
	// namespaces of one page and one of two, 2n tables.
	if want := 2 + (n + 1) + (n + 2) + 2*n; len(f.calls) != want {
		t.Errorf("%d calls, want %d", len(f.calls), want)
	}
}

// TestListingFails: a sweep in which a listing failed has failed.
func TestListingFails(t *testing.T) {
	broken := errors.New("broken")
	for _, at := range []string{"/buckets", "/buckets/lab", "/buckets/lab/ml", "/buckets/lab/ml/vectors"} {
		f := newFake(t)
		f.bucket("lab", "LANCE")
		f.lance("lab/ml/vectors")
		f.fail[at] = broken
		if got, err := f.trySweep(); !errors.Is(err, broken) {
			t.Errorf("%s: %q, %v", at, got, err)
		}
		f.fail["/buckets/lab"] = f.fail[at]
		if _, err := New(f).Find(t.Context(), []string{"lab", "ml", "vectors"}); !errors.Is(err, broken) {
			t.Errorf("Find with %s: %v", at, err)
		}
	}
	f := newFake(t)
	f.bucket("lab", "LANCE")
	f.lance("lab/ml/vectors")
	f.lance("lab/ml/x")
	stop := errors.New("stop")
	n := 0
	err := New(f).Each(t.Context(), func(Table) error { n++; return stop })
	if !errors.Is(err, stop) || n != 1 {
		t.Errorf("yield's error: %v after %d", err, n)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := New(f).Each(ctx, func(Table) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestLargeDirectory: a dataset directory with so much in it that one page does
// not reach the versions is not taken for unwritten.
func TestLargeDirectory(t *testing.T) {
	f := newFake(t)
	f.bucket("lab", "LANCE")
	f.lance("lab/ml/vectors")
	for i := range headPage {
		f.file(fmt.Sprintf("/buckets/lab/ml/vectors/0%03d", i))
	}
	if got := f.sweep(); len(got) != 1 {
		t.Errorf("found %q", got)
	}
}

func TestFind(t *testing.T) {
	f := newFake(t)
	f.bucket("lab", "LANCE")
	f.lance("lab/ml.deep/vectors")
	f.table("lab/ml/unwritten", "LANCE", "")
	f.lance("lab/ml/deregistered")
	f.file("/buckets/lab/ml/deregistered/.lance-deregistered")
	f.table("lab/ml/iceberg", "ICEBERG", "")
	f.lance("lab/ml/creating").Extended[s3tables.ExtendedKeyDeleting] = []byte("create")
	f.bucket("ice", "ICEBERG")
	f.lance("ice/ml/vectors")
	for at, want := range map[string]string{
		"lab/ml.deep/vectors": "/buckets/lab/ml.deep/vectors",
		"lab/ml/unwritten":    "/buckets/lab/ml/unwritten",
		"lab/ml/deregistered": "",
		"lab/ml/iceberg":      "",
		"lab/ml/creating":     "",
		"lab/ml/none":         "",
		"lab/none/vectors":    "",
		"none/ml/vectors":     "",
		"ice/ml/vectors":      "",
	} {
		id, err := ParsePath(at)
		if err != nil {
			t.Fatal(err)
		}
		found, err := New(f).Find(t.Context(), id)
		if want == "" {
			if !errors.Is(err, ErrNotFound) {
				t.Errorf("%s: %+v, %v", at, found, err)
			}
			continue
		}
		if err != nil || found.Dir != want || found.Refused != "" || found.String() != at {
			t.Errorf("%s: %+v, %v", at, found, err)
		}
	}
}

func TestParsePath(t *testing.T) {
	id, err := ParsePath("lab/a.b.c/vec_tors-1")
	if err != nil || !slices.Equal(id, []string{"lab", "a", "b", "c", "vec_tors-1"}) {
		t.Errorf("%q, %v", id, err)
	}
	for _, bad := range []string{"", "lab", "lab/ml", "lab/ml/x/y", "lab//x", "/ml/x", "lab/ml/", "lab/../x", "../ml/x", "lab/ml/..", "lab/ml/X", "lab/a..b/x", "lab/.a/x", "LAB/ml/x", "lab/ml/a b"} {
		if id, err := ParsePath(bad); err == nil {
			t.Errorf("%q: %q", bad, id)
		}
	}
	f := newFake(t)
	for _, bad := range [][]string{nil, {"lab", "x"}, {"lab", "a.b", "x"}, {"lab", "..", "x"}, {"lab", "ml", "../x"}, {"a/b", "ml", "x"}} {
		if _, err := New(f).Find(t.Context(), bad); err == nil || len(f.calls) > 0 {
			t.Errorf("%q: %v, calls %q", bad, err, f.calls)
		}
	}
}
