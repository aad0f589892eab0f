package compact

import (
	"context"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/lance/scan"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
)

// inputs are the fragments of a task.
type inputs struct {
	t     *table.Table
	shape *shape
	frags []*pb.DataFragment
	// held is what each holds of each top-level field, stored which rows.
	held   [][]holding
	stored []stored
	// order of the fragments in the manifest.
	order  map[uint64]int
	limits limits
	files  *openFiles
}

// readInputs reads which rows of the fragments are deleted.
func readInputs(ctx context.Context, t *table.Table, sh *shape, frags []*pb.DataFragment, held [][]holding, l limits, files *openFiles) (*inputs, error) {
	in := &inputs{t: t, shape: sh, frags: frags, held: held, limits: l, order: make(map[uint64]int), files: files}
	for i, f := range t.Fragments() {
		in.order[f.GetId()] = i
	}
	for _, f := range frags {
		s := stored{rows: f.GetPhysicalRows()}
		if f.GetDeletionFile() != nil {
			var err error
			if s.deleted, err = scan.ReadDeletions(ctx, t, f); err != nil {
				return nil, &fragmentError{f.GetId(), err}
			}
		}
		in.stored = append(in.stored, s)
	}
	return in, nil
}

// deletions by fragment, for a scan.
func (in *inputs) deletions() map[uint64]*roaring.Bitmap {
	m := make(map[uint64]*roaring.Bitmap)
	for i, f := range in.frags {
		m[f.GetId()] = in.stored[i].deleted
	}
	return m
}

// lineage of the rows of pieces.
func (in *inputs) lineage(pieces []piece) (l table.Lineage, err error) {
	if !in.t.StableRowIDs() {
		return l, nil
	}
	var from []*pb.DataFragment
	var without []*roaring.Bitmap
	for _, p := range pieces {
		s := in.stored[p.frag]
		gone := s.deleted
		if p.from > 0 || p.to < s.rows {
			if gone = roaring.New(); s.deleted != nil {
				gone = s.deleted.Clone()
			}
			gone.AddRange(0, p.from)
			gone.AddRange(p.to, s.rows)
		}
		from, without = append(from, in.frags[p.frag]), append(without, gone)
	}
	return table.LiveLineage(from, without)
}
