package session

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/seaweedfs/seaweed-lance/internal/location"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// placeOf is the opened location.
func (s *Session) placeOf(ctx context.Context, l Location) (*location.Place, error) {
	key := location.Key(l)
	s.mu.Lock()
	p, ok := s.mu.places.get(key)
	closed := s.mu.closed
	s.mu.Unlock()
	if closed {
		return nil, ErrClosed
	}
	if ok && (p.Moved == nil || !p.Moved()) {
		return p, nil
	}
	opened, err := location.Open(ctx, l)
	if errors.Is(err, objects.ErrNotFound) {
		// Not ErrGone as well: opening it again would not help.
		return nil, fmt.Errorf("%w: %v", ErrNoTable, err)
	}
	if err != nil {
		return nil, err
	}
	s.counts.opens.Add(1)
	s.mu.Lock()
	closed = s.mu.closed
	dropped := []*location.Place{&opened}
	if !closed {
		moved := s.mu.places.remove(key)
		dropped = append(s.mu.places.put(key, &opened), s.retire(moved)...)
	}
	s.mu.Unlock()
	release(dropped)
	if closed {
		return nil, ErrClosed
	}
	return &opened, nil
}

// retire keeps places on for those who still read there, though they are not what their locations lead
// to any more, and returns those that made room for them; mu is held.
func (s *Session) retire(moved []*location.Place) (dropped []*location.Place) {
	for _, p := range moved {
		if p.Release == nil {
			continue
		}
		s.mu.retirements++
		dropped = append(dropped, s.mu.retired.put(strconv.FormatUint(s.mu.retirements, 10), p)...)
	}
	return dropped
}

// release gives back what places take that the session does not keep any more. They may still be in
// use. Not under the session's lock: it waits for the file system.
func release(places []*location.Place) {
	for _, p := range places {
		if p.Release != nil {
			p.Release()
		}
	}
}

// left is errChanged for what was not found in a place that the session has let go of, and that is no
// longer where it was: there may be another.
func left(p *location.Place, err error) error {
	if errors.Is(err, objects.ErrNotFound) && !errors.Is(err, errChanged) && p != nil && p.Moved != nil && p.Moved() {
		return fmt.Errorf("%w: %w", errChanged, err)
	}
	return err
}
