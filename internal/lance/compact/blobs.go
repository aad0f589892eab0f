package compact

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	encodingarray "github.com/seaweedfs/seaweed-lance/internal/lance/encoding/array"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/lance/scan"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// Columns of blobs hold descriptors of bytes that lie elsewhere (FORMAT A1.6). Descriptors are decoded and encoded anew as any
// values are; in between, a blobMover copies the bytes of those rows that are kept to where the new file has
// them, and says so in the descriptors. Kinds stay as they are: bytes in the data file go to the new data file, those beside
// it to files beside the new one, and what lies elsewhere stays there.

// Kinds of blobs of the second form, as they are stored.
const (
	blobInline    = 0
	blobPacked    = 1
	blobDedicated = 2
	blobExternal  = 3
	blobManaged   = 4
)

// findBlobs notes which columns of a field hold blobs, and tells whether any does. An error says what of it can't be moved.
func (s *shape) findBlobs(f *table.Field) (any bool, err error) {
	if f.Blob != table.NoBlob {
		s.blobs[f.ID] = f.Blob
		if f.Blob == table.BlobV2 && s.version != table.V2_2 {
			return true, fmt.Errorf("%w: blobs of the second kind in files of version %s", column.ErrUnsupported, s.version)
		}
		return true, nil
	}
	for _, c := range f.Children {
		has, err := s.findBlobs(c)
		if err != nil {
			return false, err
		}
		if has && f.Logical != "struct" {
			return false, fmt.Errorf("%w: blobs inside of a %s", column.ErrUnsupported, f.Logical)
		}
		any = any || has
	}
	return any, nil
}

// encodingOf is the message of the column of a field that is encoded; plain is that of most.
func (s *shape) encodingOf(id int32, plain *pb.Encoding) (*pb.Encoding, error) {
	if s.version != table.V2_0 || s.blobs[id] == table.NoBlob {
		return plain, nil
	}
	return encodingarray.ColumnEncoding(column.Field{Blob: true})
}

// copyRange appends a range of an object to the new file.
func (o *output) copyRange(ctx context.Context, r objects.Reader, s datafile.Span) (uint64, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.w.Copy(ctx, r, s)
}

// moveBlobs returns columns of a batch with their blobs in the new file. Whoever calls it releases them.
func (o *output) moveBlobs(ctx context.Context, from *pb.DataFragment, fields []int, b arrow.RecordBatch) ([]arrow.Array, error) {
	out := make([]arrow.Array, len(fields))
	for k, i := range fields {
		f := &o.shape.fields[i]
		if !f.blobs {
			out[k] = b.Column(k)
			out[k].Retain()
			continue
		}
		var err error
		if out[k], err = o.blobs.move(ctx, from, f.tree, b.Column(k)); err != nil {
			for _, a := range out[:k] {
				a.Release()
			}
			return nil, fmt.Errorf("column %q: %w", f.name, err)
		}
	}
	return out, nil
}

// blobMover copies the bytes of blobs to a new file and beside it. One goroutine uses it at a time.
type blobMover struct {
	t *table.Table
	// toFile appends a range of an object to the new data file.
	toFile func(ctx context.Context, r objects.Reader, s datafile.Span) (pos uint64, err error)
	side   *sidecars
	// moved is told how many bytes of the old data files, and of what lies beside them, were copied.
	moved func(int64)
	// open is what was read last.
	open   objects.Reader
	opened scan.Located
}

func (m *blobMover) close() {
	if m.open != nil {
		m.open.Close()
		m.open = nil
	}
}

// reader opens an object, or has it open.
func (m *blobMover) reader(ctx context.Context, at scan.Located) (objects.Reader, error) {
	if m.open != nil && m.opened == at {
		return m.open, nil
	}
	m.close()
	r, err := at.Store.Open(ctx, at.Name)
	if errors.Is(err, objects.ErrNotFound) {
		err = fmt.Errorf("%w: %w", datafile.ErrCorrupt, err)
	}
	if err != nil {
		return nil, fmt.Errorf("blobs in %s: %w", at.Label, err)
	}
	m.open, m.opened = r, at
	return r, nil
}

// check finds ranges that an object does not have.
func check(r objects.Reader, at scan.Located, s datafile.Span) error {
	if size := uint64(r.Entry().Size); s.Pos > size || s.Size > size-s.Pos {
		return fmt.Errorf("blobs in %s: %w: %d bytes at %d of %d", at.Label, datafile.ErrCorrupt, s.Size, s.Pos, size)
	}
	return nil
}

// move returns rows of a field with their blobs in the new file. They are of a fragment.
func (m *blobMover) move(ctx context.Context, from *pb.DataFragment, f *table.Field, a arrow.Array) (arrow.Array, error) {
	return m.walk(ctx, from, f, a, func(int) bool { return true })
}

// walk is move for a field inside of others, whose values there are where there says so.
func (m *blobMover) walk(ctx context.Context, from *pb.DataFragment, f *table.Field, a arrow.Array, there func(int) bool) (arrow.Array, error) {
	s, ok := a.(*array.Struct)
	if f.Blob != table.NoBlob {
		if !ok {
			return nil, fmt.Errorf("%w: blobs as %s", column.ErrUnsupported, a.DataType())
		}
		at, err := m.holder(from, f.ID)
		if err != nil {
			return nil, err
		}
		if f.Blob == table.BlobV2 {
			return m.second(ctx, at, f, s, there)
		}
		return m.first(ctx, at, s, there)
	}
	if !holdsBlobs(f) {
		a.Retain()
		return a, nil
	}
	if !ok || s.NumField() != len(f.Children) {
		return nil, fmt.Errorf("%w: field %q as %s", column.ErrUnsupported, f.Name, a.DataType())
	}
	kids := make([]arrow.ArrayData, s.NumField())
	for i, c := range f.Children {
		kid, err := m.walk(ctx, from, c, s.Field(i), func(i int) bool { return s.IsValid(i) && there(i) })
		if err != nil {
			return nil, err
		}
		defer kid.Release()
		kids[i] = kid.Data()
	}
	return structOf(s.DataType(), s.Len(), kids, s.IsValid), nil
}

// holdsBlobs tells whether a field or one below it holds blobs.
func holdsBlobs(f *table.Field) bool {
	return f.Blob != table.NoBlob || slices.ContainsFunc(f.Children, holdsBlobs)
}

// holder is where the data file lies that holds a field of a fragment; the zero place when none does.
func (m *blobMover) holder(f *pb.DataFragment, id int32) (scan.Located, error) {
	for _, d := range f.GetFiles() {
		for _, x := range d.GetFields() {
			if x == id {
				return scan.Locate(m.t, d)
			}
		}
	}
	return scan.Located{}, nil
}

// structOf makes an array of structs.
func structOf(t arrow.DataType, n int, kids []arrow.ArrayData, valid func(int) bool) arrow.Array {
	bits := make([]byte, bitutil.BytesForBits(int64(n)))
	nulls := 0
	for i := range n {
		if valid(i) {
			bitutil.SetBit(bits, i)
		} else {
			nulls++
		}
	}
	validity := memory.NewBufferBytes(bits)
	if nulls == 0 {
		validity = nil
	}
	d := array.NewData(t, n, []*memory.Buffer{validity}, kids, nulls, 0)
	defer d.Release()
	return array.NewStructData(d)
}

// numbers makes an array of numbers out of plain memory, which nobody has to release.
func numbers(values []uint64) arrow.ArrayData {
	b := memory.NewBufferBytes(arrow.Uint64Traits.CastToBytes(values))
	return array.NewData(arrow.PrimitiveTypes.Uint64, len(values), []*memory.Buffer{nil, b}, nil, 0, 0)
}
