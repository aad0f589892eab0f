package local_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seaweedfs/seaweed-lance/internal/e2e/oracle"
	"github.com/seaweedfs/seaweed-lance/internal/lance/cleanup"
	"github.com/seaweedfs/seaweed-lance/internal/lance/compact"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects/faultstore"
)

// atRewrite selects the moment at which all is written and the first group is about to be committed: the
// first manifest reserves ids, the second is the group's.
func atRewrite() faultstore.Match {
	var n atomic.Int32
	return func(c faultstore.Call) bool {
		if c.Phase != faultstore.Before || c.Op != faultstore.Publish || !strings.HasPrefix(c.Name, table.VersionsDir+"/") {
			return false
		}
		return n.Add(1) == 2
	}
}

// rowsOfTable are all rows with their ids, in no order.
const rowsOfTable = `
ds = lance.dataset(uri)
t = ds.to_table(with_row_id=stable)
result = sorted([[str(t.column(n)[i].as_py()) for n in t.column_names] for i in range(len(t))])
`

// TestBug1 has others change a table between the rewrite of a group and its commit: rows that they deleted stay deleted,
// rows that they changed stay changed, and nothing is left of what was written in vain. #12: its files are gone
// at once. #68: an index that was built meanwhile covers what it did.
func TestBug1(t *testing.T) {
	lance := oracle.Start(t, oracle.Newest)
	for name, code := range map[string]string{
		"delete inside":           `ds.delete("id < 10")`,
		"delete all of one":       `ds.delete("id < 100")`,
		"delete outside":          `ds.delete("id >= 350")`,
		"update inside":           `ds.update({"s": "'new'"}, where="id % 50 = 7")`,
		"merge inside":            `ds.merge_insert("id").when_matched_update_all().when_not_matched_insert_all().execute(rows([5, 150, 1000]))`,
		"columns of it rewritten": `ds.merge_insert("id").when_matched_update_all().write_mode("rewrite_columns").execute(rows([5, 150]).select(["id", "s"]))`,
		"column added":            `ds.add_columns({"n": "id * 2"})`,
		"column dropped":          `ds.drop_columns(["s"])`,
		"append":                  `lance.write_dataset(rows([2000, 2001]), uri, mode="append")`,
		"index (#68)":             `ds.create_scalar_index("id", "BTREE")`,
		"compaction":              `ds.optimize.compact_files(target_rows_per_fragment=200, num_threads=1, materialize_deletions_threshold=0.0)`,
	} {
		for _, deleted := range []bool{false, true} {
			for _, stable := range []bool{false, true} {
				if !full() && deleted != stable {
					continue
				}
				t.Run(fmt.Sprintf("%s,deleted=%v,stable=%v", name, deleted, stable), func(t *testing.T) {
					dir := filepath.Join(t.TempDir(), "t")
					lance.Do(t, "make", oracle.Args{"recipe": "many_appends", "uri": dir, "version": "2.2", "stable": stable, "fragments": 4, "rows": 100, "columns": []string{"slim", "vectors"}}, nil)
					if deleted {
						lance.Do(t, "delete", oracle.Args{"uri": dir, "where": "id % 3 = 1"}, nil)
					}
					meanwhile(t, lance, dir, stable, `
def rows(ids):
    t = values.table(ds.schema, 0, len(ids))
    t = t.set_column(0, t.schema.field(0), pa.array(ids, pa.int64()))
    return t.set_column(1, t.schema.field(1), pa.array(["merged"] * len(ids)))

ds = lance.dataset(uri)
`+code)
				})
			}
		}
	}
}

// meanwhile runs code when the first group is about to be committed.
func meanwhile(t *testing.T, lance *oracle.Lance, dir string, stable bool, code string) {
	t.Helper()
	pause := faultstore.NewPause(atRewrite())
	defer pause.Resume()
	type outcome struct {
		res compact.Result
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		r, err := compact.Run(context.Background(), faultstore.New(store(t, dir), pause.Hook), compact.Options{Policy: compact.Policy{TargetRows: 200}})
		done <- outcome{r, err}
	}()
	select {
	case <-pause.Reached():
	case o := <-done:
		t.Fatalf("the run ended before it committed: %+v, error %v", o.res, o.err)
	}
	var was, is json.RawMessage
	lance.Do(t, "run", oracle.Args{"code": code, "uri": dir}, nil)
	lance.Do(t, "run", oracle.Args{"code": rowsOfTable, "uri": dir, "stable": stable}, &was)
	pause.Resume()
	o := <-done
	if o.err != nil && !errors.Is(o.err, table.ErrContended) {
		t.Fatal(o.err)
	}
	lance.Do(t, "run", oracle.Args{"code": rowsOfTable, "uri": dir, "stable": stable}, &is)
	if string(was) != string(is) {
		t.Errorf("rows changed: %.300s became %.300s", was, is)
	}
	after := lance.Snapshot(t, dir)
	if len(after.Missing()) > 0 || len(after.Unnamed()) > 0 {
		t.Errorf("missing %v, unnamed %v", after.Missing(), after.Unnamed())
	}
	for f := range after.Disk {
		if strings.HasPrefix(f, "_maintenance/") {
			t.Errorf("%s is left", f)
		}
	}
	compactNow(t, dir, 200)
	settled(t, lance, dir, 200)
	lance.OnTop(t, dir, 5000)
}

// TestBug25 has four runs merge one table of many fragments: together they write little more than one, and none fails.
func TestBug25(t *testing.T) {
	lance := oracle.Start(t, oracle.Newest)
	dir := filepath.Join(t.TempDir(), "t")
	made := lance.Make(t, "one_row", dir, oracle.Table{Fragments: 100})
	lance.Copy(t, dir, dir+".alone")
	alone := compactNow(t, dir+".alone", 0)
	before := lance.Snapshot(t, dir)
	var results [4]compact.Result
	var all sync.WaitGroup
	for i := range results {
		all.Go(func() {
			r, err := compact.Run(context.Background(), store(t, dir), compact.Options{})
			if err != nil {
				t.Errorf("run %d: %v", i, err)
			}
			results[i] = r
		})
	}
	all.Wait()
	written, merged := int64(0), 0
	for _, r := range results {
		written += r.BytesWritten
		merged += r.FragmentsRemoved
	}
	if written > 2*alone.BytesWritten || merged != 100 {
		t.Errorf("%d bytes were written and %d fragments merged; one run alone writes %d", written, merged, alone.BytesWritten)
	}
	after := lance.Check(t, before, oracle.Compacted)
	if len(after.Rows()) != 1 || len(after.Unnamed()) > 0 {
		t.Errorf("fragments of %v rows; unnamed: %v", after.Rows(), after.Unnamed())
	}
	lance.OnTop(t, dir, made.Next)
}

// TestBug90 merges in 64 groups: one reservation of ids for all, one commit for each, and no conflict with itself.
func TestBug90(t *testing.T) {
	lance := oracle.Start(t, oracle.Newest)
	dir := filepath.Join(t.TempDir(), "t")
	lance.Make(t, "one_row", dir, oracle.Table{Fragments: 128})
	before := lance.Snapshot(t, dir)
	r := compactNow(t, dir, 2)
	after := lance.Check(t, before, oracle.Compacted)
	if len(r.Plan.Tasks) != 64 || r.Preempted != "" || len(after.Versions())-len(before.Versions()) != 65 {
		t.Errorf("%d groups, %d new versions, pre-empted: %q", len(r.Plan.Tasks), len(after.Versions())-len(before.Versions()), r.Preempted)
	}
}

// TestBug105 merges beside a writer that commits all the time: fragments get fewer, and the writer does not fail.
func TestBug105(t *testing.T) {
	judge, writer := oracle.Start(t, oracle.Newest), oracle.Start(t, oracle.Newest)
	dir := filepath.Join(t.TempDir(), "t")
	made := judge.Make(t, "many_appends", dir, oracle.Table{Fragments: 60, Rows: 20, Columns: []string{"slim"}})
	seconds := 6
	if full() {
		seconds = 60
	}
	var at churned
	done := make(chan error, 1)
	go func() {
		done <- writer.Try("churn", oracle.Args{"uri": dir, "rounds": 100000, "seconds": seconds, "start": made.Next, "seed": 5, "pause": 0.2}, &at)
	}()
	merged, _, _ := jobsUntil(t, store(t, dir), done)
	rows := judge.FragmentRows(t, dir)
	t.Logf("%d rounds of the writer, %d fragments merged, %d are left", at.Rounds, merged, len(rows))
	if merged < 60+at.Rounds/2 || len(rows) > 10 || len(at.Errors) > 0 {
		t.Errorf("%d fragments merged in %d rounds, %d are left; the writer lost %v", merged, at.Rounds, len(rows), at.Errors)
	}
}

// TestBug96 has a store that no longer answers: the run ends when its time is up, and the next one
// leaves nothing behind.
func TestBug96(t *testing.T) {
	lance := oracle.Start(t, oracle.Newest)
	dir := filepath.Join(t.TempDir(), "t")
	made := lance.Make(t, "deletions", dir, oracle.Table{})
	before := lance.Snapshot(t, dir)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	var calls atomic.Int32
	s := faultstore.New(store(t, dir), func(c faultstore.Call) faultstore.Action {
		if c.Op == faultstore.Read && calls.Add(1) > 20 {
			return faultstore.Stall(nil)
		}
		return faultstore.Pass
	})
	start := time.Now()
	if _, err := compact.Run(ctx, s, compact.Options{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
	if took := time.Since(start); took > 12*time.Second {
		t.Errorf("it took %s", took)
	}
	compactNow(t, dir, 0)
	cleanNow(t, dir, cleanup.Options{})
	after := lance.Check(t, before, oracle.Both)
	if unnamed := after.Unnamed(); len(unnamed) > 0 {
		t.Errorf("nothing names %v", unnamed)
	}
	lance.OnTop(t, dir, made.Next)
}
