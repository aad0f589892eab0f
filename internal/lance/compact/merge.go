package compact

import (
	"context"
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
)

// outputs are the rows of each new file: as planned, or of whole fragments where a column can't be cut inside one.
func (k *task) outputs() []int64 {
	if !k.careful && !slices.ContainsFunc(k.sh.fields, func(f topField) bool { return f.unwritable != nil }) {
		return k.Outputs
	}
	var rows []uint64
	for _, f := range k.from {
		if n := liveRows(f); n > 0 {
			rows = append(rows, n)
		}
	}
	out := make([]int64, min(len(k.Outputs), len(rows)))
	for i, part := range share(rows, len(out)) {
		for _, j := range part {
			out[i] += int64(rows[j])
		}
	}
	return out
}

// liveRows are the rows of a fragment that are kept.
func liveRows(f *pb.DataFragment) uint64 {
	return f.GetPhysicalRows() - min(f.GetDeletionFile().GetNumDeletedRows(), f.GetPhysicalRows())
}

// merge puts pieces of fragments into one new data file. An error about one of them is a fragmentError.
func (k *task) merge(ctx context.Context, in *inputs, pieces []piece, name string) (*pb.DataFragment, error) {
	lineage, err := in.lineage(pieces)
	if err != nil {
		return nil, err
	}
	full := table.DataDir + "/" + name
	w, err := k.store.Create(ctx, full)
	if err != nil {
		return nil, fmt.Errorf("creating %s: %w", full, err)
	}
	defer w.Abort()
	o, err := newOutput(in, pieces, datafile.NewWriter(w, k.copyBuffer()), k.progress)
	if err != nil {
		return nil, err
	}
	side := &sidecars{store: k.store, data: full}
	k.side = append(k.side, side)
	defer side.abort()
	o.blobs = &blobMover{t: k.t, toFile: o.copyRange, side: side, moved: k.progress}
	defer o.blobs.close()
	if err := o.write(ctx); err != nil {
		return nil, err
	}
	if err := side.finish(ctx); err != nil {
		return nil, err
	}
	d, columns, err := o.finish(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("writing %s: %w", full, err)
	}
	if err := k.verify(ctx, d, o.rows, columns); err != nil {
		return nil, err
	}
	blobs, err := side.verify(ctx)
	if err != nil {
		return nil, err
	}
	k.res.BytesWritten += int64(d.GetFileSizeBytes()) + blobs
	f := &pb.DataFragment{Files: []*pb.DataFile{d}, PhysicalRows: o.rows}
	lineage.Set(f)
	return f, nil
}

// fragmentError is an error about the files of a fragment.
type fragmentError struct {
	id  uint64
	err error
}

func (e *fragmentError) Error() string { return fmt.Sprintf("fragment %d: %v", e.id, e.err) }
func (e *fragmentError) Unwrap() error { return e.err }

// verify reads back what describes the new file: whatever is wrong with it must
// come to light before the old ones are given up.
func (k *task) verify(ctx context.Context, d *pb.DataFile, rows uint64, columns []*pb.ColumnMetadata) error {
	file, err := datafile.Open(ctx, k.store, table.DataName(d))
	if err != nil {
		return fmt.Errorf("reading back: %w", err)
	}
	defer file.Close()
	if file.Descriptor.GetLength() != rows || len(file.Columns) != len(columns) {
		return fmt.Errorf("reading back %s: %d rows and %d columns, not %d and %d", d.GetPath(), file.Descriptor.GetLength(), len(file.Columns), rows, len(columns))
	}
	for i, c := range file.Columns {
		if !proto.Equal(c, columns[i]) {
			return fmt.Errorf("reading back %s: column %d is not what was written", d.GetPath(), i)
		}
	}
	return nil
}
