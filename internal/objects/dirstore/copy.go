package dirstore

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// copyPiece is how much the kernel copies at a time, so that a context's end is
// noticed and writing out begins. Larger ones were not faster.
const copyPiece = 4 << 20

// CopyRange appends n bytes of a Reader of this package, by the kernel where
// it can.
func (w *writer) CopyRange(ctx context.Context, r objects.Reader, off, n int64) (bool, error) {
	src, ok := r.(*reader)
	if !ok {
		return false, nil
	}
	if err := w.usable(); err != nil {
		return true, err
	}
	if err := src.check(off, n); err != nil {
		return true, err
	}
	if err := w.flush(); err != nil {
		return true, err
	}
	for n > 0 {
		if err := ctx.Err(); err != nil {
			return true, w.broken(fmt.Errorf("copying %s to %s: %w", src.e.Name, w.name, err))
		}
		k, err := w.copyPiece(src, off, min(n, copyPiece))
		if err != nil {
			return true, w.broken(err)
		}
		off, n = off+k, n-k
	}
	return true, nil
}

// copyPiece appends up to n bytes and tells how many: at least one without an error.
func (w *writer) copyPiece(src *reader, off, n int64) (int64, error) {
	if !w.noKernelCopy {
		k, err := kernelCopy(w.f, w.size, src.f, off, n)
		if k > 0 {
			w.grown(k)
			return k, nil
		}
		// Some file systems say nothing instead of "unsupported": whether the
		// file really ends here, or the disk is full, an ordinary read and
		// write tell better.
		w.noKernelCopy = err == nil || errors.Is(err, errors.ErrUnsupported)
		if !w.noKernelCopy {
			return 0, failure("copying "+src.e.Name+" to", w.name, err)
		}
	}
	if w.buf == nil {
		w.buf = make([]byte, 0, bufferSize)
	}
	p := w.buf[:min(n, bufferSize)]
	k, err := src.f.ReadAt(p, off)
	if errors.Is(err, io.EOF) {
		return 0, fmt.Errorf("reading %s: cut off at %d of %d bytes: %w", src.e.Name, off+int64(k), src.e.Size, objects.ErrShort)
	}
	if err != nil {
		return 0, failure("reading", src.e.Name, err)
	}
	return int64(k), w.put(p)
}

// broken keeps the first error: with part of a range missing there is nothing to finish.
func (w *writer) broken(err error) error {
	if w.err == nil {
		w.err = err
	}
	return w.err
}
