package scan

import (
	"context"
	"fmt"

	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// openAhead is how many fragments are opened before their turn: with many small ones
// most of the time goes into waiting for that.
const openAhead = 8

// batchShare is which part of the most that a batch may take is planned for it, by the size
// of its rows in the files: values may take much more, and batches that fit into the
// processor's caches are faster.
const batchShare = 8

// opening is a fragment that is being opened.
type opening struct {
	// from and to are the wanted rows, counted without the deleted ones; all
	// tells that every one is.
	from, to uint64
	all      bool
	done     chan struct{}
	frag     *fragment
	err      error
}

// plan makes the tasks of the scan, in order.
func (s *Scan) plan(ctx context.Context) {
	fragments := make(chan *opening, openAhead)
	s.wg.Go(func() { s.openAll(ctx, fragments) })
	err := s.planAll(ctx, fragments)
	if ctx.Err() != nil {
		return // Next learns it from the context
	}
	if err != nil {
		select {
		case s.order <- failed(err):
		case <-ctx.Done():
			return
		}
	}
	close(s.order)
	close(s.work)
}

func (s *Scan) planAll(ctx context.Context, fragments <-chan *opening) error {
	for {
		o, err := s.nextFragment(ctx, fragments)
		if err != nil || o == nil {
			if err == nil {
				err = s.dispatch(ctx)
			}
			return err
		}
		if err := s.planFragment(ctx, o); err != nil {
			return err
		}
	}
}

// nextFragment waits for the next fragment; nil after the last. Before it waits it lets the tasks
// go that it has.
func (s *Scan) nextFragment(ctx context.Context, fragments <-chan *opening) (*opening, error) {
	var o *opening
	select {
	case o = <-fragments:
	default:
		if err := s.dispatch(ctx); err != nil {
			return nil, err
		}
		select {
		case o = <-fragments:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	if o == nil {
		return nil, nil
	}
	select {
	case <-o.done:
	default:
		if err := s.dispatch(ctx); err != nil {
			return nil, err
		}
		select {
		case <-o.done:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	if o.err != nil {
		// What came before is delivered before the error is.
		if err := s.dispatch(ctx); err != nil {
			return nil, err
		}
	}
	return o, o.err
}

// planFragment cuts a fragment into tasks.
func (s *Scan) planFragment(ctx context.Context, o *opening) error {
	f := o.frag
	defer f.leave()
	switch {
	case s.opts.Rows != nil:
		for _, r := range s.opts.Rows[f.id] {
			if r.From > r.To || r.To > f.rows {
				return fmt.Errorf("fragment %d: rows %d to %d of %d", f.id, r.From, r.To, f.rows)
			}
			if err := s.planRange(ctx, f, r.From, r.To); err != nil {
				return err
			}
		}
		return nil
	case o.all:
		return s.planRange(ctx, f, 0, f.rows)
	}
	first, end := physical(f.deleted, f.rows, o.from, o.to)
	return s.planRange(ctx, f, first, end)
}

// planRange cuts stored rows of a fragment into tasks.
func (s *Scan) planRange(ctx context.Context, f *fragment, first, end uint64) error {
	most := uint64(max(s.opts.BatchBytes/batchShare/max(f.rowBytes, 1), 1))
	for at := first; at < end; {
		rows := min(end-at, most, uint64(s.fit.Load()))
		from, to := trim(f.deleted, at, at+rows)
		at += rows
		if from == to {
			continue
		}
		t := newTask(f, from, to)
		f.enter()
		if s.ahead.add(t) {
			if err := s.dispatch(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// dispatch hands the collected tasks to Next and to the workers.
func (s *Scan) dispatch(ctx context.Context) error {
	tasks, err := s.ahead.flush(ctx)
	if err != nil {
		return err
	}
	for _, t := range tasks {
		for _, c := range []chan *task{s.order, s.work} {
			select {
			case c <- t:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	}
	return nil
}

// openAll opens the fragments of the scan, some at a time.
func (s *Scan) openAll(ctx context.Context, out chan<- *opening) {
	defer close(out)
	slots := make(chan struct{}, openAhead)
	c := newCursor(s.opts.Offset, s.opts.Limit)
	wanted := make(map[uint64]bool)
	for _, id := range s.opts.Fragments {
		wanted[id] = true
	}
	for _, entry := range s.table.Fragments() {
		if c.done() {
			return
		}
		if s.opts.Fragments != nil && !wanted[entry.GetId()] || s.opts.Rows != nil && len(s.opts.Rows[entry.GetId()]) == 0 {
			continue
		}
		o := &opening{done: make(chan struct{}), all: c.everything()}
		known := facts{rows: entry.GetPhysicalRows()}
		if !o.all {
			rows, err := s.count(ctx, entry, &known)
			if err != nil {
				o.err = err
				close(o.done)
				s.pass(ctx, out, o)
				return
			}
			if o.from, o.to = c.take(rows); o.from == o.to {
				continue
			}
			o.all = o.from == 0 && o.to == rows
		}
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			return
		}
		s.wg.Go(func() {
			defer func() { <-slots }()
			defer close(o.done)
			o.frag, o.err = s.openFragment(ctx, entry, known)
		})
		if !s.pass(ctx, out, o) {
			return
		}
	}
}

func (s *Scan) pass(ctx context.Context, out chan<- *opening, o *opening) bool {
	select {
	case out <- o:
		return true
	case <-ctx.Done():
		return false
	}
}

// count finds out how many rows of a fragment count: by the manifest if that
// says so, else by what else has to be read.
func (s *Scan) count(ctx context.Context, entry *pb.DataFragment, known *facts) (uint64, error) {
	err := func() error {
		if known.rows == 0 {
			if err := s.countRows(ctx, entry, known); err != nil {
				return err
			}
		}
		if s.opts.KeepDeleted || entry.GetDeletionFile() == nil {
			known.deletions = true
			return nil
		}
		n := entry.GetDeletionFile().GetNumDeletedRows()
		if n == 0 {
			return s.readDeletions(ctx, entry, known)
		}
		if n > known.rows {
			return fmt.Errorf("%w: %d of %d rows are deleted", errCorrupt, n, known.rows)
		}
		known.gone = n
		return nil
	}()
	if err != nil {
		return 0, fmt.Errorf("fragment %d: %w", entry.GetId(), err)
	}
	return known.rows - known.gone, nil
}
