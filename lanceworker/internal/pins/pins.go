// Package pins keeps the versions that jobs and commands work on from being cleaned up meanwhile: it is
// how they, who have the engine's own tables, take a lease.
package pins

import (
	"context"
	"errors"
	"fmt"

	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
	"github.com/seaweedfs/seaweed-lance/lease"
	"github.com/seaweedfs/seaweed-lance/session"
)

// Pins take leases on what a Session opens.
type Pins struct {
	Session *session.Session
	Leases  *lease.Leases
}

// At returns what pins versions of the table at a location, until release is called. Its error is
// objects.ErrNotFound when the version is no longer there.
//
// A version of a branch is not pinned: the tags of branches belong to the root of the
// table, from where alone its cleanup is possible, too.
func (p Pins) At(l session.Location) func(context.Context, *table.Table) (release func(), err error) {
	return func(ctx context.Context, t *table.Table) (func(), error) {
		if t.Manifest().GetBranch() != "" {
			return func() {}, nil
		}
		v, err := p.Session.OpenVersion(ctx, l, t.Version())
		if errors.Is(err, table.ErrNoTable) {
			return nil, fmt.Errorf("%w: %w", objects.ErrNotFound, err)
		}
		if err != nil {
			return nil, err
		}
		if v.ETag() != t.Ref().Token {
			return nil, fmt.Errorf("%w: version %d of %s is that of another table by now", objects.ErrNotFound, t.Version(), l)
		}
		held, err := p.Leases.Take(ctx, v)
		if err != nil {
			return nil, err
		}
		return held.Release, nil
	}
}
