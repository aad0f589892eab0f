package table

import (
	"context"
	"fmt"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// firstPage is how many names are asked for when the first entry of
// _versions is no V2 manifest.
const firstPage = 16

// Peeked is the newest version as a listing showed it, not read yet.
type Peeked struct {
	Ref    VersionRef
	Naming Naming
	store  objects.Store
	open   func(context.Context) (objects.Reader, error)
}

// Open reads the version, with the store's help from what the listing said. objects.ErrNotFound
// when it has gone since; what was read is in the Table's Ref.
func (p *Peeked) Open(ctx context.Context) (*Table, error) {
	return openBy(ctx, p.store, p.Ref, p.Naming, p.open)
}

// Peek finds the newest version: with V2 names the first entry of a listing, else by listing
// all. known is how the table named its manifests when it was seen before. ErrNoTable
// when there is none.
func Peek(ctx context.Context, s objects.Store, known Naming) (*Peeked, error) {
	if known == NamingV1 {
		return peekAll(ctx, s)
	}
	from := ""
	for limit := 1; ; limit = firstPage {
		page, err := objects.ListOpen(ctx, s, VersionsDir, from, limit)
		if err != nil {
			return nil, fmt.Errorf("listing %s: %w", VersionsDir, err)
		}
		for _, l := range page {
			v, naming, detached, ok := parseManifestName(l.Name)
			switch {
			case l.Dir || !ok || detached:
			case naming == NamingV2:
				return &Peeked{versionRef(v, l.Entry, false), NamingV2, s, l.Open}, nil
			default: // V1 names don't sort by version
				return peekAll(ctx, s)
			}
		}
		if len(page) < limit {
			return nil, fmt.Errorf("%s: %w", s, ErrNoTable)
		}
		from = page[len(page)-1].Name + "\x00"
	}
}

// peekAll lists all versions. It leaves the chunks out: a listing of many versions is
// made more often than the newest of them is read.
func peekAll(ctx context.Context, s objects.Store) (*Peeked, error) {
	l, err := ListVersions(ctx, s)
	if err != nil {
		return nil, err
	}
	if len(l.Versions) == 0 {
		return nil, fmt.Errorf("%s: %w", s, ErrNoTable)
	}
	ref := l.Versions[len(l.Versions)-1]
	return &Peeked{ref, l.Naming, s, func(ctx context.Context) (objects.Reader, error) { return s.Open(ctx, ref.Name) }}, nil
}

// Newest is what Peek finds.
func Newest(ctx context.Context, s objects.Store) (VersionRef, Naming, error) {
	p, err := Peek(ctx, s, NamingUnknown)
	if err != nil {
		return VersionRef{}, NamingUnknown, err
	}
	return p.Ref, p.Naming, nil
}
