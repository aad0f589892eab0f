package scan

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
)

// plannedTasks is how many tasks may wait to be decoded or taken.
const plannedTasks = 256

var errClosed = errors.New("the scan is closed")

// openColumn opens the reader of a column; encoding.Open is one.
type openColumn func(*datafile.File, column.Field) (column.Reader, error)

// Scan is a scan under way. Schema may be called at any time, Next by one goroutine at a
// time, Close by any. A scan that was opened has to be closed.
type Scan struct {
	table  *table.Table
	opts   Options
	open   openColumn
	nodes  []*node
	schema *arrow.Schema
	bases  *bases
	zeros  column.Zeros
	stable bool

	// ctx ends what runs in the background.
	ctx  context.Context
	stop context.CancelCauseFunc
	wg   sync.WaitGroup
	// slots limits the reads under way.
	slots chan struct{}
	waits waits

	ahead   *ahead
	decoded *budget
	// guess is how large the last batch was, fit how many rows are tried for one.
	guess, fit atomic.Int64
	// heavy: pages take more to read than a batch may.
	heavy atomic.Bool

	// order has all tasks for Next, work the same for the workers.
	order, work chan *task
	claiming    sync.Mutex

	mu   sync.Mutex
	live map[*fragment]bool // opened and not yet done with

	// Of Next alone.
	current *task
	err     error
}

// Open starts a scan of a version of a table. The context is that of the whole scan:
// when it ends, so do the reads in the background.
func Open(ctx context.Context, t *table.Table, o Options) (*Scan, error) {
	return openWith(ctx, t, o, encoding.Open)
}

// openWith starts a scan whose columns a function of the caller's opens.
func openWith(ctx context.Context, t *table.Table, o Options, open openColumn) (*Scan, error) {
	s := newScan(t, o, open)
	if err := s.prepare(); err != nil {
		return nil, fmt.Errorf("%s: %w", t.Store(), err)
	}
	s.ctx, s.stop = context.WithCancelCause(ctx)
	s.start()
	return s, nil
}

func newScan(t *table.Table, o Options, open openColumn) *Scan {
	return &Scan{table: t, opts: o.withDefaults(), open: open, stable: t.StableRowIDs(),
		slots: make(chan struct{}, maxRequests), live: make(map[*fragment]bool),
		order: make(chan *task, plannedTasks), work: make(chan *task, plannedTasks)}
}

// SchemaOf is the schema of the batches that a scan with these options returns.
func SchemaOf(t *table.Table, o Options) (*arrow.Schema, error) {
	s := newScan(t, o, encoding.Open)
	if err := s.prepare(); err != nil {
		return nil, fmt.Errorf("%s: %w", t.Store(), err)
	}
	return s.schema, nil
}

// prepare does what can be done without reading.
func (s *Scan) prepare() error {
	if s.opts.Rows != nil && (s.opts.Offset > 0 || s.opts.Limit != nil) {
		return errors.New("a scan of given rows has neither offset nor limit")
	}
	schema, err := s.table.Schema()
	if err != nil {
		return err
	}
	if s.nodes, err = project(schema.Fields, s.opts); err != nil {
		return err
	}
	fields := make([]arrow.Field, 0, len(s.nodes))
	for _, n := range s.nodes {
		fields = append(fields, n.arrow())
	}
	for _, name := range s.opts.rowColumns() {
		fields = append(fields, arrow.Field{Name: name, Type: arrow.PrimitiveTypes.Uint64, Nullable: true})
	}
	meta := arrow.MetadataFrom(schema.Metadata)
	s.schema = arrow.NewSchema(fields, &meta)
	s.bases = newBases(s.table, s.opts.Bases)
	s.decoded = newBudget(2 * s.opts.BatchBytes)
	s.ahead = newAhead(s.opts.ReadAhead, &s.waits, &s.wg)
	s.fit.Store(int64(s.opts.BatchRows))
	s.guess.Store(s.opts.BatchBytes)
	return nil
}

// start begins to read.
func (s *Scan) start() {
	s.wg.Go(func() { s.plan(s.ctx) })
	for range s.opts.Threads {
		s.wg.Go(func() { s.worker(s.ctx) })
	}
}

// Schema is that of the batches. Metadata of fields, with the names of extension
// types, and of the table are kept.
func (s *Scan) Schema() *arrow.Schema { return s.schema }

// Next returns the next batch, which the caller releases, or io.EOF. The
// context is for this call; that of Open ends the whole scan.
func (s *Scan) Next(ctx context.Context) (arrow.RecordBatch, error) {
	for s.err == nil {
		if s.ctx.Err() != nil { // even if there is something to take
			s.err = context.Cause(s.ctx)
			break
		}
		if s.current == nil {
			select {
			case t, ok := <-s.order:
				if !ok {
					s.err = io.EOF
				}
				s.current = t
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			case <-s.ctx.Done():
				s.err = context.Cause(s.ctx)
			}
			continue
		}
		select {
		case r, ok := <-s.current.out:
			switch {
			case !ok:
				s.current = nil
			case r.err != nil:
				s.err = fmt.Errorf("%s: %w", s.table.Store(), r.err)
				s.stop(s.err)
			default:
				s.decoded.add(-r.share)
				return r.batch, nil
			}
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-s.ctx.Done():
			s.err = context.Cause(s.ctx)
		}
	}
	return nil, s.err
}

// Close ends the scan and waits until nothing of it runs any more. Batches that were
// returned stay valid.
func (s *Scan) Close() error {
	s.stop(errClosed)
	s.wg.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	for f := range s.live {
		f.close()
	}
	clear(s.live)
	return nil
}
