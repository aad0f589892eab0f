package table

import (
	"context"
	"fmt"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// Openable is a Listing whose versions are opened with the store's help from
// what the listing said.
type Openable struct {
	Listing
	store objects.Store
	open  map[string]func(context.Context) (objects.Reader, error)
}

// ListOpen lists _versions whole, for callers that are about to open some of them.
func ListOpen(ctx context.Context, s objects.Store) (*Openable, error) {
	o := &Openable{store: s, open: make(map[string]func(context.Context) (objects.Reader, error))}
	c := collector{l: &o.Listing}
	err := objects.AllOpen(ctx, s, VersionsDir, func(l objects.Listed) error {
		c.add(l.Entry)
		o.open[VersionsDir+"/"+l.Name] = l.Open
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("listing %s: %w", VersionsDir, err)
	}
	if err := c.done(); err != nil {
		return nil, err
	}
	return o, nil
}

// Open reads a version of the listing. objects.ErrNotFound when it has gone since; what was
// read is in the Table's Ref.
func (o *Openable) Open(ctx context.Context, ref VersionRef) (*Table, error) {
	open := o.open[ref.Name]
	if open == nil {
		return openRef(ctx, o.store, ref, o.Naming)
	}
	return openBy(ctx, o.store, ref, o.Naming, open)
}
