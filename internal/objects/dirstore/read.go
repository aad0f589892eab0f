package dirstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// readPiece is how much one system call reads: a caller that wants a long
// range is told of the end of its context within milliseconds.
const readPiece = 8 << 20

// Open opens a file. ErrNotFound for a directory.
func (s *Store) Open(ctx context.Context, name string) (objects.Reader, error) {
	p, err := local(name)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("opening %s: %w", name, err)
	}
	f, err := s.root.OpenFile(p, os.O_RDONLY|openFlags, 0)
	if missing(err) {
		return nil, classed(objects.ErrNotFound, "opening", name, err)
	}
	if err != nil {
		return nil, failure("opening", name, err)
	}
	e, err := fileEntry(f, name)
	if err != nil {
		f.Close()
		return nil, err
	}
	return &reader{f: f, e: e}, nil
}

// fileEntry describes an open file.
func fileEntry(f *os.File, name string) (objects.Entry, error) {
	fi, err := f.Stat()
	if err != nil {
		return objects.Entry{}, failure("opening", name, err)
	}
	if fi.IsDir() {
		return objects.Entry{}, fmt.Errorf("opening %s: %w (a directory)", name, objects.ErrNotFound)
	}
	if !fi.Mode().IsRegular() {
		return objects.Entry{}, fmt.Errorf("opening %s: not a regular file (%v)", name, fi.Mode().Type())
	}
	id, err := fileID(f, fi)
	if err != nil {
		return objects.Entry{}, failure("opening", name, err)
	}
	return entry(name, fi, id), nil
}

// entry describes a file of that id.
func entry(name string, fi os.FileInfo, id string) objects.Entry {
	return objects.Entry{
		Name:    name,
		Size:    fi.Size(),
		ModTime: fi.ModTime(),
		Token:   fmt.Sprintf("%s-%d-%d", id, fi.Size(), fi.ModTime().UnixNano()),
	}
}

type reader struct {
	f *os.File
	e objects.Entry
}

func (r *reader) Entry() objects.Entry { return r.e }

func (r *reader) Close() error { return r.f.Close() }

func (r *reader) ReadAt(ctx context.Context, p []byte, off int64) error {
	if err := r.check(off, int64(len(p))); err != nil {
		return err
	}
	for {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("reading %s: %w", r.e.Name, err)
		}
		if len(p) == 0 {
			return nil
		}
		n, err := r.f.ReadAt(p[:min(len(p), readPiece)], off)
		if errors.Is(err, io.EOF) {
			return fmt.Errorf("reading %s: cut off at %d of %d bytes: %w", r.e.Name, off+int64(n), r.e.Size, objects.ErrShort)
		}
		if err != nil {
			return failure("reading", r.e.Name, err)
		}
		p, off = p[n:], off+int64(n)
	}
}

// check reports a range that is not inside the object.
func (r *reader) check(off, n int64) error {
	if off < 0 || n < 0 {
		return fmt.Errorf("reading %s: %d bytes at %d: no such range", r.e.Name, n, off)
	}
	if off > r.e.Size || n > r.e.Size-off {
		return fmt.Errorf("reading %s: %d bytes at %d of %d: %w", r.e.Name, n, off, r.e.Size, objects.ErrShort)
	}
	return nil
}
