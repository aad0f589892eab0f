package objects

import (
	"context"
	"path"
)

// Listed is an entry of a listing together with a way to open it.
type Listed struct {
	Entry
	// Open opens what was listed, as Store.Open does: the reader's entry has the
	// whole name, and a directory is ErrNotFound. Where the store can't open by a
	// listing, another object that has taken the name since is opened: the
	// token tells.
	Open func(ctx context.Context) (Reader, error)
}

// ListOpener is a Store whose listings say where the bytes are, so that what
// was listed is opened without asking again. Use ListOpen.
//
// Such a reader is like one that was opened when the listing was made: what was removed
// since reads as it was, or is ErrNotFound.
type ListOpener interface {
	// ListOpen is List with entries that can be opened.
	ListOpen(ctx context.Context, dir, from string, limit int) ([]Listed, error)
}

// ListOpen lists a page like Store.List, for callers that are about to open some of it.
func ListOpen(ctx context.Context, s Store, dir, from string, limit int) ([]Listed, error) {
	if o, ok := s.(ListOpener); ok {
		return o.ListOpen(ctx, dir, from, limit)
	}
	page, err := s.List(ctx, dir, from, limit)
	if err != nil {
		return nil, err
	}
	return OpenByName(s, dir, page), nil
}

// OpenByName is a page of a store's listing with entries that are opened by their names.
func OpenByName(s Store, dir string, page []Entry) []Listed {
	out := make([]Listed, len(page))
	for i, e := range page {
		name := path.Join(dir, e.Name)
		out[i] = Listed{Entry: e, Open: func(ctx context.Context) (Reader, error) { return s.Open(ctx, name) }}
	}
	return out
}

// AllOpen is All for callers that are about to open some of the entries.
func AllOpen(ctx context.Context, s Store, dir string, yield func(Listed) error) error {
	list := func(from string, limit int) ([]Listed, error) { return ListOpen(ctx, s, dir, from, limit) }
	return pages(list, func(l Listed) string { return l.Name }, yield)
}

// ReadListed is ReadAll of an entry of a listing.
func ReadListed(ctx context.Context, l Listed, limit int64) ([]byte, Entry, error) {
	r, err := l.Open(ctx)
	if err != nil {
		return nil, Entry{}, err
	}
	return readAll(ctx, r, limit)
}
