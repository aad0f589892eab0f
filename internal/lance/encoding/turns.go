package encoding

import (
	"context"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// each calls fn for each field, for as many at a time as there are threads. What fields write lies in the order of the fields.
func (w *Writer) each(ctx context.Context, fn func(field int) error) error {
	w.turns.begin(0)
	if w.o.Threads < 2 {
		for i := range w.fields {
			err := ctx.Err()
			if err == nil {
				err = fn(i)
			}
			if err != nil {
				return err
			}
			w.turns.done(i, nil)
		}
		return nil
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(w.o.Threads)
	for i := range w.fields {
		g.Go(func() error {
			err := ctx.Err()
			if err == nil {
				err = fn(i)
			}
			w.turns.done(i, err)
			return err
		})
	}
	return g.Wait()
}

// turns tells whose turn to write it is. Fields are begun in order, so that the one whose turn it is is always under way.
type turns struct {
	mu       sync.Mutex
	changed  sync.Cond
	next     int
	finished map[int]bool
	// failed is the first error, which ends the others' turns, too.
	failed error
}

// begin starts a round with a field.
func (t *turns) begin(field int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.changed.L = &t.mu
	t.next, t.finished, t.failed = field, make(map[int]bool), nil
}

// done ends the turn of a field.
func (t *turns) done(field int, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.failed == nil {
		t.failed = err
	}
	t.finished[field] = true
	for t.finished[t.next] {
		t.next++
	}
	t.changed.Broadcast()
}

// wait waits for the turn of a field.
func (t *turns) wait(field int) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.next != field && t.failed == nil {
		t.changed.Wait()
	}
	return t.failed
}

// fieldSink writes what a field has, when it is its turn.
type fieldSink struct {
	w     *Writer
	field int
}

// Page is column.Sink's.
func (s fieldSink) Page(p column.Page) error {
	if err := s.w.turns.wait(s.field); err != nil {
		return err
	}
	m := &pb.ColumnMetadata_Page{Length: p.Length, Priority: p.Priority, Encoding: p.Encoding}
	if err := s.w.w.Page(m, p.Buffers); err != nil {
		return err
	}
	return addPage(s.w.columns[p.Column], m, s.w.version)
}

// Blob is column.Sink's.
func (s fieldSink) Blob(b []byte) (uint64, error) {
	if err := s.w.turns.wait(s.field); err != nil {
		return 0, err
	}
	return s.w.w.Buffer(b)
}
