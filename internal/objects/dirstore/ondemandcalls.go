package dirstore

import (
	"context"
	"errors"
	"sync"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

var _ objects.Store = (*OnDemand)(nil)

// String is the directory as NewOnDemand was given it.
func (s *OnDemand) String() string { return s.name }

// Open is that of Store.
func (s *OnDemand) Open(ctx context.Context, name string) (objects.Reader, error) {
	d, done, err := s.use()
	if err != nil {
		return nil, err
	}
	defer done()
	return d.Open(ctx, name)
}

// Create is that of Store. The directory is in use until the writer ends.
func (s *OnDemand) Create(ctx context.Context, name string) (objects.Writer, error) {
	d, done, err := s.use()
	if err != nil {
		return nil, err
	}
	w, err := d.create(ctx, name)
	if err != nil {
		done()
		return nil, err
	}
	return &onDemandWriter{w, sync.OnceFunc(done)}, nil
}

// onDemandWriter lets the directory go when it ends.
type onDemandWriter struct {
	*writer
	done func()
}

var _ objects.RangeCopier = (*onDemandWriter)(nil)

func (w *onDemandWriter) Finish(ctx context.Context) (objects.Entry, error) {
	defer w.done()
	return w.writer.Finish(ctx)
}

func (w *onDemandWriter) Abort() {
	defer w.done()
	w.writer.Abort()
}

// Publish is that of Store.
func (s *OnDemand) Publish(ctx context.Context, name string, content []byte) error {
	d, done, err := s.use()
	if err != nil {
		return err
	}
	defer done()
	return d.Publish(ctx, name, content)
}

// Replace is that of Store.
func (s *OnDemand) Replace(ctx context.Context, name string, content []byte) error {
	d, done, err := s.use()
	if err != nil {
		return err
	}
	defer done()
	return d.Replace(ctx, name, content)
}

// Delete is that of Store. Of a directory that is gone there is nothing left to remove.
func (s *OnDemand) Delete(ctx context.Context, name string) error {
	d, done, err := s.use()
	if errors.Is(err, objects.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	defer done()
	return d.Delete(ctx, name)
}

// List is that of Store. A directory that is gone is not empty, but objects.ErrNotFound: who keeps
// what a listing names must not take it for one that names nothing.
func (s *OnDemand) List(ctx context.Context, dir, from string, limit int) ([]objects.Entry, error) {
	d, done, err := s.use()
	if err != nil {
		return nil, err
	}
	defer done()
	return d.List(ctx, dir, from, limit)
}

// Moved is that of Store: the directory's path leads elsewhere by now, or nowhere.
func (s *OnDemand) Moved() bool {
	d, done, err := s.use()
	if err != nil {
		return true
	}
	defer done()
	return d.Moved()
}
