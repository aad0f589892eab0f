package session

import (
	"errors"
	"time"

	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
)

// refusal is a version that can't be opened, by this build or at all: its object will not
// become another, so that it need not be read again to say so.
type refusal struct {
	name, token string
	err         error
	checked     time.Time
}

// refuse remembers an error that comes from what an object holds.
func (s *Session) refuse(key string, ref table.VersionRef, err error) {
	if ref.Token == "" || !errors.Is(err, ErrRefused) && !errors.Is(err, ErrCorrupt) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.refusals.put(key, refusal{ref.Name, ref.Token, err, s.now()})
}

// refused is the error that is remembered of an object, nil when there is none.
func (s *Session) refused(key string, ref table.VersionRef) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.mu.refusals.get(key)
	if !ok || r.name != ref.Name || r.token != ref.Token {
		s.mu.refusals.remove(key) // the table has gone on
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
	if r, ok := s.mu.refusals.get(key); ok {
		if age := s.now().Sub(r.checked); age >= 0 && age < Freshness {
			return r.err
		}
	}
	return nil
}
