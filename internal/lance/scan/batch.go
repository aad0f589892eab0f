package scan

import (
	"context"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
)

// read makes a batch of the live ones among rows [from, to), and tells how many bytes its
// buffers take; nil when there is none. ErrLimit when that would be more than limit.
func (f *fragment) read(ctx context.Context, from, to uint64, limit int64) (arrow.RecordBatch, int64, error) {
	runs, n := live(f.deleted, from, to)
	if n == 0 {
		return nil, 0, nil
	}
	r := rowReader{f: f, from: from, to: to, runs: runs, rows: n, left: limit}
	cols := make([]arrow.Array, 0, f.scan.schema.NumFields())
	for i, node := range f.scan.nodes {
		d, err := r.column(ctx, node, f.columns[i])
		if err != nil {
			return nil, 0, fmt.Errorf("fragment %d: %w", f.id, err)
		}
		cols = append(cols, array.MakeFromData(d))
	}
	for _, name := range f.scan.opts.rowColumns() {
		d, err := r.rowColumn(name)
		if err != nil {
			return nil, 0, err
		}
		cols = append(cols, array.MakeFromData(d))
	}
	return array.NewRecordBatch(f.scan.schema, cols, int64(n)), limit - r.left, nil
}

// rowReader reads the columns of one batch.
type rowReader struct {
	f        *fragment
	from, to uint64
	runs     []run // of live rows
	rows     int
	left     int64 // bytes that may still be taken
}

func (r *rowReader) column(ctx context.Context, n *node, parts []columnPart) (arrow.ArrayData, error) {
	var pieces []piece
	left := r.left
	for _, p := range parts {
		d, err := r.part(ctx, p, left)
		if err != nil {
			return nil, fmt.Errorf("%s: column %q: %w", p.place.label, n.field.Name, err)
		}
		left -= column.SizeOf(d)
		pieces = append(pieces, piece{p.shape, d})
	}
	d, err := assembler{&r.f.scan.zeros, r.left}.assemble(n, pieces, r.rows)
	if err != nil {
		return nil, fmt.Errorf("column %q: %w", n.field.Name, err)
	}
	if r.left -= column.SizeOf(d); r.left < 0 {
		return nil, fmt.Errorf("column %q: %w", n.field.Name, column.ErrLimit)
	}
	return d, nil
}

// part reads what one file holds of a column, without the deleted rows.
func (r *rowReader) part(ctx context.Context, p columnPart, limit int64) (arrow.ArrayData, error) {
	if limit <= 0 {
		return nil, column.ErrLimit
	}
	a, err := p.reader.Read(ctx, p.src, r.from, r.to, limit)
	if err != nil {
		return nil, err
	}
	if uint64(a.Len()) != r.to-r.from || !arrow.TypeEqual(a.DataType(), p.field.Type) {
		return nil, fmt.Errorf("%w: %d values of type %s where %d of type %s were asked for", errCorrupt, a.Len(), a.DataType(), r.to-r.from, p.field.Type)
	}
	d := a.Data()
	if uint64(r.rows) != r.to-r.from {
		if d, err = gather(d, r.runs); err != nil {
			return nil, err
		}
	}
	if p.shape.converted() {
		b := converter{bases: r.f.scan.bases, part: p, scan: r.f.scan, left: limit}
		return b.convert(ctx, p.shape, d)
	}
	return d, nil
}

// rowColumns are the names of the appended columns.
func (o Options) rowColumns() (names []string) {
	for _, c := range []struct {
		wanted bool
		name   string
	}{{o.RowAddress, RowAddressColumn}, {o.RowID, RowIDColumn}, {o.CreatedAt, CreatedAtColumn}, {o.UpdatedAt, UpdatedAtColumn}} {
		if c.wanted {
			names = append(names, c.name)
		}
	}
	return names
}

// rowColumn makes one of the appended columns.
func (r *rowReader) rowColumn(name string) (arrow.ArrayData, error) {
	size := int64(r.rows) * 8
	if r.left -= size; r.left < 0 {
		return nil, fmt.Errorf("fragment %d: column %q: %w", r.f.id, name, column.ErrLimit)
	}
	values := make([]uint64, 0, r.rows)
	for _, x := range r.runs {
		from := r.from + uint64(x.from)
		to := from + uint64(x.n)
		switch {
		case name == CreatedAtColumn:
			values = r.f.created.Append(values, from, to)
		case name == UpdatedAtColumn:
			values = r.f.updated.Append(values, from, to)
		case name == RowIDColumn && r.f.ids != nil:
			values = r.f.ids.Append(values, from, to)
		default:
			for i := from; i < to; i++ {
				values = append(values, r.f.id<<32|i)
			}
		}
	}
	return uint64s(values), nil
}

func uint64s(values []uint64) arrow.ArrayData {
	b := memory.NewBufferBytes(arrow.Uint64Traits.CastToBytes(values))
	return array.NewData(arrow.PrimitiveTypes.Uint64, len(values), []*memory.Buffer{nil, b}, nil, 0, 0)
}
