package scan

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
	"github.com/seaweedfs/seaweed-lance/internal/objects/dirstore"
)

// world is a table whose pages only the tests understand: a column holds for each
// row a number that says where it belongs, padded to the column's width.
type world struct {
	tb    testing.TB
	store objects.Store
	m     *pb.Manifest
	// deleted rows by fragment.
	deleted map[uint64]*roaring.Bitmap
	// width of each field's values.
	width map[int32]int
}

func newWorld(tb testing.TB, widths ...int) *world {
	tb.Helper()
	s, err := dirstore.New(tb.TempDir()+"/table", dirstore.Options{Create: true, NoSync: true})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { s.Close() })
	w := &world{tb: tb, store: s, deleted: make(map[uint64]*roaring.Bitmap), width: make(map[int32]int),
		m: &pb.Manifest{Version: 1, DataFormat: &pb.Manifest_DataStorageFormat{FileFormat: "lance", Version: "2.2"}}}
	for i, n := range widths {
		w.width[int32(i)] = n
		w.m.Fields = append(w.m.Fields, &pb.Field{Id: int32(i), ParentId: -1, Name: fmt.Sprintf("c%d", i), LogicalType: fmt.Sprintf("fixed_size_binary:%d", n), Nullable: true})
	}
	return w
}

// value is what a field holds in a row of a fragment. A file that another one
// supersedes holds something else.
func value(field int32, fragment, row uint64) uint64 {
	return uint64(field)<<56 | fragment<<32 | row
}

const stale = 1 << 63

// add adds a fragment with the given columns in one file each, cut into pages.
func (w *world) add(id uint64, rows, pageRows int, files ...[]int32) *pb.DataFragment {
	w.tb.Helper()
	f := &pb.DataFragment{Id: id, PhysicalRows: uint64(rows)}
	last := make(map[int32]int)
	for i, fields := range files {
		for _, x := range fields {
			last[x] = i
		}
	}
	for i, fields := range files {
		name := fmt.Sprintf("f%d-%d.lance", id, i)
		e := w.file(name, id, rows, pageRows, fields, func(x int32) bool { return last[x] != i })
		d := &pb.DataFile{Path: name, FileMajorVersion: 2, FileMinorVersion: 2, FileSizeBytes: uint64(e.Size)}
		for c, x := range fields {
			if last[x] != i {
				x = -2 // as writers mark what they supersede
			}
			d.Fields, d.ColumnIndices = append(d.Fields, x), append(d.ColumnIndices, int32(c))
		}
		f.Files = append(f.Files, d)
	}
	w.m.Fragments = append(w.m.Fragments, f)
	return f
}

func (w *world) file(name string, id uint64, rows, pageRows int, fields []int32, isStale func(int32) bool) objects.Entry {
	w.tb.Helper()
	out, err := w.store.Create(context.Background(), table.DataDir+"/"+name)
	if err != nil {
		w.tb.Fatal(err)
	}
	df := datafile.NewWriter(out, nil)
	src := &memoryReader{}
	columns := make([]*pb.ColumnMetadata, len(fields))
	for c := range columns {
		columns[c] = new(pb.ColumnMetadata)
	}
	for from := 0; from < rows; from += pageRows {
		n := min(pageRows, rows-from)
		for c, x := range fields {
			src.b = src.b[:0]
			for i := from; i < from+n; i++ {
				v := value(x, id, uint64(i))
				if isStale(x) {
					v |= stale
				}
				cell := make([]byte, max(w.width[x], 8)) // a dropped column has none
				binary.LittleEndian.PutUint64(cell, v)
				src.b = append(src.b, cell...)
			}
			pos, err := df.Copy(context.Background(), src, datafile.Span{Size: uint64(len(src.b))})
			if err != nil {
				w.tb.Fatal(err)
			}
			columns[c].Pages = append(columns[c].Pages, &pb.ColumnMetadata_Page{BufferOffsets: []uint64{pos}, BufferSizes: []uint64{uint64(len(src.b))}, Length: uint64(n), Priority: uint64(from)})
		}
	}
	e, err := df.Finish(context.Background(), 2, 2, &pb.FileDescriptor{Schema: &pb.Schema{}, Length: uint64(rows)}, columns)
	if err != nil {
		w.tb.Fatal(err)
	}
	return e
}

type memoryReader struct{ b []byte }

func (r *memoryReader) Entry() objects.Entry { return objects.Entry{Size: int64(len(r.b))} }
func (r *memoryReader) Close() error         { return nil }
func (r *memoryReader) ReadAt(_ context.Context, p []byte, off int64) error {
	copy(p, r.b[off:])
	return nil
}

// delete deletes rows of a fragment.
func (w *world) delete(f *pb.DataFragment, rows ...uint32) {
	w.tb.Helper()
	v := roaring.BitmapOf(rows...)
	kind, b, err := table.EncodeDeletions(v)
	if err != nil {
		w.tb.Fatal(err)
	}
	f.DeletionFile = &pb.DeletionFile{FileType: kind, ReadVersion: 1, Id: f.GetId(), NumDeletedRows: v.GetCardinality()}
	if err := w.store.Publish(context.Background(), table.DeletionName(f.GetId(), f.DeletionFile), b); err != nil {
		w.tb.Fatal(err)
	}
	w.deleted[f.GetId()] = v
	w.m.ReaderFeatureFlags |= table.FlagDeletionFiles
	w.m.WriterFeatureFlags |= table.FlagDeletionFiles
}

// table is the version, read from a store that may be another around the world's.
func (w *world) table(s objects.Store) *table.Table {
	w.tb.Helper()
	b, err := encodeManifest(w.m)
	if err != nil {
		w.tb.Fatal(err)
	}
	t, err := table.Decode(s, table.VersionRef{Version: 1, Name: "m"}, table.NamingV2, b)
	if err != nil {
		w.tb.Fatal(err)
	}
	return t
}

// rowsOf are the rows that a scan returns, as fragment<<32 | row.
func (w *world) rowsOf(o Options) (out []uint64) {
	for _, f := range w.m.GetFragments() {
		wanted := o.Fragments == nil
		for _, id := range o.Fragments {
			wanted = wanted || id == f.GetId()
		}
		for i := range f.GetPhysicalRows() {
			d := w.deleted[f.GetId()]
			in := o.Rows == nil || slices.ContainsFunc(o.Rows[f.GetId()], func(r Range) bool { return r.From <= i && i < r.To })
			if wanted && in && (o.KeepDeleted || d == nil || !d.Contains(uint32(i))) {
				out = append(out, f.GetId()<<32|i)
			}
		}
	}
	out = out[min(o.Offset, uint64(len(out))):]
	if o.Limit != nil {
		out = out[:min(*o.Limit, uint64(len(out)))]
	}
	return out
}

// checkBatches compares batches with what the world holds.
func (w *world) checkBatches(schema *arrow.Schema, batches []arrow.RecordBatch, want []uint64) error {
	var at int
	for _, b := range batches {
		if at+int(b.NumRows()) > len(want) {
			return fmt.Errorf("more than the %d rows", len(want))
		}
		for c, f := range schema.Fields() {
			for i := range int(b.NumRows()) {
				row := want[at+i]
				if err := w.checkValue(f.Name, b.Column(c), i, row>>32, row&0xffffffff); err != nil {
					return fmt.Errorf("row %d (%d of fragment %d), column %s: %w", at+i, row&0xffffffff, row>>32, f.Name, err)
				}
			}
		}
		at += int(b.NumRows())
	}
	if at != len(want) {
		return fmt.Errorf("%d rows, want %d", at, len(want))
	}
	return nil
}

func (w *world) checkValue(name string, a arrow.Array, i int, fragment, row uint64) error {
	if x, ok := a.(*array.Uint64); ok {
		if got := x.Value(i); (name == RowAddressColumn || name == RowIDColumn) && got != fragment<<32|row {
			return fmt.Errorf("%x", got)
		}
		return nil
	}
	var id int32
	if _, err := fmt.Sscanf(name, "c%d", &id); err != nil {
		return err
	}
	held := false
	for _, f := range w.m.GetFragments() {
		for _, d := range f.GetFiles() {
			for _, x := range d.GetFields() {
				held = held || f.GetId() == fragment && x == id
			}
		}
	}
	if a.IsNull(i) || !held {
		if held || a.IsValid(i) {
			return fmt.Errorf("null %v, in a file %v", a.IsNull(i), held)
		}
		return nil
	}
	if got := binary.LittleEndian.Uint64(a.(*array.FixedSizeBinary).Value(i)); got != value(id, fragment, row) {
		return fmt.Errorf("%x, want %x", got, value(id, fragment, row))
	}
	return nil
}

// reader reads a world's column. What it says in advance depends on need.
type reader struct {
	d     *datafile.File
	f     column.Field
	need  string // "all", "nothing", "first bytes" of each page until they were read
	mu    *sync.Mutex
	seen  map[int]bool
	width int
}

func opener(need string) openColumn {
	return func(d *datafile.File, f column.Field) (column.Reader, error) {
		return &reader{d: d, f: f, need: need, mu: new(sync.Mutex), seen: make(map[int]bool), width: f.Type.(*arrow.FixedSizeBinaryType).ByteWidth}, nil
	}
}

func (r *reader) Rows() uint64 { return r.d.Descriptor.GetLength() }
func (r *reader) Pages() []column.PageInfo {
	return []column.PageInfo{{Column: r.f.Column, Path: r.f.Name}}
}

func (r *reader) spans(from, to uint64, meta bool) (out []datafile.Span) {
	for p, page := range r.d.Columns[r.f.Column].GetPages() {
		first, end := page.GetPriority(), page.GetPriority()+page.GetLength()
		a, b := max(from, first), min(to, end)
		if a >= b {
			continue
		}
		pos := page.GetBufferOffsets()[0]
		r.mu.Lock()
		if meta && r.need == "first bytes" && !r.seen[p] {
			out = append(out, datafile.Span{Pos: pos, Size: 8})
			r.mu.Unlock()
			continue
		}
		r.seen[p] = r.seen[p] || !meta
		r.mu.Unlock()
		out = append(out, datafile.Span{Pos: pos + (a-first)*uint64(r.width), Size: (b - a) * uint64(r.width)})
	}
	return out
}

func (r *reader) Need(from, to uint64) []datafile.Span {
	if r.need == "nothing" {
		return nil
	}
	return r.spans(from, to, true)
}

func (r *reader) Read(ctx context.Context, src column.Source, from, to uint64, limit int64) (arrow.Array, error) {
	if int64(to-from)*int64(r.width) > limit {
		return nil, fmt.Errorf("page 0: %w", column.ErrLimit)
	}
	got, err := src.Fetch(ctx, r.spans(from, to, false))
	if err != nil {
		return nil, fmt.Errorf("page 0: %w", err)
	}
	var all []byte
	for _, b := range got {
		all = append(all, b...)
	}
	d := array.NewData(r.f.Type, int(to-from), []*memory.Buffer{nil, memory.NewBufferBytes(all)}, nil, 0, 0)
	return array.MakeFromData(d), nil
}

// randomWorld has fragments of all shapes.
func randomWorld(tb testing.TB, r *rand.Rand) *world {
	w := newWorld(tb, 8, 8+r.IntN(100), 8+r.IntN(3000))
	for i := range r.IntN(8) {
		id := uint64(i * 2)
		rows := 1 + r.IntN(300)
		files := [][][]int32{{{0, 1, 2}}, {{0, 1}, {2}}, {{0, 1, 2}, {1}}, {{0, 7}}, {{2, 0}, {0}, {1}}}
		f := w.add(id, rows, 1+r.IntN(rows), files[r.IntN(len(files))]...)
		switch r.IntN(4) {
		case 0:
			w.delete(f, uint32(r.IntN(rows)))
		case 1:
			var gone []uint32
			for x := range rows {
				if r.IntN(3) > 0 {
					gone = append(gone, uint32(x))
				}
			}
			if len(gone) > 0 {
				w.delete(f, gone...)
			}
		}
	}
	return w
}
