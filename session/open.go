package session

import (
	"context"
	"errors"
	"fmt"

	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// Open opens the newest version of a table. ErrNoTable when there is none.
func (s *Session) Open(ctx context.Context, l Location) (*Table, error) {
	t, err := again(func() (*Table, error) {
		v, err := s.look(ctx, l)
		if err != nil {
			return nil, err
		}
		return s.newest(ctx, v)
	})
	return t, classify(err)
}

// OpenVersion opens a version of a table by its number. ErrGone when the table does not have
// it.
func (s *Session) OpenVersion(ctx context.Context, l Location, version uint64) (*Table, error) {
	t, err := again(func() (*Table, error) {
		v, err := s.look(ctx, l)
		if err != nil {
			return nil, err
		}
		if v.rec.ref.Version == version {
			return s.newest(ctx, v)
		}
		return s.version(ctx, v, version)
	})
	return t, classify(err)
}

// newest is the version of a view.
func (s *Session) newest(ctx context.Context, v view) (*Table, error) {
	if v.read != nil {
		return s.table(v, v.read), nil
	}
	t, err := s.manifest(ctx, v, v.rec.ref)
	if errors.Is(err, objects.ErrNotFound) || errors.Is(err, errChanged) {
		if err := s.doubt(v); err != nil {
			return nil, err
		}
		err = fmt.Errorf("%w: %w", errChanged, err)
	}
	if err != nil {
		return nil, err
	}
	return s.table(v, t), nil
}

// doubt makes the next look at a table ask the store. A version that the store did not
// show before either is forgotten; one that it showed has been cleaned up since.
func (s *Session) doubt(v view) error {
	if v.rec.lagging {
		s.leave(v.key, v.rec)
		return nil
	}
	_, err := s.publish(v.key, v.rec, v.rec.doubted())
	return err
}

// version is a version of a view's table by number.
func (s *Session) version(ctx context.Context, v view, version uint64) (*Table, error) {
	ref := table.VersionRef{Version: version, Name: v.rec.naming.ManifestName(version)}
	// Which object it is has to come from the store: a number may come again.
	r, err := v.place.Store.Open(ctx, ref.Name)
	if err != nil {
		return nil, fmt.Errorf("%s: version %d: %w", v.name, version, err)
	}
	e := r.Entry()
	if err := r.Close(); err != nil {
		return nil, fmt.Errorf("closing %s: %w", ref.Name, err)
	}
	ref.Size, ref.ModTime, ref.Token = e.Size, e.ModTime, e.Token
	t, err := s.manifest(ctx, v, ref)
	if err != nil {
		return nil, err
	}
	return s.table(v, t), nil
}

// manifest is a version by its manifest object: kept, or read once for all who want it now.
func (s *Session) manifest(ctx context.Context, v view, ref table.VersionRef) (*table.Table, error) {
	if t := s.kept(v, ref, (*cache).get); t != nil {
		return t, nil
	}
	read := func(ctx context.Context) (*table.Table, error) {
		// Somebody may have read it since.
		if t := s.kept(v, ref, (*cache).peek); t != nil {
			return t, nil
		}
		t, err := table.OpenRef(ctx, v.place.Store, &table.Listing{Naming: v.rec.naming}, ref)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", v.name, err)
		}
		if t.Ref().Token != ref.Token {
			return nil, fmt.Errorf("%s: %s: %w", v.name, ref.Name, errChanged)
		}
		s.keep(v, t)
		return t, nil
	}
	if ref.Token == "" {
		return read(ctx)
	}
	t, shared, err := s.manifests.do(ctx, cacheKey{v.key, ref.Name, ref.Token}, read)
	if shared {
		s.counts.shared.Add(1)
	}
	return t, err
}

// keep puts a version into the caches.
func (s *Session) keep(v view, t *table.Table) {
	rest, indices := t.Split()
	k := cacheKey{v.key, t.Ref().Name, t.Ref().Token}
	current := s.current(v.key, v.rec.generation)
	s.metadata.put(k, rest, rest.MemorySize(), current)
	if indices != nil {
		s.index.put(k, indices, indices.MemorySize(), current)
	}
}

// kept is a version out of the caches, nil when they don't have all of it.
func (s *Session) kept(v view, ref table.VersionRef, get func(*cache, cacheKey) any) *table.Table {
	k := cacheKey{v.key, ref.Name, ref.Token}
	rest, _ := get(s.metadata, k).(*table.Table)
	if rest == nil {
		return nil
	}
	if !rest.HasIndices() {
		return rest.Join(v.place.Store, nil)
	}
	indices, _ := get(s.index, k).(*table.Indices)
	if indices == nil {
		return nil
	}
	return rest.Join(v.place.Store, indices)
}
