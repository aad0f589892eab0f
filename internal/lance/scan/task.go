package scan

import (
	"context"
	"errors"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
)

// task is a range of stored rows of a fragment that becomes one batch, or several
// where one would be too large.
type task struct {
	frag     *fragment
	from, to uint64
	holds    []hold
	// out carries the batches in order; an error is the last. Closed at the end.
	out chan result
}

type result struct {
	batch arrow.RecordBatch
	share int64 // of the budget
	err   error
}

func newTask(f *fragment, from, to uint64) *task {
	return &task{frag: f, from: from, to: to, out: make(chan result, 1)}
}

// failed is a task that has failed already.
func failed(err error) *task {
	t := &task{out: make(chan result, 1)}
	t.out <- result{err: err}
	close(t.out)
	return t
}

// waitingShare bounds the batches that are decoded and not yet taken, or being decoded, to
// twice as many.
const waitingShare = 4

// worker claims tasks in order and makes their batches.
func (s *Scan) worker(ctx context.Context) {
	for {
		t, guess := s.claim(ctx)
		if t == nil {
			return
		}
		s.run(ctx, t, guess)
		s.ahead.release(t)
		t.frag.leave()
		close(t.out)
	}
}

// claim takes the next task when there is room for what will become of it.
func (s *Scan) claim(ctx context.Context) (t *task, guess int64) {
	// The one that waits for room has the oldest task, so that room
	// comes: what takes it lies before that task.
	s.claiming.Lock()
	defer s.claiming.Unlock()
	select {
	case t = <-s.work:
	case <-ctx.Done():
	}
	if t == nil {
		return nil, 0
	}
	// Small batches count for more than they are: what waits to be taken is no
	// longer in the processor's caches.
	guess = max(s.guess.Load(), s.opts.BatchBytes/waitingShare)
	if err := s.decoded.acquire(ctx, guess, 0); err != nil {
		return nil, 0
	}
	return t, guess
}

// heavyBytes is what a batch may take to read where pages are larger than it: levels of a page are decoded at once, also when
// few rows of it are wanted.
const heavyBytes = 64 << 20

// run makes a task's batches. guess is how much of the budget it has already.
func (s *Scan) run(ctx context.Context, t *task, guess int64) {
	defer func() { s.decoded.add(-guess) }()
	limit, most := s.limit(), t.to-t.from
	for from := t.from; from < t.to; {
		rows := min(t.to-from, most, uint64(s.fit.Load()))
		batch, bytes, err := t.frag.read(ctx, from, from+rows, limit)
		if err == nil && bytes > s.opts.BatchBytes && rows > 1 {
			if batch != nil {
				batch.Release() // the limit is for more than the batch here
			}
			err = column.ErrLimit
		}
		if errors.Is(err, column.ErrLimit) {
			if rows > 1 {
				most = rows / 2
				s.shrink(int64(most))
				continue
			}
			if limit < maxRowBytes {
				limit = maxRowBytes
				continue
			}
		}
		if err != nil {
			s.send(ctx, t, result{err: err})
			return
		}
		if limit == maxRowBytes && bytes <= s.opts.BatchBytes && s.heavy.CompareAndSwap(false, true) {
			// It was not the row. Others need as much, until a page is behind us and for the next ones.
			s.fit.Store(int64(s.opts.BatchRows))
		}
		from += rows
		limit, most = s.limit(), t.to-t.from
		if batch == nil { // all of them are deleted
			continue
		}
		s.grow(int64(rows), bytes)
		share := max(bytes, s.opts.BatchBytes/waitingShare)
		s.decoded.add(share - guess)
		guess = 0
		if !s.send(ctx, t, result{batch: batch, share: share}) {
			return
		}
	}
}

// limit is how much memory a read may take.
func (s *Scan) limit() int64 {
	if s.heavy.Load() {
		return max(s.opts.BatchBytes, heavyBytes)
	}
	return s.opts.BatchBytes
}

func (s *Scan) send(ctx context.Context, t *task, r result) bool {
	select {
	case t.out <- r:
		return true
	case <-ctx.Done():
		return false
	}
}

// shrink remembers that more rows than these don't fit.
func (s *Scan) shrink(rows int64) {
	for {
		fit := s.fit.Load()
		if rows >= fit || s.fit.CompareAndSwap(fit, rows) {
			return
		}
	}
}

// grow remembers how large a batch was, and tries more rows where they took little.
func (s *Scan) grow(rows, bytes int64) {
	s.guess.Store(bytes)
	if fit := s.fit.Load(); bytes < s.opts.BatchBytes/4 && rows >= fit && fit < int64(s.opts.BatchRows) {
		s.fit.CompareAndSwap(fit, min(2*fit, int64(s.opts.BatchRows)))
	}
}
