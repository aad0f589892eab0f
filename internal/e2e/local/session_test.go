package local_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/seaweedfs/seaweed-lance/internal/e2e/oracle"
	"github.com/seaweedfs/seaweed-lance/session"
)

// makesAgain drops a table and makes it anew: the same schema, as many rows, other values, and as many
// appends as it is told. What it then holds is the result.
const makesAgain = `
import shutil
import pyarrow as pa
shutil.rmtree(uri, ignore_errors=True)
meta = {"seaweedfs.table_id": "table %d" % n} if marked else None
schema = pa.schema([("id", pa.int64()), ("text", pa.string())], metadata=meta)
for k in range(1 + appends):
    ids = [1_000_000 * n + 1000 * k + i for i in range(50)]
    part = pa.table([ids, ["row %d of table %d" % (i, n) for i in ids]], schema=schema)
    lance.write_dataset(part, uri, schema=schema, mode="append" if k else "create")
ds = lance.dataset(uri)
t = ds.to_table()
result = {"version": ds.version, "ids": t["id"].to_pylist(), "texts": t["text"].to_pylist()}
`

// goesOn appends to what makesAgain made, or deletes some of it.
const goesOn = `
import pyarrow as pa
ds = lance.dataset(uri)
if n % 3 == 0:
    ds.delete("id % 7 = 0")
else:
    ids = [1_000_000 * n + 500_000 + i for i in range(50)]
    lance.write_dataset(pa.table([ids, ["later %d" % i for i in ids]], schema=ds.schema), uri, mode="append")
ds = lance.dataset(uri)
t = ds.to_table()
result = {"version": ds.version, "ids": t["id"].to_pylist(), "texts": t["text"].to_pylist()}
`

// holds is what pylance reads of a table.
type holds struct {
	Version uint64
	IDs     []int64
	Texts   []string
}

// reads compares what a session reads with what pylance does, twice: from the store and from memory.
func (h *holds) reads(t *testing.T, s *session.Session, dir string) {
	t.Helper()
	for range 2 {
		tab, err := s.Open(t.Context(), session.Directory(dir))
		if err != nil {
			t.Fatal(err)
		}
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
}

// TestSessionRecreated drops and makes a table 50 times under one session.
func TestSessionRecreated(t *testing.T) {
	lance := oracle.Start(t, oracle.Newest)
	for _, marked := range []bool{false, true} {
		t.Run(fmt.Sprintf("marked %v", marked), func(t *testing.T) {
			s, err := session.New(session.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			dir := filepath.Join(t.TempDir(), "t.lance")
			const times = 50
			for n := range times {
				var h holds
				lance.Do(t, "run", oracle.Args{"code": makesAgain, "uri": dir, "n": n, "marked": marked, "appends": n % 3}, &h)
				h.reads(t, s, dir)
				if n%2 == 0 {
					h = holds{}
					lance.Do(t, "run", oracle.Args{"code": goesOn, "uri": dir, "n": n}, &h)
					h.reads(t, s, dir)
				}
			}
			x := s.Stats()
			if x.StartOvers != times-1 || x.Moves != times/2 {
				t.Errorf("%d tables: %+v", times, x)
			}
		})
	}
}
