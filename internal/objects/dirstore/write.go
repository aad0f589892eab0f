package dirstore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// bufferSize is what small writes are gathered into, and what bytes pass
// through when the kernel can't copy. Larger ones were slower: they leave the cache.
const bufferSize = 1 << 20

// writeoutStep is how many new bytes make the kernel begin to write them out.
const writeoutStep = 1 << 20

var errEnded = errors.New("the writer has ended")

// writer fills a temporary file. It is for one goroutine at a time.
type writer struct {
	s    *Store
	name string // the object's
	path string // the object's, below the root
	temp string // the temporary file's, below the root

	f       *os.File
	buf     []byte // not yet in the file
	size    int64  // of the file
	started int64  // up to here the kernel was told to write out
	err     error  // the first failure; the file is then incomplete
	ended   bool

	noKernelCopy bool
}

var (
	_ objects.Writer      = (*writer)(nil)
	_ objects.RangeCopier = (*writer)(nil)
)

// Create opens a temporary file for the object. ErrExists when the name is
// taken already.
func (s *Store) Create(ctx context.Context, name string) (objects.Writer, error) {
	w, err := s.create(ctx, name)
	if err != nil {
		return nil, err // not w: a nil *writer is not a nil Writer
	}
	return w, nil
}

// create makes a writer if the name is free. That says nothing about a moment
// later, but saves somebody who comes late the work.
func (s *Store) create(ctx context.Context, name string) (*writer, error) {
	p, err := local(name)
	if err != nil {
		return nil, err
	}
	switch _, err := s.root.Lstat(p); {
	case err == nil:
		return nil, fmt.Errorf("creating %s: %w", name, objects.ErrExists)
	case !missing(err):
		return nil, failure("creating", name, err)
	}
	return s.write(ctx, "creating", name, p)
}

// write makes a writer whether or not the name is taken.
func (s *Store) write(ctx context.Context, doing, name, p string) (*writer, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("%s %s: %w", doing, name, err)
	}
	f, temp, err := s.createTemp(p)
	if err != nil {
		return nil, failure(doing, name, err)
	}
	return &writer{s: s, name: name, path: p, temp: temp, f: f}, nil
}

// Write appends p to what will be the object.
func (w *writer) Write(p []byte) (int, error) {
	if err := w.usable(); err != nil {
		return 0, err
	}
	n := len(p)
	for len(p) > 0 {
		if len(w.buf) == 0 && len(p) >= bufferSize {
			if err := w.put(p[:bufferSize]); err != nil {
				return n - len(p), err
			}
			p = p[bufferSize:]
			continue
		}
		if w.buf == nil {
			w.buf = make([]byte, 0, bufferSize)
		}
		k := min(len(p), bufferSize-len(w.buf))
		w.buf, p = append(w.buf, p[:k]...), p[k:]
		if len(w.buf) == bufferSize {
			if err := w.flush(); err != nil {
				return n - len(p), err
			}
		}
	}
	return n, nil
}

func (w *writer) usable() error {
	if w.err != nil {
		return w.err
	}
	if w.ended {
		return fmt.Errorf("writing %s: %w", w.name, errEnded)
	}
	return nil
}

func (w *writer) flush() error {
	err := w.put(w.buf)
	w.buf = w.buf[:0]
	return err
}

// put writes p to the file.
func (w *writer) put(p []byte) error {
	n, err := w.f.WriteAt(p, w.size)
	w.grown(int64(n))
	if err != nil {
		w.err = failure("writing", w.name, err)
	}
	return w.err
}

// grown counts n new bytes in the file.
func (w *writer) grown(n int64) {
	w.size += n
	if w.s.sync && w.size-w.started >= writeoutStep {
		startWriteout(w.f, w.started, w.size-w.started)
		w.started = w.size
	}
}

// Finish makes the object visible.
func (w *writer) Finish(ctx context.Context) (objects.Entry, error) {
	if err := w.usable(); err != nil {
		w.Abort()
		return objects.Entry{}, err
	}
	e, err := w.seal(ctx)
	if err == nil {
		err = w.place()
	}
	w.Abort()
	if err == nil {
		err = w.settle()
	}
	if err != nil {
		return objects.Entry{}, err
	}
	return e, nil
}

// seal completes, syncs, closes and dates the temporary file.
func (w *writer) seal(ctx context.Context) (objects.Entry, error) {
	if err := w.flush(); err != nil {
		return objects.Entry{}, err
	}
	if err := ctx.Err(); err != nil {
		return objects.Entry{}, fmt.Errorf("creating %s: %w", w.name, err)
	}
	if w.s.sync {
		if err := w.f.Sync(); err != nil {
			return objects.Entry{}, failure("syncing", w.name, err)
		}
	}
	// Closed first: only then do NFS and NTFS settle the file's times.
	f := w.f
	w.f = nil
	if err := f.Close(); err != nil {
		return objects.Entry{}, failure("closing", w.name, err)
	}
	// Where times can't be set, the file system's own will do.
	_ = w.s.root.Chtimes(w.temp, time.Time{}, w.s.date())
	f, err := w.s.root.Open(w.temp)
	if err != nil {
		return objects.Entry{}, w.lost(err)
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return objects.Entry{}, w.lost(err)
	}
	id, err := fileID(f, fi)
	if err != nil {
		return objects.Entry{}, w.lost(err)
	}
	// The last moment at which nothing has happened for certain.
	if err := ctx.Err(); err != nil {
		return objects.Entry{}, fmt.Errorf("creating %s: %w", w.name, err)
	}
	return entry(w.name, fi, id), nil
}

// lost is an error about the temporary file: that it is missing is not what
// objects.ErrNotFound means.
func (w *writer) lost(err error) error {
	return failure("creating", w.name+" from "+filepath.ToSlash(w.temp), err)
}

// settle makes the object's name survive a power cut.
func (w *writer) settle() error {
	if err := w.s.syncDir(filepath.Dir(w.path)); err != nil {
		return classed(objects.ErrUnknown, "syncing the directory of", w.name, err)
	}
	return nil
}

// Abort drops the temporary file. After Finish it does nothing.
func (w *writer) Abort() {
	if w.ended {
		return
	}
	w.ended = true
	w.buf = nil
	if w.f != nil {
		_ = w.f.Close() // nobody needs its bytes any more
		w.f = nil
	}
	// What can't be removed stays behind as after a crash, and goes in time.
	_ = w.s.root.Remove(w.temp)
	w.s.prune(filepath.Dir(w.temp))
}
