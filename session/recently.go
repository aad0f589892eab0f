package session

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/location"
)

// Version is a version of a table as a listing shows it.
type Version struct {
	Version uint64
	// Time is when its manifest appeared, by the store's clock.
	Time time.Time
	// ETag identifies the manifest.
	ETag string
}

// listedFor is how long a list of versions is used while there is no new one: others may have
// removed old ones meanwhile.
const listedFor = time.Hour

// versionBytes is about what a Version takes besides its ETag.
const versionBytes = 64

// versionList is what the metadata cache has of a table's versions. It is never changed.
type versionList struct {
	versions []Version
	listed   time.Time
}

// Recent is the newest version of a table as it was less than Freshness ago. A
// table that has not changed since it was last looked at costs one listing of one entry, or
// nothing within that time, whether or not it is still open.
func (s *Session) Recent(ctx context.Context, l Location) (Version, error) {
	v, err := s.recent(ctx, l)
	if err != nil {
		return Version{}, classify(err)
	}
	return versionOf(v.rec.ref), nil
}

func versionOf(r table.VersionRef) Version { return Version{r.Version, r.ModTime, r.Token} }

// recent is a view that may have no place.
func (s *Session) recent(ctx context.Context, l Location) (view, error) {
	key := location.Key(l)
	if err := s.recentlyRefused(key); err != nil {
		return view{}, err
	}
	if r := s.record(key); r != nil {
		// A table that was seen and then doubted has no time.
		if s.lately(r.checked, Freshness) {
			return view{key: key, name: l.String(), rec: r}, nil
		}
	}
	return s.look(ctx, l)
}

// Versions are all versions of a table, the oldest first, as they were less than Freshness
// ago; ones that were cleaned up may be among them for an hour. As long as the newest stays they are kept like
// manifests are: a version that comes of age is seen without a call.
func (s *Session) Versions(ctx context.Context, l Location) ([]Version, error) {
	v, err := s.recent(ctx, l)
	if err != nil {
		return nil, classify(err)
	}
	k := cacheKey{v.key, "versions", ""}
	if token := v.rec.ref.Token; token != "" {
		k.token = v.rec.ref.Name + " " + token
	}
	if known := s.listed(s.metadata.get(k)); known != nil {
		return slices.Clone(known), nil
	}
	known, _, err := s.lists.do(ctx, k, func(ctx context.Context) ([]Version, error) {
		return again(func() ([]Version, error) { return s.list(ctx, l, k, v.rec.generation) })
	})
	return slices.Clone(known), classify(err)
}

// listed are the versions in what is kept, nil when there are none that were listed lately.
func (s *Session) listed(kept any) []Version {
	known, _ := kept.(*versionList)
	if known == nil || !s.lately(known.listed, listedFor) {
		return nil
	}
	return known.versions
}

func (s *Session) list(ctx context.Context, l Location, k cacheKey, generation uint64) ([]Version, error) {
	if known := s.listed(s.metadata.peek(k)); known != nil {
		return known, nil // listed since
	}
	now := s.now()
	p, err := s.placeOf(ctx, l)
	if err != nil {
		return nil, err
	}
	listing, err := table.ListVersions(ctx, p.Store)
	if err != nil {
		return nil, left(p, err)
	}
	if len(listing.Versions) == 0 {
		return nil, fmt.Errorf("%s: %w", l, ErrNoTable)
	}
	out := make([]Version, len(listing.Versions))
	size := int64(0)
	for i, r := range listing.Versions {
		out[i] = versionOf(r)
		size += versionBytes + int64(len(r.Token))
	}
	s.metadata.put(k, &versionList{out, now}, size, s.current(k.location, generation))
	return out, nil
}

// Fact is something small that follows from a table's newest version and is remembered as
// long as that stays the newest, by a name of the caller's; find makes it, once for all who want it
// at the same time. It must not be changed.
func (s *Session) Fact(ctx context.Context, l Location, name string, find func(context.Context, *Table) (any, error)) (any, error) {
	fact, err := again(func() (any, error) {
		v, err := s.recent(ctx, l)
		if err != nil {
			return nil, err
		}
		fact, ok := v.rec.extra.fact(name)
		if ok {
			return fact, nil
		}
		fact, _, err = s.facts.do(ctx, cacheKey{v.key, name, fmt.Sprint(v.rec.ref.Version, " ", v.rec.ref.Token)}, func(ctx context.Context) (any, error) {
			return s.find(ctx, l, v, name, find)
		})
		return fact, err
	})
	return fact, classify(err)
}

func (s *Session) find(ctx context.Context, l Location, v view, name string, find func(context.Context, *Table) (any, error)) (any, error) {
	if fact, ok := v.rec.extra.fact(name); ok {
		return fact, nil // found since
	}
	var err error
	if v.place == nil {
		if v.place, err = s.placeOf(ctx, l); err != nil {
			return nil, err
		}
	}
	t, err := s.newest(ctx, v)
	if err != nil {
		return nil, err
	}
	fact, err := find(ctx, t)
	if err != nil {
		return nil, err
	}
	x := v.rec.extra
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.facts == nil {
		x.facts = make(map[string]any)
	}
	x.facts[name] = fact
	return fact, nil
}
