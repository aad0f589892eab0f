package encoding

import (
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"google.golang.org/protobuf/proto"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	arrays "github.com/seaweedfs/seaweed-lance/internal/lance/encoding/array"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/slab"
	"github.com/seaweedfs/seaweed-lance/internal/lance/lancetest"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
)

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
	memory  slab.Arena
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
			k.memory.Free()
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
			pages, ok, err := Keep(version, m, bufs, part, 1<<30, &k.memory)
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
