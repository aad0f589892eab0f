package faultstore

import (
	"bytes"
	"context"
	"errors"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// String is the inner store's.
func (s *Store) String() string { return s.inner.String() }

// Open opens an object of the inner store.
func (s *Store) Open(ctx context.Context, name string) (objects.Reader, error) {
	var r objects.Reader
	_, err := s.call(ctx, Call{Op: Open, Name: name}, func() (err error) {
		r, err = s.inner.Open(ctx, name)
		return err
	}, nil)
	if err != nil {
		if r != nil {
			_ = r.Close() // nobody got it
		}
		return nil, err
	}
	return &reader{s: s, inner: r}, nil
}

// Create starts an object in the inner store.
func (s *Store) Create(ctx context.Context, name string) (objects.Writer, error) {
	var w objects.Writer
	_, err := s.call(ctx, Call{Op: Create, Name: name}, func() (err error) {
		w, err = s.inner.Create(ctx, name)
		return err
	}, nil)
	if err != nil {
		if w != nil && !s.Dead() {
			w.Abort() // nobody got it
		}
		return nil, err
	}
	return &writer{s: s, inner: w, name: name}, nil
}

// Publish creates a small object in the inner store.
func (s *Store) Publish(ctx context.Context, name string, content []byte) error {
	c := Call{Op: Publish, Name: name, Size: int64(len(content))}
	kept := bytes.Clone(content) // the caller may use its slice again before Land
	return s.change(ctx, c, func(ctx context.Context) error {
		return s.inner.Publish(ctx, name, kept)
	})
}

// Replace writes a small object of the inner store.
func (s *Store) Replace(ctx context.Context, name string, content []byte) error {
	c := Call{Op: Replace, Name: name, Size: int64(len(content))}
	kept := bytes.Clone(content)
	return s.change(ctx, c, func(ctx context.Context) error {
		return s.inner.Replace(ctx, name, kept)
	})
}

// Delete removes an object of the inner store.
func (s *Store) Delete(ctx context.Context, name string) error {
	return s.change(ctx, Call{Op: Delete, Name: name}, func(ctx context.Context) error {
		return s.inner.Delete(ctx, name)
	})
}

// change is a call that can also happen later.
func (s *Store) change(ctx context.Context, c Call, do func(context.Context) error) error {
	_, err := s.call(ctx, c, func() error { return do(ctx) }, do)
	return err
}

// List lists a directory of the inner store.
func (s *Store) List(ctx context.Context, dir, from string, limit int) ([]objects.Entry, error) {
	return list(ctx, s, dir, from, limit, func() ([]objects.Entry, error) { return s.inner.List(ctx, dir, from, limit) })
}

// ListOpen is one List. What the inner store opens by a listing is opened without a
// call; reading it is one. What it opens by name is opened as by Open.
func (s *Store) ListOpen(ctx context.Context, dir, from string, limit int) ([]objects.Listed, error) {
	o, ok := s.inner.(objects.ListOpener)
	if !ok {
		page, err := s.List(ctx, dir, from, limit)
		return objects.OpenByName(s, dir, page), err
	}
	page, err := list(ctx, s, dir, from, limit, func() ([]objects.Listed, error) { return o.ListOpen(ctx, dir, from, limit) })
	for i, l := range page {
		page[i].Open = func(ctx context.Context) (objects.Reader, error) {
			if s.Dead() {
				return nil, refusal(Call{Op: Open, Name: l.Name}, ErrDead)
			}
			r, err := l.Open(ctx)
			if err != nil {
				return nil, err
			}
			return &reader{s: s, inner: r}, nil
		}
	}
	return page, err
}

func list[E any](ctx context.Context, s *Store, dir, from string, limit int, do func() ([]E, error)) ([]E, error) {
	var page []E
	c := Call{Op: List, Name: dir, From: from, Size: int64(limit)}
	_, err := s.call(ctx, c, func() (err error) {
		page, err = do()
		return err
	}, nil)
	var cut *cut
	switch {
	case errors.As(err, &cut):
		return page[:min(cut.count, len(page))], err
	case err != nil:
		return nil, err
	}
	return page, nil
}

type reader struct {
	s     *Store
	inner objects.Reader
}

func (r *reader) Entry() objects.Entry { return r.inner.Entry() }

func (r *reader) Close() error { return r.inner.Close() }

func (r *reader) ReadAt(ctx context.Context, p []byte, off int64) error {
	c := Call{Op: Read, Name: r.Entry().Name, Size: int64(len(p))}
	_, err := r.s.call(ctx, c, func() error { return r.inner.ReadAt(ctx, p, off) }, nil)
	return err
}

// writer keeps its first error: an object with a hole is never finished.
type writer struct {
	s     *Store
	inner objects.Writer
	name  string
	err   error
	ended bool
}

var _ objects.RangeCopier = (*writer)(nil)

var errEnded = errors.New("the writer has ended")

func (w *writer) usable() error {
	if w.ended {
		return errEnded
	}
	return w.err
}

func (w *writer) Write(p []byte) (int, error) {
	if err := w.usable(); err != nil {
		return 0, err
	}
	n := 0
	_, err := w.s.call(context.Background(), Call{Op: Write, Name: w.name, Size: int64(len(p))}, func() (err error) {
		n, err = w.inner.Write(p)
		return err
	}, nil)
	w.err = err
	return n, err
}

// CopyRange copies inside the inner store if that can.
func (w *writer) CopyRange(ctx context.Context, r objects.Reader, off, n int64) (bool, error) {
	inner, ok := w.inner.(objects.RangeCopier)
	if !ok {
		return false, nil
	}
	if err := w.usable(); err != nil {
		return true, err
	}
	for wrapped, is := r.(*reader); is; wrapped, is = r.(*reader) {
		r = wrapped.inner
	}
	_, err := w.s.call(ctx, Call{Op: Copy, Name: w.name, Size: n}, func() (err error) {
		ok, err = inner.CopyRange(ctx, r, off, n)
		return err
	}, nil)
	w.err = err
	return ok, err
}

func (w *writer) Finish(ctx context.Context) (objects.Entry, error) {
	if w.ended {
		return objects.Entry{}, errEnded
	}
	if w.err != nil {
		w.Abort()
		return objects.Entry{}, w.err
	}
	w.ended = true
	var e objects.Entry
	fate, err := w.s.call(ctx, Call{Op: Finish, Name: w.name}, func() (err error) {
		e, err = w.inner.Finish(ctx)
		return err
	}, func(ctx context.Context) error {
		_, err := w.inner.Finish(ctx)
		return err
	})
	if fate == undone && !w.s.Dead() {
		w.inner.Abort()
	}
	if err != nil {
		return objects.Entry{}, err
	}
	return e, nil
}

func (w *writer) Abort() {
	if w.ended {
		return
	}
	w.ended = true
	// Abort has no error to return; a fault leaves what was written.
	_, _ = w.s.call(context.Background(), Call{Op: Abort, Name: w.name}, func() error {
		w.inner.Abort()
		return nil
	}, nil)
}
