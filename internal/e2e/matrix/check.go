package matrix

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/seaweedfs/seaweed-lance/internal/lance/scan"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
)

// ErrDiffers is wrapped by every error about something that was read, without an error, and is not what is wanted.
var ErrDiffers = errors.New("not what is wanted")

// Touch reads every value of a batch, as somebody would who trusts it: offsets beyond a buffer are an error.
func Touch(b arrow.RecordBatch) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: reading an array: %v", ErrDiffers, r)
		}
	}()
	for i, c := range b.Columns() {
		if c.Len() != int(b.NumRows()) {
			return fmt.Errorf("%w: column %d has %d values in a batch of %d rows", ErrDiffers, i, c.Len(), b.NumRows())
		}
		if err := diff(c, 0, c, 0, c.Len(), false); err != nil {
			return fmt.Errorf("%w: %w", ErrDiffers, err)
		}
	}
	return nil
}

// Full compares a scan of everything that the options ask for with what is wanted, batch by batch.
func Full(ctx context.Context, t *table.Table, w *Want, o scan.Options) error {
	rows, err := Compare(ctx, t, w, 0, w.Rows+1, o)
	if err == nil && rows != w.Rows {
		err = fmt.Errorf("%w: %d rows, want %d", ErrDiffers, rows, w.Rows)
	}
	return err
}

// Compare scans rows [from, from+n), or as many of them as there are, and returns their number.
func Compare(ctx context.Context, t *table.Table, w *Want, from, n int64, o scan.Options) (rows int64, err error) {
	if from > 0 || n <= w.Rows {
		limit := uint64(n)
		o.Offset, o.Limit = uint64(from), &limit
	}
	s, err := scan.Open(ctx, t, o)
	if err != nil {
		return 0, err
	}
	defer func() {
		if e := s.Close(); err == nil {
			err = e
		}
	}()
	if err := schemaDiff(w, s.Schema(), o); err != nil {
		return 0, fmt.Errorf("%w: %w", ErrDiffers, err)
	}
	for {
		b, err := s.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return rows, fmt.Errorf("rows from %d on: %w", from+rows, err)
		}
		if err := batchDiff(w, b, from+rows, o); err != nil {
			return rows, fmt.Errorf("%w: %w", ErrDiffers, err)
		}
		rows += b.NumRows()
		b.Release()
	}
	if want := max(0, min(n, w.Rows-from)); rows != want {
		return rows, fmt.Errorf("%w: %d rows from %d on, want %d", ErrDiffers, rows, from, want)
	}
	return rows, nil
}

func batchDiff(w *Want, b arrow.RecordBatch, from int64, o scan.Options) (err error) {
	// An array whose buffers are too short for what it says makes Arrow panic: an error of ours.
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("rows from %d on: reading an array: %v", from, r)
		}
	}()
	most := o.BatchRows
	if most == 0 {
		most = 8192
	}
	if b.NumRows() > int64(most) || b.NumRows() == 0 {
		return fmt.Errorf("a batch of %d rows, with at most %d asked for", b.NumRows(), most)
	}
	for i, f := range b.Schema().Fields() {
		if c := b.Column(i); int64(c.Len()) != b.NumRows() {
			return fmt.Errorf("column %s has %d values in a batch of %d rows", f.Name, c.Len(), b.NumRows())
		}
		path := []string{f.Name}
		for _, c := range o.Columns {
			if c != f.Name && strings.HasPrefix(c, f.Name+".") {
				path = strings.Split(c, ".")
			}
		}
		if err := w.Diff(path, from, b.Column(i)); err != nil {
			return err
		}
	}
	return nil
}

// Ranges compares n random ranges of rows, with batches of random sizes and random
// columns.
func Ranges(ctx context.Context, t *table.Table, w *Want, n int, seed uint64, o scan.Options) error {
	rng := rand.New(rand.NewPCG(seed, 1))
	columns := projections(w.Schema)
	for range n {
		o.BatchRows = []int{0, 1, 3, 17, 100, 1000}[rng.IntN(6)]
		o.Columns = columns[rng.IntN(len(columns))]
		from := rng.Int64N(max(1, w.Rows))
		most := int64(30)
		if rng.IntN(10) == 0 {
			most = w.Rows + 10
		}
		if o.BatchRows > 0 {
			most = min(most, int64(o.BatchRows)*100)
		}
		rows := rng.Int64N(most + 1)
		if _, err := Compare(ctx, t, w, from, rows, o); err != nil {
			return fmt.Errorf("rows %d to %d of %d in batches of %d, columns %v: %w", from, from+rows, w.Rows, o.BatchRows, o.Columns, err)
		}
	}
	return nil
}

// projections are all columns, each one alone, and each field below alone.
func projections(s *arrow.Schema) [][]string {
	out := [][]string{nil}
	for _, f := range s.Fields() {
		if strings.HasPrefix(f.Name, "_row") {
			continue
		}
		out = append(out, []string{f.Name})
		for _, p := range below(f) {
			out = append(out, []string{f.Name + "." + p})
		}
	}
	return out
}

// below are the paths to the fields of structs within a field; lists in between are not spelled.
func below(f arrow.Field) []string {
	// Columns whose fields can't be read apart.
	for _, k := range []string{"lance-encoding:packed", "lance-encoding:blob", "ARROW:extension:name"} {
		if _, ok := f.Metadata.GetValue(k); ok {
			return nil
		}
	}
	switch t := f.Type.(type) {
	case *arrow.StructType:
		var out []string
		for _, c := range t.Fields() {
			out = append(out, c.Name)
			for _, p := range below(c) {
				out = append(out, c.Name+"."+p)
			}
		}
		return out
	case *arrow.ListType:
		return below(t.ElemField())
	case *arrow.LargeListType:
		return below(t.ElemField())
	case *arrow.FixedSizeListType:
		return below(t.ElemField())
	}
	return nil
}
