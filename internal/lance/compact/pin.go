package compact

import (
	"context"
	"fmt"

	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
)

// pin has the version of a pass kept, and notes which files that keeps.
func (r *run) pin(ctx context.Context, t *table.Table) (release func(), err error) {
	if r.opts.Pin == nil {
		return func() {}, nil
	}
	unpin, err := r.opts.Pin(ctx, t)
	if err != nil {
		return nil, fmt.Errorf("pinning version %d: %w", t.Version(), err)
	}
	r.pinned = make(map[string]bool)
	for _, f := range t.Fragments() {
		for _, d := range f.GetFiles() {
			r.pinned[table.DataName(d)] = true
		}
		if d := f.GetDeletionFile(); d != nil {
			r.pinned[table.DeletionName(f.GetId(), d)] = true
		}
	}
	return func() { r.pinned = nil; unpin() }, nil
}

// kept refuses a fragment with files that the pinned version does not name: it has changed
// since, and another pass pins the version that it is in now.
func (r *run) kept(f *pb.DataFragment, version uint64) error {
	if r.pinned == nil {
		return nil
	}
	for _, d := range f.GetFiles() {
		if !r.pinned[table.DataName(d)] {
			return fmt.Errorf("%w: fragment %d has another data file in version %d", table.ErrConflict, f.GetId(), version)
		}
	}
	if d := f.GetDeletionFile(); d != nil && !r.pinned[table.DeletionName(f.GetId(), d)] {
		return fmt.Errorf("%w: fragment %d has another deletion file in version %d", table.ErrConflict, f.GetId(), version)
	}
	return nil
}
