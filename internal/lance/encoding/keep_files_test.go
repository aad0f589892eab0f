package encoding

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/lancetest"
)

var (
	keepFrom = flag.String("keepfrom", "", "folder of files NAME.lance, with their rows in NAME.arrow, of which some rows are to be kept")
	keepTo   = flag.String("keepto", "", "folder for what is left of them: NAME-n.ours, and its rows in NAME-n.arrow")
)

// TestKeepFiles keeps rows of whole files, column by column, and writes what is left for Lance to read: testdata/check_kept.py
// compares that with the rows. Columns that can't be treated so are encoded anew.
func TestKeepFiles(t *testing.T) {
	if *keepFrom == "" {
		t.Skip("no -keepfrom")
	}
	names, err := filepath.Glob(filepath.Join(*keepFrom, "*.arrow"))
	if err != nil || len(names) == 0 {
		t.Fatalf("nothing in %s: %v", *keepFrom, err)
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, path := range names {
		name := strings.TrimSuffix(filepath.Base(path), ".arrow")
		f, err := datafile.Open(t.Context(), lancetest.Dir(t, *keepFrom, nil), name+".lance")
		if err != nil {
			t.Fatal(err)
		}
		rows := rowsIn(t, path)
		for i := range 4 {
			keep := holes(rnd, uint64(rows.NumRows()), i)
			k := &fileKeeper{from: f, keep: keep, column: func(name string) (arrow.Array, error) {
				return array.Concatenate(rows.Column(rows.Schema().FieldIndices(name)[0]).Data().Chunks(), memory.DefaultAllocator)
			}}
			k.write(t, filepath.Join(*keepTo, fmt.Sprintf("%s-%d.ours", name, i)))
			writeRows(t, rows, keep, filepath.Join(*keepTo, fmt.Sprintf("%s-%d.arrow", name, i)))
			copyFile(t, filepath.Join(*keepFrom, name+".lance"), filepath.Join(*keepTo, fmt.Sprintf("%s-%d.lance", name, i)))
			t.Logf("%s-%d: %d of %d rows in %d ranges, %d columns kept, anew %v", name, i, column.RowsOf(keep), rows.NumRows(), len(keep), k.done, k.anew)
		}
		f.Close()
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, b, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// holes leaves rows out: some here and there, many, a part in the middle, the beginning.
func holes(rnd *rand.Rand, n uint64, kind int) (keep []column.Range) {
	each := n / 20
	switch kind {
	case 0:
		return []column.Range{{From: 0, To: n/2 + 1}, {From: n/2 + 1 + n/10, To: n}}
	case 1:
		return []column.Range{{From: n/3 + 1, To: n}}
	case 2:
		each = 5
	}
	for at := uint64(0); at < n; {
		to := min(n, at+1+rnd.Uint64N(each+1))
		keep = append(keep, column.Range{From: at, To: to})
		at = to + 1 + rnd.Uint64N(3)
	}
	return keep
}

func rowsIn(t *testing.T, path string) arrow.Table {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := ipc.NewFileReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	var all []arrow.RecordBatch
	for i := range r.NumRecords() {
		b, err := r.RecordBatchAt(i)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, b)
	}
	return array.NewTableFromRecords(r.Schema(), all)
}

// writeRows writes the rows that are kept, in as many batches.
func writeRows(t *testing.T, rows arrow.Table, keep []column.Range, path string) {
	t.Helper()
	var b bytes.Buffer
	w, err := ipc.NewFileWriter(&b, ipc.WithSchema(rows.Schema()))
	if err != nil {
		t.Fatal(err)
	}
	r := array.NewTableReader(rows, -1)
	defer r.Release()
	first := uint64(0)
	for r.Next() {
		n := uint64(r.RecordBatch().NumRows())
		for _, k := range within(keep, first, n) {
			s := r.RecordBatch().NewSlice(int64(k.From), int64(k.To))
			if err := w.Write(s); err != nil {
				t.Fatal(err)
			}
			s.Release()
		}
		first += n
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}
