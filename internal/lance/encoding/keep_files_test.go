package encoding

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
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

// TestKeepMatrix keeps rows of the files of all tables with pages of many kinds. What is left, as our readers find it, are
// the rows that the same readers find in the file before.
func TestKeepMatrix(t *testing.T) {
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
	column  func(name string) (arrow.Array, error)
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
	a, err := k.column(f.Name)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Release()
	for _, r := range k.keep {
		if err := w.Append(a, int(r.From), int(r.To)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
}
