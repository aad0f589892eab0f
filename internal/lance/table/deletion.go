package table

import (
	"bytes"
	"context"
	"fmt"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// A deletion file lists the deleted rows of one fragment by their offset in it:
// as an Arrow IPC file with one uint32 column, or from some thousand rows on as
// a 32-bit Roaring bitmap.
const (
	deletionColumn = "row_id"
	// bitmapAbove is where Lance changes from the one to the other.
	bitmapAbove = 5000
	// maxDeletionFile bounds what is read: a bitmap of 2^32 rows is 512 MiB.
	maxDeletionFile = 1 << 30
	// maxDeletionArray bounds what a compressed array may say that it becomes;
	// what Lance writes has 20 kB.
	maxDeletionArray = 64 << 20
)

// ReadDeletions reads a fragment's deletion vector, which is empty for a
// fragment without one. The file must lie in the table's own root.
func ReadDeletions(ctx context.Context, s objects.Store, f *pb.DataFragment) (*roaring.Bitmap, error) {
	d := f.GetDeletionFile()
	if d == nil {
		return roaring.New(), nil
	}
	name := DeletionName(f.GetId(), d)
	if d.BaseId != nil {
		return nil, refused(name, "lies in base %d", d.GetBaseId())
	}
	b, _, err := objects.ReadAll(ctx, s, name, maxDeletionFile)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	v, err := DecodeDeletions(d.GetFileType(), b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if n := d.GetNumDeletedRows(); n != 0 && n != v.GetCardinality() {
		return nil, corrupt(name, "holds %d rows, the manifest says %d", v.GetCardinality(), n)
	}
	if !v.IsEmpty() && uint64(v.Maximum()) >= f.GetPhysicalRows() {
		return nil, corrupt(name, "deletes row %d of %d", v.Maximum(), f.GetPhysicalRows())
	}
	return v, nil
}

// DecodeDeletions decodes the content of a deletion file.
func DecodeDeletions(kind pb.DeletionFile_Type, b []byte) (v *roaring.Bitmap, err error) {
	// The decoder is a library that indexes into what it is given.
	defer func() {
		if r := recover(); r != nil {
			v, err = nil, fmt.Errorf("%w: deletion vector: %v", ErrCorrupt, r)
		}
	}()
	if kind == pb.DeletionFile_BITMAP {
		v, n, err := decodeBitmap(b)
		if err != nil {
			return nil, fmt.Errorf("%w: deletion bitmap: %v", ErrCorrupt, err)
		}
		if n != len(b) {
			return nil, fmt.Errorf("%w: deletion bitmap ends after %d of %d bytes", ErrCorrupt, n, len(b))
		}
		return v, nil
	}
	v = roaring.New()
	if err := readArrowUint32(b, maxDeletionArray, v.AddMany); err != nil {
		return nil, fmt.Errorf("%w: deletion array: %v", ErrCorrupt, err)
	}
	return v, nil
}

// decodeBitmap reads a bitmap and tells how many bytes it took. One whose numbers
// don't ascend would answer wrongly later: the library doesn't look.
func decodeBitmap(b []byte) (v *roaring.Bitmap, n int, err error) {
	defer func() {
		if r := recover(); r != nil {
			v, err = nil, fmt.Errorf("%v", r)
		}
	}()
	v = roaring.New()
	read, err := v.ReadFrom(bytes.NewReader(b))
	if err != nil {
		return nil, 0, err
	}
	last, count := int64(-1), uint64(0)
	for it := v.Iterator(); it.HasNext(); count++ {
		x := int64(it.Next())
		if x <= last {
			return nil, 0, fmt.Errorf("%d behind %d", x, last)
		}
		last = x
	}
	if count != v.GetCardinality() {
		return nil, 0, fmt.Errorf("%d numbers where it says %d", count, v.GetCardinality())
	}
	return v, int(read), nil
}

// EncodeDeletions encodes a deletion vector in the form that Lance would choose for it.
func EncodeDeletions(v *roaring.Bitmap) (pb.DeletionFile_Type, []byte, error) {
	var out bytes.Buffer
	if v.GetCardinality() > bitmapAbove {
		if _, err := v.WriteTo(&out); err != nil {
			return 0, nil, fmt.Errorf("encoding deletion bitmap: %w", err)
		}
		return pb.DeletionFile_BITMAP, out.Bytes(), nil
	}
	schema := arrow.NewSchema([]arrow.Field{{Name: deletionColumn, Type: arrow.PrimitiveTypes.Uint32}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	b.Field(0).(*array.Uint32Builder).AppendValues(v.ToArray(), nil)
	rec := b.NewRecordBatch()
	defer rec.Release()
	w, err := ipc.NewFileWriter(&out, ipc.WithSchema(schema), ipc.WithZstd())
	if err == nil {
		err = w.Write(rec)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return 0, nil, fmt.Errorf("encoding deletion array: %w", err)
	}
	return pb.DeletionFile_ARROW_ARRAY, out.Bytes(), nil
}
