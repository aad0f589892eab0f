package dirstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// Publish creates a small file at once.
func (s *Store) Publish(ctx context.Context, name string, content []byte) error {
	w, err := s.create(ctx, name)
	if err != nil {
		return err
	}
	defer w.Abort()
	if err := w.put(content); err != nil {
		return err
	}
	_, err = w.Finish(ctx)
	return err
}

// Replace writes a small file over whatever is there.
func (s *Store) Replace(ctx context.Context, name string, content []byte) error {
	p, err := local(name)
	if err != nil {
		return err
	}
	w, err := s.write(ctx, "replacing", name, p)
	if err != nil {
		return err
	}
	defer w.Abort()
	if err := w.put(content); err != nil {
		return err
	}
	if _, err := w.seal(ctx); err != nil {
		return err
	}
	if err := s.root.Rename(w.temp, w.path); err != nil {
		return change("replacing", name, err)
	}
	return w.settle()
}

// place gives the finished temporary file the object's name, if that is free.
func (w *writer) place() error {
	err := w.s.link(w.temp, w.path)
	if err != nil && !errors.Is(err, fs.ErrExist) && !missing(err) {
		// No hard links here, or the answer was lost. The other way is as
		// exclusive, so it is safe to try whatever the reason.
		if renamed := renameExclusive(w.s.root, w.s.path, w.temp, w.path); !errors.Is(renamed, errors.ErrUnsupported) {
			err = renamed
		}
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrExist):
		if w.placed() {
			return nil
		}
		return classed(objects.ErrExists, "creating", w.name, err)
	case unclear(err) && w.placed():
		return nil
	case missing(err):
		return fmt.Errorf("creating %s: the temporary file or its directory was removed: %w", w.name, bare(err))
	}
	return change("creating", w.name, err)
}

// placed tells whether the object's name is one of our own file's names: a
// network file system may repeat a request whose answer it lost.
func (w *writer) placed() bool {
	mine, err := w.s.root.Lstat(w.temp)
	if err != nil {
		return false
	}
	there, err := w.s.root.Lstat(w.path)
	return err == nil && os.SameFile(mine, there)
}
