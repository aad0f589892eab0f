package filerstore

import (
	"context"
	"fmt"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

var _ objects.RangeCopier = (*writer)(nil)

// CopyRange appends n bytes of a Reader of this package. They are read straight
// into the chunks to upload, several parts at a time, while earlier chunks are on
// their way. It returns once each part has its place and is being read; when that
// fails, whatever is called next does, and Finish in any case.
func (w *writer) CopyRange(ctx context.Context, r objects.Reader, off, n int64) (bool, error) {
	src, ok := r.(*reader)
	if !ok {
		return false, nil
	}
	if w.ended {
		return true, fmt.Errorf("writing %s: %w", w.name, errEnded)
	}
	if err := ctx.Err(); err != nil {
		return true, err
	}
	if err := src.check(off, n); err != nil {
		return true, err
	}
	for n > 0 {
		k, err := w.copyPart(ctx, src, off, n)
		if err != nil {
			// What has a place already is only part of the range.
			w.fail(err)
			return true, fmt.Errorf("writing %s: %w", w.name, err)
		}
		off, n = off+k, n-k
	}
	return true, nil
}

// copyPart begins to read as many of n bytes as the current chunk has room for,
// and returns how many. It waits while as many parts are being read as may be.
func (w *writer) copyPart(ctx context.Context, src *reader, off, n int64) (int64, error) {
	select {
	case w.reading <- struct{}{}:
	case <-w.ctx.Done():
		return 0, w.failure(w.ctx.Err())
	case <-ctx.Done():
		return 0, w.failure(ctx.Err())
	}
	p, err := w.room(ctx, n)
	if err != nil {
		<-w.reading
		return 0, err
	}
	s := w.cur
	s.reads.Add(1)
	w.uploads.Go(func() {
		defer s.reads.Done()
		// Not the caller's context: it may be over when the call is.
		err := src.ReadAt(w.ctx, p, off)
		<-w.reading
		if err != nil {
			w.fail(err)
		}
	})
	w.filled(len(p))
	return int64(len(p)), nil
}
