package encoding

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/slab"
	"github.com/seaweedfs/seaweed-lance/internal/lance/lancetest"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
)

// TestKeepMatrix keeps rows of the files of all tables with pages of many kinds. What is left, as our readers find it, are
// the rows that the same readers find in the file before.
func TestKeepMatrix(t *testing.T) {
	defer slab.Hold()() // what uses memory after it was given back finds other bytes in it
	names, err := filepath.Glob("../../../testdata/pages/*/t/data/*.lance")
	if err != nil || len(names) == 0 {
		t.Fatal("no files", err)
	}
	rnd := rand.New(rand.NewPCG(3, 2))
	done, anew := 0, map[string]int{}
	for _, path := range names {
		f, err := datafile.Open(t.Context(), lancetest.Dir(t, filepath.Dir(path), nil), filepath.Base(path))
		if err != nil {
			t.Fatal(err)
		}
		before := readersOf(t, f)
		n := f.Descriptor.GetLength()
		if n == 0 || before == nil {
			f.Close()
			continue // without rows, or with blobs
		}
		all := len(before)
		for name, r := range before {
			// Pages whose dictionaries, each narrow, don't fit into one array.
			if a, err := r.Read(t.Context(), fileSource{f}, 0, n, 1<<30); errors.Is(err, column.ErrLimit) {
				delete(before, name)
			} else if err == nil {
				a.Release()
			}
		}
		if len(before) < all {
			f.Close()
			continue
		}
		read := func(name string) (arrow.Array, error) {
			return before[name].Read(t.Context(), fileSource{f}, 0, n, 1<<30)
		}
		for kind := range 4 {
			keep := holes(rnd, n, kind)
			if keep, err = column.CheckRanges(nonEmpty(keep), n); err != nil || len(keep) == 0 {
				continue
			}
			dir := t.TempDir()
			k := &fileKeeper{from: f, keep: keep, column: read}
			k.write(t, filepath.Join(dir, "x.lance"))
			done += k.done
			for _, name := range k.anew {
				anew[path+" "+name+" "+fmt.Sprint(before[name].Pages()[0])]++
			}
			after, readers := open(t, dir)
			tree, _ := table.FieldsOf(after.Descriptor.GetSchema().GetFields())
			if *keepTo != "" {
				export(t, tree, read, keep, path, filepath.Join(dir, "x.lance"), filepath.Join(*keepTo, strings.ReplaceAll(strings.Split(path, "pages/")[1], "/", "_")))
			}
			for i, r := range readers {
				all, err := read(tree[i].Name)
				if err != nil {
					t.Fatal(err)
				}
				got, err := r.Read(t.Context(), fileSource{after}, 0, column.RowsOf(keep), 1<<30)
				if err != nil {
					t.Fatalf("%s, %s: %v", path, tree[i].Name, err)
				}
				at := int64(0)
				for _, x := range keep {
					want := array.NewSlice(all, int64(x.From), int64(x.To))
					have := array.NewSlice(got, at, at+int64(want.Len()))
					if !sameRows(want, have) {
						t.Fatalf("%s, %s, rows %d to %d of %v: %v, want %v", path, tree[i].Name, x.From, x.To, keep, have, want)
					}
					at += int64(want.Len())
					want.Release()
					have.Release()
				}
				got.Release()
				all.Release()
			}
			after.Close()
		}
		f.Close()
	}
	left := 0
	for what, n := range anew {
		left += n
		t.Logf("anew: %s", what)
	}
	t.Logf("%d columns kept, %d not", done, left)
	if done < 3*left {
		t.Errorf("%d columns kept, %d not", done, left)
	}
}

// export writes what was kept, and its rows, for Lance.
func export(t *testing.T, tree []*table.Field, read func(string) (arrow.Array, error), keep []column.Range, before, kept, to string) {
	t.Helper()
	schema := (&table.Schema{Fields: tree}).Arrow()
	var columns []arrow.Array
	for _, f := range tree {
		a, err := read(f.Name)
		if err != nil {
			t.Fatal(err)
		}
		columns = append(columns, a)
	}
	to = fmt.Sprintf("%s-%d", strings.TrimSuffix(to, ".lance"), len(keep))
	copyFile(t, kept, to+".ours")
	copyFile(t, before, to+".lance")
	all := array.NewRecordBatch(schema, columns, int64(columns[0].Len()))
	writeRows(t, array.NewTableFromRecords(schema, []arrow.RecordBatch{all}), keep, to+".arrow")
}

// sameRows compares values, whatever dictionaries they are in, and whatever is not a number.
func sameRows(a, b arrow.Array) bool {
	if array.Equal(a, b) {
		return true
	}
	for i := range a.Len() {
		if a.IsNull(i) != b.IsNull(i) || a.ValueStr(i) != b.ValueStr(i) {
			return false
		}
	}
	return true
}

// nonEmpty leaves out ranges without rows.
func nonEmpty(keep []column.Range) (out []column.Range) {
	for _, r := range keep {
		if r.From < r.To {
			out = append(out, r)
		}
	}
	return out
}

// readersOf are the readers of a file's fields by name; nil when there are blobs.
func readersOf(t *testing.T, f *datafile.File) map[string]column.Reader {
	t.Helper()
	tree, err := table.FieldsOf(f.Descriptor.GetSchema().GetFields())
	if err != nil {
		return nil
	}
	fields, n := Place(tree, table.NormalVersion(f.Major, f.Minor))
	if n != len(f.Columns) {
		return nil
	}
	out := map[string]column.Reader{}
	for _, x := range fields {
		if hasBlobs(x) {
			return nil
		}
		r, err := Open(f, x)
		if err != nil {
			t.Fatal(err)
		}
		out[x.Name] = r
	}
	return out
}

func hasBlobs(f column.Field) bool { return f.Blob || slices.ContainsFunc(f.Children, hasBlobs) }
