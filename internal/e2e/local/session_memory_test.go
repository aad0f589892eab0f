package local_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/e2e/oracle"
	"github.com/seaweedfs/seaweed-lance/session"
)

// shapes make tables of which much is kept: by the kind of what is most of it.
var shapes = []struct{ name, code string }{
	{"columns", `
schema = pa.schema([("column_%03d" % i, [pa.int32(), pa.string(), pa.list_(pa.float32())][i % 3]) for i in range(300)])
part = pa.table([[1, 2, 3] if i % 3 == 0 else ["a", "b", "c"] if i % 3 == 1 else [[1.5], [], None] for i in range(300)], schema=schema)
for k in range(3):
    lance.write_dataset(part, uri, mode="append" if k else "create")
`},
	{"fragments", `
for k in range(120):
    lance.write_dataset(pa.table({"a": [k], "b": ["row %d" % k]}), uri, mode="append" if k else "create")
`},
	{"indices", `
for k in range(3):
    lance.write_dataset(pa.table({"a": range(40 * k, 40 * k + 10)}), uri, mode="append" if k else "create")
for k in range(60):
    lance.dataset(uri).create_scalar_index("a", "BTREE", name="an index of the name %d" % k, replace=False)
`},
}

// heap is what is in use on it.
func heap() int64 {
	var m runtime.MemStats
	// The second time what the first one has freed in pools goes, too.
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestSessionMemory fills the caches with tables of different shapes: what they say that they take is about
// what they really take, and of the rest of a session little is left.
func TestSessionMemory(t *testing.T) {
	lance := oracle.Start(t, oracle.Newest)
	root := t.TempDir()
	for _, shape := range shapes {
		t.Run(shape.name, func(t *testing.T) {
			made := filepath.Join(root, shape.name)
			lance.Do(t, "run", oracle.Args{"code": "import pyarrow as pa\n" + shape.code, "uri": made}, nil)
			copies := 10
			if full() {
				copies = 40
			}
			for i := range copies {
				if err := os.CopyFS(fmt.Sprint(made, i), os.DirFS(made)); err != nil {
					t.Fatal(err)
				}
			}
			fill := func(s *session.Session) {
				for i := range copies {
					tab, err := s.Open(t.Context(), session.Directory(fmt.Sprint(made, i)))
					if err != nil {
						t.Fatal(err)
					}
					rows, err := tab.Scan(t.Context(), session.ScanOptions{})
					if err != nil {
						t.Fatal(err)
					}
					for _, err := range rows.All(t.Context()) {
						if err != nil {
							t.Fatal(err)
						}
					}
					rows.Close()
				}
			}
			measure := func(o session.Options) (real, said int64, x session.Stats) {
				s, err := session.New(o)
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				before := heap()
				fill(s)
				real, x = heap()-before, s.Stats()
				return real, x.Metadata.Bytes + x.Index.Bytes, x
			}
			measure(session.Options{}) // what is made once for the process
			real, said, x := measure(session.Options{})
			t.Logf("%d KB on the heap, %d KB said, %d KB of it of indices", real>>10, said>>10, x.Index.Bytes>>10)
			if x.Metadata.Evicted+x.Index.Evicted > 0 || said < 100<<10 {
				t.Fatalf("%+v", x)
			}
			if real > 2*said || said > 2*real {
				t.Errorf("%d bytes on the heap, and %d said", real, said)
			}
			// Bounded to a third of it, and of each.
			o := session.Options{MetadataBytes: x.Metadata.Bytes / 3, IndexBytes: max(x.Index.Bytes/3, 1), Tables: copies / 3}
			real, said, x = measure(o)
			t.Logf("bounded: %d KB on the heap, %d KB said", real>>10, said>>10)
			if limit := o.MetadataBytes + o.IndexBytes; said > limit || real > 2*limit || x.Metadata.Evicted == 0 {
				t.Errorf("%d bytes on the heap, limits of %d: %+v", real, limit, x)
			}
		})
	}
}
