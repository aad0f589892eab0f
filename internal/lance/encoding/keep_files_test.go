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
	"google.golang.org/protobuf/proto"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	arrays "github.com/seaweedfs/seaweed-lance/internal/lance/encoding/array"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/lancetest"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
)

var (
	keepFrom = flag.String("keepfrom", "", "folder of files NAME.lance, with their rows in NAME.arrow, of which some rows are to be kept")
	keepTo   = flag.String("keepto", "", "folder for what is left of them: NAME-n.ours, and its rows in NAME-n.arrow")
)

// TestKeepFiles keeps rows of whole files, column by column, and writes what is left for Lance to read: testdata/check.py of package array
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
			k := &fileKeeper{from: f, keep: keep, rows: rows}
			k.write(t, filepath.Join(*keepTo, fmt.Sprintf("%s-%d.ours", name, i)))
			writeRows(t, rows, keep, filepath.Join(*keepTo, fmt.Sprintf("%s-%d.arrow", name, i)))
			t.Logf("%s-%d: %d of %d rows in %d ranges, %d columns kept, anew %v", name, i, column.RowsOf(keep), rows.NumRows(), len(keep), k.done, k.anew)
		}
		f.Close()
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

// within is the part of ranges that lies in n rows from one on, counted from there.
func within(keep []column.Range, first, n uint64) (out []column.Range) {
	for _, r := range keep {
		if from, to := max(r.From, first), min(r.To, first+n); from < to {
			out = append(out, column.Range{From: from - first, To: to - first})
		}
	}
	return out
}

// fileKeeper keeps rows of a file.
type fileKeeper struct {
	from    *datafile.File
	keep    []column.Range
	rows    arrow.Table
	w       *datafile.Writer
	columns []*pb.ColumnMetadata
	done    int
	anew    []string
}

func (k *fileKeeper) write(t *testing.T, path string) {
	t.Helper()
	out, err := lancetest.Dir(t, filepath.Dir(path), nil).Create(t.Context(), filepath.Base(path))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Abort()
	k.w = datafile.NewWriter(out, nil)
	desc := proto.Clone(k.from.Descriptor).(*pb.FileDescriptor)
	desc.Length = column.RowsOf(k.keep)
	tree, err := table.FieldsOf(desc.GetSchema().GetFields())
	if err != nil {
		t.Fatal(err)
	}
	version := table.NormalVersion(k.from.Major, k.from.Minor)
	fields, n := Place(tree, version)
	if n != len(k.from.Columns) {
		t.Fatalf("%d columns, not %d", len(k.from.Columns), n)
	}
	if k.columns, err = newColumns(fields, n, version); err != nil {
		t.Fatal(err)
	}
	for _, f := range fields {
		pages, ok := k.field(t, f, k.keep, 1, version)
		if ok && !f.Blob {
			k.done++
			for _, p := range pages {
				if err := k.Page(p); err != nil {
					t.Fatal(err)
				}
			}
			continue
		}
		k.anew = append(k.anew, f.Name)
		k.encode(t, f, version)
	}
	major, minor := Footer(version)
	if _, err := k.w.Finish(t.Context(), major, minor, desc, k.columns); err != nil {
		t.Fatal(err)
	}
}

// Page is column.Sink's.
func (k *fileKeeper) Page(p column.Page) error {
	m := &pb.ColumnMetadata_Page{Length: p.Length, Priority: p.Priority, Encoding: p.Encoding}
	if err := k.w.Page(m, p.Buffers); err != nil {
		return err
	}
	return addPage(k.columns[p.Column], m, table.NormalVersion(k.from.Major, k.from.Minor))
}

// Blob is column.Sink's.
func (k *fileKeeper) Blob(b []byte) (uint64, error) { return k.w.Buffer(b) }

// field keeps rows of a field; stride is how many of what a column's pages count make up a row.
func (k *fileKeeper) field(t *testing.T, f column.Field, keep []column.Range, stride uint64, version table.FileVersion) (out []column.Page, ok bool) {
	t.Helper()
	items := keep
	isList := len(f.Children) == 1 && column.Storage(f.Type).ID() != arrow.STRUCT
	if l, fixed := column.Storage(f.Type).(*arrow.FixedSizeListType); fixed && len(f.Children) > 0 {
		stride *= uint64(l.Len())
	}
	if f.Column >= 0 {
		items = nil
		first, firstItem, row := uint64(0), uint64(0), uint64(0)
		for _, m := range k.from.Columns[f.Column].GetPages() {
			n := m.GetLength() / stride
			part := within(keep, first, n)
			first += n
			for i := range part {
				part[i] = column.Range{From: part[i].From * stride, To: part[i].To * stride}
			}
			bufs := k.buffers(t, m)
			if isList && version == table.V2_0 {
				of, ok, err := arrays.ItemsOf(m, bufs, part)
				if err != nil || !ok {
					t.Fatalf("%s: items: %v", f.Name, err)
				}
				for _, r := range of {
					items = append(items, column.Range{From: r.From + firstItem, To: r.To + firstItem})
				}
				if m.GetLength() > 0 {
					of, _, err := arrays.ItemsOf(m, bufs, []column.Range{{From: 0, To: m.GetLength()}})
					if err != nil {
						t.Fatal(err)
					}
					firstItem += column.RowsOf(of)
				}
			}
			pages, ok, err := Keep(version, m, bufs, part, 1<<30)
			if err != nil {
				t.Fatalf("%s: %v", f.Name, err)
			}
			if !ok {
				return nil, false
			}
			for _, p := range pages {
				p.Column, p.Priority = f.Column, row
				row += p.Length / stride
				out = append(out, p)
			}
		}
		if !isList {
			items = keep
		}
	}
	if _, lists := column.Storage(f.Type).(*arrow.FixedSizeListType); isList && !lists {
		stride = 1
	}
	for _, c := range f.Children {
		pages, ok := k.field(t, c, items, stride, version)
		if !ok {
			return nil, false
		}
		out = append(out, pages...)
	}
	return out, true
}

func (k *fileKeeper) buffers(t *testing.T, m *pb.ColumnMetadata_Page) (bufs [][]byte) {
	t.Helper()
	for i, pos := range m.GetBufferOffsets() {
		b := make([]byte, m.GetBufferSizes()[i])
		if err := k.from.Reader.ReadAt(t.Context(), b, int64(pos)); err != nil {
			t.Fatal(err)
		}
		bufs = append(bufs, b)
	}
	return bufs
}

// encode encodes a field anew.
func (k *fileKeeper) encode(t *testing.T, f column.Field, version table.FileVersion) {
	t.Helper()
	w, err := NewFieldWriter(f, version, k, column.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	at := k.rows.Schema().FieldIndices(f.Name)[0]
	a, err := array.Concatenate(k.rows.Column(at).Data().Chunks(), memory.DefaultAllocator)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range k.keep {
		if err := w.Append(a, int(r.From), int(r.To)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
}
