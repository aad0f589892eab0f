package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/location"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// lookAgain is how often a look is repeated when what it found changed under it.
const lookAgain = 8

// errChanged is returned when a table changed while it was looked at.
var errChanged = errors.New("the table keeps changing")

// view is a table as it was last seen.
type view struct {
	key   string
	name  string
	place *location.Place
	rec   *record
	// read is the version, when it had to be read on the way.
	read *table.Table
}

// look asks the store for the newest version of a table, once for all who want to
// know that now.
func (s *Session) look(ctx context.Context, l Location) (view, error) {
	if !location.Valid(l) {
		return view{}, errors.New("opening a table: no location")
	}
	v, shared, err := s.looks.do(ctx, location.Key(l), func(ctx context.Context) (view, error) {
		return again(func() (view, error) {
			v, err := s.lookOnce(ctx, l)
			return v, left(v.place, err)
		})
	})
	if shared {
		s.counts.shared.Add(1)
	}
	return v, err
}

// again repeats what fails because the table changed meanwhile.
func again[T any](do func() (T, error)) (v T, err error) {
	for range lookAgain {
		if v, err = do(); !errors.Is(err, errChanged) {
			break
		}
	}
	return v, err
}

func (s *Session) lookOnce(ctx context.Context, l Location) (view, error) {
	v := view{key: location.Key(l), name: l.String()}
	known, now := s.record(v.key), s.now()
	var err error
	v.place, err = s.placeOf(ctx, l)
	if errors.Is(err, ErrNoTable) {
		s.leave(v.key, known)
	}
	if err != nil {
		return v, err
	}
	naming := table.NamingUnknown
	if known != nil {
		naming = known.naming
	}
	newest, err := table.Peek(ctx, v.place.Store, naming)
	if errors.Is(err, ErrNoTable) {
		if v.place.Moved != nil && v.place.Moved() {
			return v, fmt.Errorf("%w: %w", errChanged, err)
		}
		s.leave(v.key, known)
	}
	if err != nil {
		return v, err
	}
	ref := newest.Ref
	if known != nil && known.ref.Name == ref.Name && known.ref.Token == ref.Token && ref.Token != "" {
		v.rec = known.again(now)
		s.counts.unchanged.Add(1)
		return v, s.take(v.key, known, v.rec)
	}
	if err := s.refused(v.key, ref); err != nil {
		return v, err
	}
	t, err := newest.Open(ctx)
	if errors.Is(err, objects.ErrNotFound) {
		// Cleaned up since the listing, which happens only when a newer one has come.
		return v, fmt.Errorf("%w: %w", errChanged, err)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", l, err)
		s.refuse(v.key, ref, err)
		return v, err
	}
	return s.seen(ctx, v, known, t, now)
}

// seen takes in a version that is not the known one, by a look that began at now.
func (s *Session) seen(ctx context.Context, v view, known *record, t *table.Table, now time.Time) (view, error) {
	ref, id := t.Ref(), s.idOf(t)
	fresh := &record{id: id, ref: ref, naming: t.Naming(), checked: now, confirmed: now, extra: new(extra)}
	if known == nil {
		v.rec, v.read = fresh, t
		if err := s.take(v.key, nil, fresh); err != nil {
			return v, err
		}
		s.keep(v, t)
		return v, nil
	}
	verdict, err := judge(known, ref, id, v.place.Lags, now, func() (bool, error) { return isThere(ctx, v.place.Store, known.ref) })
	if err != nil {
		return v, err
	}
	switch verdict {
	case behind:
		s.counts.lagging.Add(1)
		v.rec = known.unconfirmed(now)
		return v, s.take(v.key, known, v.rec)
	case moved:
		v.rec = known.newer(ref, t.Naming(), id, now)
	case another:
		v.rec = fresh
	}
	if err := s.take(v.key, known, v.rec); err != nil {
		return v, err
	}
	if verdict == another {
		s.startOver(v.key)
	} else {
		s.counts.moves.Add(1)
	}
	v.read = t
	s.keep(v, t)
	return v, nil
}

// take publishes a record, or fails with errChanged.
func (s *Session) take(key string, known, next *record) error {
	ok, err := s.publish(key, known, next)
	if err == nil && !ok {
		err = errChanged
	}
	return err
}
