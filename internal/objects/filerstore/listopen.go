package filerstore

import (
	"context"
	"errors"
	"fmt"
	"path"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

var _ objects.ListOpener = (*store)(nil)

// ListOpen implements objects.ListOpener: the filer sends the chunks along.
func (s *store) ListOpen(ctx context.Context, dir, from string, limit int) ([]objects.Listed, error) {
	page, err := s.list(ctx, dir, from, limit, true)
	if err != nil {
		return nil, err
	}
	full, err := s.directory(dir)
	if err != nil {
		return nil, err
	}
	out := make([]objects.Listed, len(page))
	for i, f := range page {
		name := path.Join(dir, f.Name)
		out[i] = objects.Listed{Entry: f.Entry, Open: func(ctx context.Context) (objects.Reader, error) {
			return s.openListed(ctx, full, name, f)
		}}
	}
	return out, nil
}

// openListed opens an object by the entry that a listing showed.
func (s *store) openListed(ctx context.Context, dir, name string, f found) (objects.Reader, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("opening %s: %w", name, err)
	}
	if f.Dir {
		return nil, fmt.Errorf("opening %s: a directory: %w", name, objects.ErrNotFound)
	}
	r, err := s.opened(ctx, dir, name, f.filer)
	if err == nil || ctx.Err() != nil {
		return r, err
	}
	if _, lookup := s.c.LookupEntry(ctx, dir, f.Name); errors.Is(lookup, objects.ErrNotFound) {
		return nil, fmt.Errorf("%w meanwhile: %w", objects.ErrNotFound, err)
	}
	return nil, err
}
