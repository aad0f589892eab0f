package storetest

import (
	"context"
	"errors"
	"fmt"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// Opening is a store over another whose listings can be opened, as those of a
// cluster can: each entry opens as the object that was listed, whatever has become of it, without
// the other store's being asked. For small objects: a listing reads them all.
func Opening(s objects.Store) objects.Store { return opening{s} }

type opening struct{ objects.Store }

var _ objects.ListOpener = opening{}

// ListOpen implements objects.ListOpener.
func (o opening) ListOpen(ctx context.Context, dir, from string, limit int) ([]objects.Listed, error) {
	page, err := o.List(ctx, dir, from, limit)
	if err != nil {
		return nil, err
	}
	out := objects.OpenByName(o.Store, dir, page)
	for i, l := range out {
		if l.Dir {
			continue
		}
		p, e, err := objects.ReadListed(ctx, l, large)
		if errors.Is(err, objects.ErrNotFound) {
			continue // removed since; by its name it is not found either
		}
		if err != nil {
			return nil, fmt.Errorf("listing %s: %w", dir, err)
		}
		r := &kept{p, e}
		out[i].Entry.Size, out[i].Entry.ModTime, out[i].Entry.Token = e.Size, e.ModTime, e.Token
		out[i].Open = func(ctx context.Context) (objects.Reader, error) { return r, ctx.Err() }
	}
	return out, nil
}

// kept reads an object from memory.
type kept struct {
	p []byte
	e objects.Entry
}

func (k *kept) Entry() objects.Entry { return k.e }

func (k *kept) Close() error { return nil }

func (k *kept) ReadAt(ctx context.Context, p []byte, off int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if off < 0 || off > int64(len(k.p)) || copy(p, k.p[off:]) < len(p) {
		return fmt.Errorf("reading %s: %d bytes at %d of %d: %w", k.e.Name, len(p), off, len(k.p), objects.ErrShort)
	}
	return nil
}
