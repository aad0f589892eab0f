package lanceworker

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/seaweedfs/seaweed-lance/internal/pin"
	"github.com/seaweedfs/seaweed-lance/lanceworker/internal/pins"
	"github.com/seaweedfs/seaweed-lance/lanceworker/internal/render"
	"github.com/seaweedfs/seaweed-lance/lease"
	"github.com/seaweedfs/seaweed-lance/session"
)

const (
	// previewCell is the most bytes of one value: admin cuts at 200, and would take
	// away the mark of what is missing.
	previewCell = 198
	// previewColumns and previewBytes bound an answer; a page shows no more than
	// people read.
	previewColumns = 200
	previewBytes   = 1 << 20
	// previewBatch and previewReadAhead bound the memory that reading takes.
	previewBatch     = 8 << 20
	previewReadAhead = 16 << 20
)

// sampler reads samples within bounds.
type sampler struct{ columns, bytes int }

// openAgain is how often a version is opened that is cleaned up before it is pinned.
const openAgain = 3

// read renders the first rows of the newest version of a table, which is pinned meanwhile.
func (b sampler) read(ctx context.Context, p pins.Pins, l session.Location, rows int) (s sample, err error) {
	for range openAgain {
		var t *session.Table
		if t, err = p.Session.Open(ctx, l); err != nil {
			return sample{}, err
		}
		var held *lease.Lease
		if held, err = p.Leases.Take(ctx, t); errors.Is(err, lease.ErrGone) {
			continue
		}
		if err != nil {
			return sample{}, err
		}
		defer held.Release()
		return b.render(ctx, t, rows)
	}
	return sample{}, err
}

func (b sampler) render(ctx context.Context, t *session.Table, rows int) (sample, error) {
	limit := uint64(rows)
	o := session.ScanOptions{Limit: &limit, BatchRows: rows, BatchBytes: previewBatch, ReadAhead: previewReadAhead}
	columns := render.Schema(pin.Of(t).Table.Manifest().GetFields())
	if len(columns) > b.columns {
		for _, c := range columns[:b.columns] {
			o.Columns = append(o.Columns, c.Name)
		}
	}
	r, err := t.Scan(ctx, o)
	if err != nil {
		return sample{}, err
	}
	defer r.Close()
	out := sample{total: t.Rows()}
	style := render.Text{Bytes: previewCell}
	for _, f := range r.Schema().Fields() {
		out.columns = append(out.columns, style.Name(f.Name))
	}
	if n := len(columns) - len(out.columns); n > 0 {
		out.columns = append(out.columns, fmt.Sprintf("… %d more columns", n))
	}
	for size := 0; size < b.bytes; {
		batch, err := r.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return sample{}, err
		}
		size = out.add(batch, style, size, b.bytes)
		batch.Release()
	}
	return out, nil
}

// add renders the rows of a batch until the answer has most bytes, and returns
// how many it has.
func (s *sample) add(batch arrow.RecordBatch, style render.Text, size, most int) int {
	for i := 0; i < int(batch.NumRows()) && size < most; i++ {
		row := make([]string, len(s.columns))
		for k, column := range batch.Columns() {
			row[k] = style.Value(column, batch.Schema().Field(k), i)
			size += len(row[k])
		}
		s.rows = append(s.rows, row)
		size += len(row)
	}
	return size
}
