package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/lance/scan"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// ScanOptions say what to read. The zero value reads every column and every live row.
type ScanOptions struct {
	// Columns to read, in this order: names of fields, with dots down to nested
	// ones ("a.b"), each once. nil reads all; an empty list reads none, only what the flags below append.
	Columns []string
	// RowAddress, RowID, CreatedAt and UpdatedAt append, in this order, the columns _rowaddr, _rowid,
	// _row_created_at_version and _row_last_updated_at_version, all of them uint64.
	RowAddress, RowID, CreatedAt, UpdatedAt bool
	// Fragments to read, by id; nil reads all.
	Fragments []uint64
	// Offset skips that many rows, Limit ends the scan after that many; nil reads to the end.
	Offset uint64
	Limit  *uint64
	// BlobBytes reads the bytes of blob columns in place of their descriptors.
	BlobBytes bool
	// BatchRows and BatchBytes bound a batch: by default 8192 rows and 32 MiB. A row that alone
	// is larger is a batch of its own.
	BatchRows  int
	BatchBytes int64
	// ReadAhead is the most bytes fetched ahead: by default 64 MiB.
	ReadAhead int64
	// Threads that decode: by default 2.
	Threads int
}

// Scan is a scan under way. Next may be called by one goroutine at a time, the rest by any.
type Scan struct{ inner *scan.Scan }

// Scan starts to read rows of the version, in the order of its fragments. The context is that of the
// whole scan. The caller closes it.
func (t *Table) Scan(ctx context.Context, o ScanOptions) (*Scan, error) {
	if err := t.check(o); err != nil {
		return nil, fmt.Errorf("scanning version %d of %s: %w", t.Version(), t, err)
	}
	s, err := scan.Open(ctx, t.t, scan.Options{
		Columns: o.Columns, RowAddress: o.RowAddress, RowID: o.RowID, CreatedAt: o.CreatedAt, UpdatedAt: o.UpdatedAt,
		Fragments: o.Fragments, Offset: o.Offset, Limit: o.Limit, BlobBytes: o.BlobBytes,
		BatchRows: o.BatchRows, BatchBytes: o.BatchBytes, ReadAhead: o.ReadAhead, Threads: o.Threads,
		Bases: t.bases(ctx), Files: t.openFile,
	})
	if err != nil {
		return nil, classify(err)
	}
	return &Scan{s}, nil
}

// check finds what a scan would answer with other rows or columns than were asked for.
func (t *Table) check(o ScanOptions) error {
	seen := make(map[string]bool)
	for _, c := range o.Columns {
		if seen[c] {
			return fmt.Errorf("column %q twice", c)
		}
		seen[c] = true
	}
	there := make(map[uint64]bool)
	for _, f := range t.t.Fragments() {
		there[f.GetId()] = true
	}
	for _, id := range o.Fragments {
		if !there[id] {
			return fmt.Errorf("no fragment %d", id)
		}
	}
	if o.BatchRows < 0 || o.BatchBytes < 0 || o.ReadAhead < 0 || o.Threads < 0 {
		return fmt.Errorf("negative bounds: %d rows and %d bytes a batch, %d bytes ahead, %d threads", o.BatchRows, o.BatchBytes, o.ReadAhead, o.Threads)
	}
	return nil
}

// bases opens what a shallow clone reads beside its own files.
func (t *Table) bases(ctx context.Context) func(*pb.BasePath) (objects.Store, error) {
	if t.place.Base == nil {
		return nil
	}
	return func(p *pb.BasePath) (objects.Store, error) { return t.place.Base(ctx, p.GetPath()) }
}

// Schema is that of the batches.
func (s *Scan) Schema() *arrow.Schema { return s.inner.Schema() }

// Next returns the next batch, which the caller releases, or io.EOF. The first error
// ends the scan. The context is for this call.
func (s *Scan) Next(ctx context.Context) (arrow.RecordBatch, error) {
	b, err := s.inner.Next(ctx)
	return b, classify(err)
}

// All goes through the remaining batches, each of which is released when the next one is wanted. It ends
// with the first error.
func (s *Scan) All(ctx context.Context) iter.Seq2[arrow.RecordBatch, error] {
	return func(yield func(arrow.RecordBatch, error) bool) {
		for {
			b, err := s.Next(ctx)
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				yield(nil, err)
				return
			}
			more := yield(b, nil)
			b.Release()
			if !more {
				return
			}
		}
	}
}

// Close ends the scan and waits until nothing of it runs any more. Batches that were
// returned stay valid.
func (s *Scan) Close() error { return s.inner.Close() }
