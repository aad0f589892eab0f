package scan

import (
	"context"
	"fmt"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// readDeletions reads a fragment's deletion vector before the fragment is opened.
func (s *Scan) readDeletions(ctx context.Context, entry *pb.DataFragment, known *facts) error {
	v, have := s.opts.Deleted[entry.GetId()]
	if !have {
		var err error
		if v, err = s.bases.deletions(ctx, entry, known.rows); err != nil {
			return err
		}
	}
	known.deletions, known.deleted = true, v
	if v != nil {
		known.gone = v.GetCardinality()
	}
	return nil
}

// countRows asks a fragment's first file how many rows it has.
func (s *Scan) countRows(ctx context.Context, entry *pb.DataFragment, known *facts) error {
	if len(entry.GetFiles()) == 0 {
		return nil
	}
	d, err := s.openFile(ctx, entry.GetFiles()[0])
	if err != nil {
		return err
	}
	defer d.Close()
	if known.rows = d.Descriptor.GetLength(); known.rows > maxFragmentRows {
		return fmt.Errorf("%s: %w: %d rows", d.place.label, errCorrupt, known.rows)
	}
	return nil
}

// readDeletions reads the deletion vector unless it is known or not wanted.
func (f *fragment) readDeletions(ctx context.Context, entry *pb.DataFragment, known facts) error {
	if f.scan.opts.KeepDeleted {
		return nil
	}
	known.rows = f.rows
	if !known.deletions {
		if err := f.scan.readDeletions(ctx, entry, &known); err != nil {
			return err
		}
	}
	if known.gone > 0 {
		f.deleted = known.deleted
	}
	return nil
}

// trim leaves out the deleted rows at both ends of a range.
func trim(deleted *roaring.Bitmap, from, to uint64) (uint64, uint64) {
	if deleted == nil {
		return from, to
	}
	for from < to && deleted.Contains(uint32(from)) {
		from++
	}
	for to > from && deleted.Contains(uint32(to-1)) {
		to--
	}
	return from, to
}
