package scan

import (
	"context"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// Located is where a file of a table lies.
type Located struct {
	Store objects.Store
	// Name of the object in the store, and Label for people.
	Name, Label string
}

// Locate finds the root in which a data file lies. Other roots than the table's own are reached as its WithBases
// said.
func Locate(t *table.Table, d *pb.DataFile) (Located, error) {
	p, err := newBases(t, nil).data(d)
	return Located{p.store, p.name, p.label}, err
}

// ReadDeletions reads the deletion vector of a fragment with its number of rows, in whichever root it lies; nil
// without one.
func ReadDeletions(ctx context.Context, t *table.Table, f *pb.DataFragment) (*roaring.Bitmap, error) {
	return newBases(t, nil).deletions(ctx, f, f.GetPhysicalRows())
}
