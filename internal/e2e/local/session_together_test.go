package local_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/seaweedfs/seaweed-lance/internal/e2e/oracle"
	"github.com/seaweedfs/seaweed-lance/session"
)

const (
	partRows = 20
	// An id says which table it was written for, in which version, and which row it is.
	perTable, perVersion = 1_000_000, 1000
)

// nextStep appends a part to the table made n-th in a directory, or makes it: version v has the parts
// of versions 1 to v.
const nextStep = `
import shutil
import pyarrow as pa
schema = pa.schema([("id", pa.int64())], metadata={"seaweedfs.table_id": str(n)} if marked else None)
def part(v):
    return pa.table([[n * per_table + v * per_version + i for i in range(rows)]], schema=schema)
if version == 1:
    shutil.rmtree(uri, ignore_errors=True)
    lance.write_dataset(part(1), uri, schema=schema, mode="create")
else:
    lance.write_dataset(part(version), uri, mode="append")
result = lance.dataset(uri).version
`

// contested is a table that is appended to, dropped and made again while it is read.
type contested struct {
	dir    string
	marked bool
	// n is the table that was made last, and whole.
	n       atomic.Int64
	version int
}

// step changes the table.
func (c *contested) step(t *testing.T, lance *oracle.Lance, r *rand.Rand) {
	t.Helper()
	n := c.n.Load()
	if c.version++; c.version > 5 || n == 0 || r.IntN(3) == 0 {
		n, c.version = n+1, 1
	}
	var got int
	lance.Do(t, "run", oracle.Args{"code": nextStep, "uri": c.dir, "n": n, "version": c.version, "marked": c.marked,
		"rows": partRows, "per_table": perTable, "per_version": perVersion}, &got)
	if got != c.version {
		t.Fatalf("pylance made version %d, not %d", got, c.version)
	}
	c.n.Store(n)
}

// check reads the newest version, which must be all of a version of a table no older than the one before the
// newest: an Open may join one that began earlier.
func (c *contested) check(ctx context.Context, s *session.Session) error {
	oldest := c.n.Load() - 1
	tab, err := s.Open(ctx, session.Directory(c.dir))
	if err != nil {
		return err
	}
	rows, err := tab.Scan(ctx, session.ScanOptions{Threads: 1})
	if err != nil {
		return err
	}
	defer rows.Close()
	n, at := int64(-1), int64(0)
	for batch, err := range rows.All(ctx) {
		if err != nil {
			return err
		}
		for _, id := range batch.Column(0).(*array.Int64).Int64Values() {
			if n < 0 {
				n = id / perTable
			}
			if want := n*perTable + (at/partRows+1)*perVersion + at%partRows; id != want {
				return fmt.Errorf("row %d of version %d is %d, not %d", at, tab.Version(), id, want)
			}
			at++
		}
	}
	if at != int64(tab.Version())*partRows {
		return fmt.Errorf("version %d has %d rows", tab.Version(), at)
	}
	if n < oldest {
		return fmt.Errorf("rows of table %d, when %d was whole", n, oldest+1)
	}
	return nil
}

// TestSessionTogether reads many tables from many goroutines while pylance appends to them, drops them and
// makes them again.
func TestSessionTogether(t *testing.T) {
	tables, readers, d := 8, 32, 3*time.Second
	if full() {
		tables, readers, d = 200, 1000, 2*time.Minute
	}
	lance := oracle.Start(t, oracle.Newest)
	s, err := session.New(session.Options{Tables: tables / 2, MetadataBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	root, r := t.TempDir(), rand.New(rand.NewPCG(1, 2))
	all := make([]*contested, tables)
	for i := range all {
		all[i] = &contested{dir: filepath.Join(root, fmt.Sprint(i)), marked: i%2 == 0}
		all[i].step(t, lance, r)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	var good, gone atomic.Int64
	for g := range readers {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(3, uint64(g)))
			for ctx.Err() == nil {
				err := all[r.IntN(tables)].check(ctx, s)
				switch {
				case err == nil:
					good.Add(1)
				case errors.Is(err, session.ErrNoTable) || errors.Is(err, session.ErrGone):
					gone.Add(1)
				case ctx.Err() == nil:
					t.Error(err)
				}
				if x := s.Stats(); x.Metadata.Bytes > x.Metadata.Limit || x.Index.Bytes > x.Index.Limit || x.Tables > tables/2 {
					t.Errorf("%+v", x)
				}
			}
		})
	}
	steps := 0
	for end := time.Now().Add(d); time.Now().Before(end) && !t.Failed(); steps++ {
		all[r.IntN(tables)].step(t, lance, r)
	}
	cancel()
	wg.Wait()
	for _, c := range all {
		if err := c.check(t.Context(), s); err != nil {
			t.Errorf("in the end: %v", err)
		}
	}
	x := s.Stats()
	if good.Load() == 0 || x.StartOvers == 0 || x.Moves == 0 {
		t.Errorf("%d reads, %+v", good.Load(), x)
	}
	t.Logf("%d steps, %d reads, %d of tables that were not there, %+v", steps, good.Load(), gone.Load(), x)
}
