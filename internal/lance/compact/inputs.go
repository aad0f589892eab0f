package compact

import (
	"context"
	"fmt"
	"sync"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
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
func readInputs(ctx context.Context, t *table.Table, sh *shape, frags []*pb.DataFragment, held [][]holding, l limits) (*inputs, error) {
	in := &inputs{t: t, shape: sh, frags: frags, held: held, limits: l, order: make(map[uint64]int), files: newOpenFiles(l.metadata)}
	for i, f := range t.Fragments() {
		in.order[f.GetId()] = i
	}
	for _, f := range frags {
		s := stored{rows: f.GetPhysicalRows()}
		if f.GetDeletionFile() != nil {
			var err error
			if s.deleted, err = table.ReadDeletions(ctx, t.Store(), f); err != nil {
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

// openFiles keeps the metadata of data files that are opened several times.
type openFiles struct {
	mu   sync.Mutex
	kept map[string]*datafile.File
	room int64
}

func newOpenFiles(room int64) *openFiles {
	return &openFiles{kept: make(map[string]*datafile.File), room: room}
}

// open opens a file. It is scan.Options.Files.
func (c *openFiles) open(ctx context.Context, s objects.Store, name string) (*datafile.File, error) {
	key := fmt.Sprint(s) + "\x00" + name
	c.mu.Lock()
	kept := c.kept[key]
	c.mu.Unlock()
	if kept != nil {
		r, err := s.Open(ctx, name)
		if err != nil {
			return nil, err
		}
		return kept.With(r), nil
	}
	f, err := datafile.Open(ctx, s, name)
	if err != nil {
		return nil, err
	}
	size := f.MemorySize()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.room >= size {
		c.room -= size
		c.kept[key] = f.With(nil)
	}
	return f, nil
}
