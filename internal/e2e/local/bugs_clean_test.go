package local_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seaweedfs/seaweed-lance/internal/e2e/oracle"
	"github.com/seaweedfs/seaweed-lance/internal/lance/cleanup"
	"github.com/seaweedfs/seaweed-lance/internal/lance/compact"
)

// TestBug8 compacts and cleans while Lance reads an old version batch by batch: under the default policy the scan ends
// well; with nothing kept the table itself does.
func TestBug8(t *testing.T) {
	lance := oracle.Start(t, oracle.Newest)
	dir := filepath.Join(t.TempDir(), "t")
	made := lance.Make(t, "many_appends", dir, oracle.Table{})
	const begin = `
judge.held = lance.dataset(uri).scanner(batch_size=10, batch_readahead=1, fragment_readahead=1).to_batches()
result = next(judge.held).num_rows
`
	const end = `result = sum(b.num_rows for b in judge.held)`
	var first, rest int
	lance.Do(t, "run", oracle.Args{"code": begin, "uri": dir}, &first)
	before := lance.Snapshot(t, dir)
	compactNow(t, dir, 0)
	cleanNow(t, dir, cleanup.Options{Policy: cleanup.Policy{Retain: 7 * 24 * time.Hour}})
	lance.Do(t, "run", oracle.Args{"code": end}, &rest)
	if first+rest != before.Fold.Rows {
		t.Errorf("the scan gave %d and %d rows of %d", first, rest, before.Fold.Rows)
	}
	lance.Check(t, before, oracle.Both)
	cleanNow(t, dir, cleanup.Options{})
	lance.Check(t, before, oracle.Both)
	lance.OnTop(t, dir, made.Next)
}

// TestBug11 has a tag on the first version and cleans all others but the newest: every file that is left is named.
func TestBug11(t *testing.T) {
	lance := oracle.Start(t, oracle.Newest)
	dir := filepath.Join(t.TempDir(), "t")
	lance.Make(t, "many_appends", dir, oracle.Table{Fragments: 6})
	lance.Do(t, "tag", oracle.Args{"uri": dir, "name": "first", "version": 1}, nil)
	lance.Do(t, "delete", oracle.Args{"uri": dir, "where": "id % 2 = 0"}, nil)
	before := lance.Snapshot(t, dir)
	compactNow(t, dir, 0)
	cleanNow(t, dir, cleanup.Options{})
	after := lance.Check(t, before, oracle.Both)
	if unnamed := after.Unnamed(); len(unnamed) > 0 || len(after.Versions()) != 2 {
		t.Errorf("versions %v; unnamed: %v", after.Versions(), unnamed)
	}
}

// TestBug23 appends, has Lance bring the index up to date, compacts and cleans with a short retention, again and
// again: no directory of an index is stranded.
func TestBug23(t *testing.T) {
	lance := oracle.Start(t, oracle.Newest)
	dir := filepath.Join(t.TempDir(), "t")
	made := lance.Make(t, "indexed", dir, oracle.Table{})
	const again = `
lance.write_dataset(values.table(lance.dataset(uri).schema, start, 20), uri, mode="append")
lance.dataset(uri).optimize.optimize_indices()
`
	rounds := 6
	if full() {
		rounds = 20
	}
	for i := range rounds {
		lance.Do(t, "run", oracle.Args{"code": again, "uri": dir, "start": made.Next + 20*i}, nil)
		compactNow(t, dir, 0)
		// A little later, so that what has just been made is beyond the retention.
		cleanNow(t, dir, cleanup.Options{Policy: cleanup.Policy{Retain: time.Second}, Now: func() time.Time { return time.Now().Add(2 * time.Second) }})
		after := lance.Snapshot(t, dir)
		if unnamed := after.Unnamed(); len(unnamed) > 0 || len(after.Missing()) > 0 {
			t.Fatalf("round %d: unnamed: %v, missing: %v", i, unnamed, after.Missing())
		}
	}
	dirs, err := os.ReadDir(filepath.Join(dir, "_indices"))
	if err != nil || len(dirs) > 2 {
		t.Errorf("%d indices are left, error %v", len(dirs), err)
	}
	lance.OnTop(t, dir, made.Next+1000)
}

// TestBug38 points both jobs at what is no Lance table, and at one among the files of others: the first is refused, and
// of the others' files none is touched.
func TestBug38(t *testing.T) {
	lance := oracle.Start(t, oracle.Newest)
	foreign := []string{"metadata/v1.metadata.json", "metadata/snap-1.avro", "data/part-0.parquet", "_delta_log/00000000000000000000.json"}
	put := func(dir string) {
		for _, f := range foreign {
			name := filepath.Join(dir, filepath.FromSlash(f))
			if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, []byte("theirs"), 0o644); err != nil {
				t.Fatal(err)
			}
			old := time.Now().Add(-100 * 24 * time.Hour)
			if err := os.Chtimes(name, old, old); err != nil {
				t.Fatal(err)
			}
		}
	}
	root := t.TempDir()
	for name, with := range map[string]bool{"empty": false, "iceberg": true} {
		dir := filepath.Join(root, name)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if with {
			put(dir)
		}
		before := listing(t, lance, dir)
		if _, err := compact.Run(t.Context(), store(t, dir), compact.Options{}); err == nil {
			t.Errorf("%s: a compaction found a table", name)
		}
		if _, err := cleanup.Run(t.Context(), store(t, dir), cleanup.Options{}); err == nil {
			t.Errorf("%s: a cleanup found a table", name)
		}
		same(t, name, before, listing(t, lance, dir))
	}
	dir := filepath.Join(root, "both")
	lance.Make(t, "deletions", dir, oracle.Table{})
	put(dir)
	before := lance.Snapshot(t, dir)
	compactNow(t, dir, 0)
	cleanNow(t, dir, cleanup.Options{})
	change := oracle.Both
	change.Spared = func(name string) bool { return slices.Contains(foreign, name) }
	after := lance.Check(t, before, change)
	for _, f := range foreign {
		if _, ok := after.Disk[f]; !ok {
			t.Errorf("%s is gone", f)
		}
	}
}

// TestBug99 overwrites a table, whose fragments then have the ids of the former ones, and restores an old version, with
// compactions in between, all in this process: every version stays what it was.
func TestBug99(t *testing.T) {
	lance := oracle.Start(t, oracle.Newest)
	for _, stable := range []bool{false, true} {
		t.Run(fmt.Sprintf("stable=%v", stable), func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "t")
			lance.Make(t, "deletions", dir, oracle.Table{Stable: stable})
			for i, code := range []string{
				"", // as it is
				`t = values.table(lance.dataset(uri).schema, 5000, 90)
lance.write_dataset(t, uri, mode="overwrite", max_rows_per_file=30)
lance.dataset(uri).delete("id % 4 = 1")`,
				`lance.dataset(uri).checkout_version(5).restore()`,
				`lance.dataset(uri).delete("id % 3 = 0")`,
				`ds = lance.dataset(uri)
ds.checkout_version(ds.version - 1).restore()`,
			} {
				lance.Do(t, "run", oracle.Args{"code": code, "uri": dir}, nil)
				before := lance.Snapshot(t, dir)
				r := compactNow(t, dir, 0)
				if i < 4 && !r.Changed {
					t.Errorf("step %d: nothing was merged", i)
				}
				lance.CheckThat(t, fmt.Sprintf("step %d", i), before, oracle.Compacted)
				settled(t, lance, dir, 0)
			}
		})
	}
}

// TestBug14 has rows of a megabyte and a limit of eight to a file, far fewer rows than the target: once compacted,
// nothing is left to do, and appends of single rows don't have the same bytes written again and again.
func TestBug14(t *testing.T) {
	lance := oracle.Start(t, oracle.Newest)
	dir := filepath.Join(t.TempDir(), "t")
	const appendOne = `
import os
for i in ids:
    t = pa.table({"id": pa.array([i], pa.int64()), "b": pa.array([os.urandom(1 << 20)], pa.large_binary())})
    lance.write_dataset(t, uri, mode="append" if os.path.exists(uri) else "create")
`
	ids := func(from, n int) (out []int) {
		for i := range n {
			out = append(out, from+i)
		}
		return out
	}
	lance.Do(t, "run", oracle.Args{"code": appendOne, "uri": dir, "ids": ids(0, 40)}, nil)
	run := func() compact.Result {
		r, err := compact.Run(t.Context(), store(t, dir), compact.Options{Policy: compact.Policy{TargetRows: 1_000_000, MaxBytes: 8 << 20}})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	before := lance.Snapshot(t, dir)
	run()
	after := lance.Check(t, before, oracle.Compacted)
	if n := len(after.Rows()); n < 5 || n > 10 {
		t.Errorf("fragments of %v rows", after.Rows())
	}
	if again := run(); again.Changed || len(again.Plan.Tasks) > 0 {
		t.Errorf("a second run goes on: %+v", again)
	}
	var written int64
	for i := range 20 {
		lance.Do(t, "run", oracle.Args{"code": appendOne, "uri": dir, "ids": ids(100+i, 1)}, nil)
		written += run().BytesWritten
		if again := run(); again.Changed {
			t.Errorf("after append %d: a second run goes on: %+v", i, again)
		}
	}
	if limit := int64(4*20<<20 + 8<<20); written > limit {
		t.Errorf("%d bytes were written for 20 of a megabyte, want at most %d", written, limit)
	}
	var got []int
	lance.Do(t, "ids", oracle.Args{"uri": dir}, &got)
	slices.Sort(got)
	if want := append(ids(0, 40), ids(100, 20)...); !slices.Equal(got, want) {
		t.Errorf("rows %v", got)
	}
}

// TestBug78 has segments of one index that cover every other fragment: they are left, and the reason names the index. #106: of
// fragments that an index covers and such that it doesn't, only the latter are merged, with their own.
func TestBug78(t *testing.T) {
	lance := oracle.Start(t, oracle.Newest)
	dir := filepath.Join(t.TempDir(), "t")
	const code = `
for k in range(6):
    t = pa.table({"id": pa.array(range(k * 50, k * 50 + 50), pa.int64()), "x": pa.array([i % 7 for i in range(50)], pa.int64())})
    lance.write_dataset(t, uri, mode="append" if k else "create")
    if k == 1:
        lance.dataset(uri).create_scalar_index("x", "BTREE")
lance.dataset(uri).delete("id % 4 = 0")
`
	lance.Do(t, "run", oracle.Args{"code": code, "uri": dir}, nil)
	before := lance.Snapshot(t, dir)
	r := compactNow(t, dir, 0)
	after := lance.Check(t, before, oracle.Compacted)
	left := 0
	for _, l := range r.Plan.Left {
		if strings.Contains(l.Reason, `index "x_idx"`) {
			left++
		}
	}
	if left == 0 || len(after.Rows()) != 1+left {
		t.Errorf("fragments of %v rows, left: %+v", after.Rows(), r.Plan.Left)
	}
	var counts [][2]int
	lance.Do(t, "run", oracle.Args{"code": `
ds = lance.dataset(uri)
result = [[ds.scanner(filter="x = %d" % v, use_scalar_index=i).to_table().num_rows for i in (True, False)] for v in range(8)]
`, "uri": dir}, &counts)
	for v, c := range counts {
		if c[0] != c[1] {
			t.Errorf("x = %d: %d rows by the index, %d by a scan", v, c[0], c[1])
		}
	}
}

// TestBug94 has tables that need one job each: only that one finds something to do.
func TestBug94(t *testing.T) {
	lance := oracle.Start(t, oracle.Newest)
	dir := filepath.Join(t.TempDir(), "t")
	lance.Make(t, "many_appends", dir, oracle.Table{Fragments: 8})
	now := time.Now()
	due := func() (bool, bool) {
		_, c, err := compact.Detect(t.Context(), open(t, dir), compact.Policy{})
		if err != nil {
			t.Fatal(err)
		}
		r := cleanNow(t, dir, cleanup.Options{DryRun: true, Policy: cleanup.Policy{Retain: time.Hour, MinVersions: 3}, Now: func() time.Time { return now }})
		return c, len(r.Files) > 0
	}
	if c, v := due(); !c || v {
		t.Errorf("small fragments, young versions: compaction %v, cleanup %v", c, v)
	}
	compactNow(t, dir, 0)
	if c, v := due(); c || v {
		t.Errorf("merged, young versions: compaction %v, cleanup %v", c, v)
	}
	now = now.Add(2 * time.Hour)
	if c, v := due(); c || !v {
		t.Errorf("merged, old versions: compaction %v, cleanup %v", c, v)
	}
}

// TestBug26 merges 6,500 fragments of one row each.
func TestBug26(t *testing.T) {
	lance := oracle.Start(t, oracle.Newest)
	dir := filepath.Join(t.TempDir(), "t")
	count := 650
	if full() {
		count = 6500
	}
	const code = `
schema = values.schema(["vector"])
lance.write_dataset(values.table(schema, 0, count), uri, max_rows_per_file=1)
`
	lance.Do(t, "run", oracle.Args{"code": code, "uri": dir, "count": count}, nil)
	var ids []int64
	start := time.Now()
	r := compactNow(t, dir, 0)
	if took := time.Since(start); took > 3*time.Minute || r.FragmentsRemoved != count || r.FragmentsAdded != 1 {
		t.Errorf("it took %s: %+v", took, r)
	}
	lance.Do(t, "ids", oracle.Args{"uri": dir}, &ids)
	if len(ids) != count || !slices.IsSorted(ids) {
		t.Errorf("%d rows", len(ids))
	}
	settled(t, lance, dir, 0)
	lance.OnTop(t, dir, count)
}
