package local_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/seaweedfs/seaweed-lance/internal/e2e/oracle"
	"github.com/seaweedfs/seaweed-lance/session"
)

// makesAgain drops a table and makes it anew: the same schema, as many rows, other values of the same length, and
// as many versions as it is told. What it then holds, and what its first version does, is the result.
const makesAgain = `
import os, shutil
import pyarrow as pa
shutil.rmtree(uri, ignore_errors=True)
meta = {"seaweedfs.table_id": "table %06d" % n} if marked else None
schema = pa.schema([("id", pa.int64()), ("text", pa.string())], metadata=meta)
for k in range(versions):
    ids = [1_000_000 * n + 1000 * k + i for i in range(50)]
    part = pa.table([ids, ["row %012d of table %06d" % (i, n) for i in ids]], schema=schema)
    lance.write_dataset(part, uri, schema=schema, mode="append" if k else "create")
if dated:
    for name in os.listdir(uri + "/_versions"):
        os.utime(uri + "/_versions/" + name, (dated, dated))
` + whatItHolds

// goesOn appends to what makesAgain made, or deletes some of it.
const goesOn = `
import pyarrow as pa
ds = lance.dataset(uri)
if n % 3 == 0:
    ds.delete("id % 7 = 0")
else:
    ids = [1_000_000 * n + 500_000 + i for i in range(50)]
    lance.write_dataset(pa.table([ids, ["later %d" % i for i in ids]], schema=ds.schema), uri, mode="append")
` + whatItHolds

const whatItHolds = `
def holds(ds):
    t = ds.to_table()
    return {"version": ds.version, "ids": t["id"].to_pylist(), "texts": t["text"].to_pylist()}
ds = lance.dataset(uri)
result = [holds(ds), holds(ds.checkout_version(1))]
`

// holds is what pylance reads of a table.
type holds struct {
	Version uint64
	IDs     []int64
	Texts   []string
}

// reads compares what a session reads with what pylance does.
func (h *holds) reads(t *testing.T, tab *session.Table) {
	t.Helper()
	rows, err := tab.Scan(t.Context(), session.ScanOptions{Columns: []string{"id", "text"}})
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	at := 0
	for batch, err := range rows.All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		ids, texts := batch.Column(0).(*array.Int64), batch.Column(1).(*array.String)
		for i := range ids.Len() {
			if at >= len(h.IDs) || ids.Value(i) != h.IDs[at] || texts.Value(i) != h.Texts[at] {
				t.Fatalf("row %d is %d, %q, which pylance does not read", at, ids.Value(i), texts.Value(i))
			}
			at++
		}
	}
	if tab.Version() != h.Version || at != len(h.IDs) || tab.Rows() != uint64(at) {
		t.Fatalf("version %d of %d rows; pylance reads version %d of %d", tab.Version(), at, h.Version, len(h.IDs))
	}
}

// readTwice reads the newest version and the first one, from the store and from memory.
func readTwice(t *testing.T, s *session.Session, dir string, want [2]holds) {
	t.Helper()
	for range 2 {
		tab, err := s.Open(t.Context(), session.Directory(dir))
		if err != nil {
			t.Fatal(err)
		}
		want[0].reads(t, tab)
		if tab, err = s.OpenVersion(t.Context(), session.Directory(dir), 1); err != nil {
			t.Fatal(err)
		}
		want[1].reads(t, tab)
	}
}

// TestSessionRecreated drops and makes a table 50 times under one session, with reads between.
func TestSessionRecreated(t *testing.T) {
	releases := []oracle.Release{oracle.Newest}
	if full() {
		releases = append(releases, oracle.V4, oracle.V0)
	}
	kinds := []struct {
		name     string
		versions func(n int) int
		// dated gives all manifests one time, to the second.
		dated int64
	}{
		{"as many versions", func(int) int { return 2 }, 0},
		{"more versions each time", func(n int) int { return 1 + n%10 }, 0},
		{"fewer versions each time", func(n int) int { return 8 - n%8 }, 0},
		{"in the same second", func(n int) int { return 1 + n%2 }, 1_790_000_000},
	}
	for _, r := range releases {
		lance := oracle.Start(t, r)
		for _, k := range kinds {
			for _, marked := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, %s, marked %v", r, k.name, marked), func(t *testing.T) {
					s, err := session.New(session.Options{})
					if err != nil {
						t.Fatal(err)
					}
					defer s.Close()
					dir := filepath.Join(t.TempDir(), "t.lance")
					times, moves := 50, int64(0)
					if !full() && k.name != kinds[0].name {
						times = 12
					}
					for n := range times {
						var h [2]holds
						lance.Do(t, "run", oracle.Args{"code": makesAgain, "uri": dir, "n": n, "marked": marked, "versions": k.versions(n), "dated": k.dated}, &h)
						readTwice(t, s, dir, h)
						if n%5 == 0 {
							h = [2]holds{}
							lance.Do(t, "run", oracle.Args{"code": goesOn, "uri": dir, "n": n}, &h)
							readTwice(t, s, dir, h)
							moves++
						}
					}
					if x := s.Stats(); x.StartOvers != int64(times-1) || x.Moves != moves {
						t.Errorf("%d tables: %+v", times, x)
					}
				})
			}
		}
	}
}
