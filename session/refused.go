package session

import (
	"errors"
	"time"

	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
)

// refusedFor is how long a refusal is believed. An object does not change, but what is read of it may have been
// spoilt on its way.
const refusedFor = time.Hour

// refusal is a version that can't be opened, by this build or at all: its object will not
// become another, so that it need not be read each time to say so.
type refusal struct {
	name, token    string
	err            error
	since, checked time.Time
}

// refuse remembers an error that comes from what an object holds.
func (s *Session) refuse(key string, ref table.VersionRef, err error) {
	if ref.Token == "" || !errors.Is(err, ErrRefused) && !errors.Is(err, ErrCorrupt) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	s.mu.refusals.put(key, refusal{ref.Name, ref.Token, err, now, now})
}

// refused is the error that is remembered of an object, nil when there is none.
func (s *Session) refused(key string, ref table.VersionRef) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.mu.refusals.get(key)
	if !ok || r.name != ref.Name || r.token != ref.Token || !s.lately(r.since, refusedFor) {
		s.mu.refusals.remove(key) // the table has gone on, or is to be read again
		return nil
	}
	r.checked = s.now()
	s.mu.refusals.put(key, r)
	return r.err
}

// recentlyRefused is the error that a table was refused with less than Freshness ago.
func (s *Session) recentlyRefused(key string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r, ok := s.mu.refusals.get(key); ok && s.lately(r.checked, Freshness) {
		return r.err
	}
	return nil
}
