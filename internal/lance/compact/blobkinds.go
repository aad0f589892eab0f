package compact

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/scan"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
)

// first moves blobs of the first kind: (position, size) in the data file.
func (m *blobMover) first(ctx context.Context, at scan.Located, s *array.Struct, there func(int) bool) (arrow.Array, error) {
	pos, ok1 := field[*array.Uint64](s, 0)
	size, ok2 := field[*array.Uint64](s, 1)
	if !ok1 || !ok2 || s.NumField() != 2 {
		return nil, fmt.Errorf("%w: descriptors of blobs are of type %s", column.ErrUnsupported, s.DataType())
	}
	// In version 2.0, where structs are never null, a null has position 1 and no bytes.
	valid := func(i int) bool {
		return there(i) && s.IsValid(i) && pos.IsValid(i) && size.IsValid(i) && (pos.Value(i) != 1 || size.Value(i) != 0)
	}
	spans := make([]datafile.Span, s.Len())
	for i := range spans {
		if valid(i) {
			spans[i] = datafile.Span{Pos: pos.Value(i), Size: size.Value(i)}
		}
	}
	to, err := m.inFile(ctx, at, spans)
	if err != nil {
		return nil, err
	}
	sizes := make([]uint64, len(spans))
	old := m.t.FileVersion() == table.V2_0
	for i, x := range spans {
		if sizes[i] = x.Size; old && !valid(i) {
			to[i] = 1
		}
	}
	if old {
		valid = func(int) bool { return true }
	}
	return structOf(s.DataType(), s.Len(), []arrow.ArrayData{numbers(to), numbers(sizes)}, valid), nil
}

// inFile copies ranges of a data file to the new one, and returns where each is. What lies behind each other stays so.
func (m *blobMover) inFile(ctx context.Context, at scan.Located, spans []datafile.Span) ([]uint64, error) {
	order := make([]int, 0, len(spans))
	for i, x := range spans {
		if x.Size > 0 {
			order = append(order, i)
		}
	}
	to := make([]uint64, len(spans))
	if len(order) == 0 {
		return to, nil
	}
	r, err := m.reader(ctx, at)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(order, func(i, k int) int { return cmp.Compare(spans[i].Pos, spans[k].Pos) })
	for len(order) > 0 {
		// Nothing but padding may come along: the bytes of deleted rows are to be gone.
		n, run := 0, spans[order[0]]
		for n < len(order) {
			x := spans[order[n]]
			if err := check(r, at, x); err != nil {
				return nil, err
			}
			if end := run.Pos + run.Size; x.Pos >= end+datafile.Alignment || x.Pos > end && x.Pos%datafile.Alignment != 0 {
				break
			} else if e := x.Pos + x.Size; e > end {
				run.Size = e - run.Pos
			}
			n++
		}
		pos, err := m.toFile(ctx, r, run)
		if err != nil {
			return nil, fmt.Errorf("copying blobs of %s: %w", at.Label, err)
		}
		m.moved(int64(run.Size))
		for _, i := range order[:n] {
			to[i] = pos + spans[i].Pos - run.Pos
		}
		order = order[n:]
	}
	return to, nil
}

// second moves blobs of the second kind, of which each says where it is.
func (m *blobMover) second(ctx context.Context, at scan.Located, f *table.Field, s *array.Struct, there func(int) bool) (arrow.Array, error) {
	kind, ok0 := field[*array.Uint8](s, 0)
	pos, ok1 := field[*array.Uint64](s, 1)
	size, ok2 := field[*array.Uint64](s, 2)
	id, ok3 := field[*array.Uint32](s, 3)
	uri, ok4 := field[*array.String](s, 4)
	if !ok0 || !ok1 || !ok2 || !ok3 || !ok4 || s.NumField() != 5 {
		return nil, fmt.Errorf("%w: descriptors of blobs are of type %s", column.ErrUnsupported, s.DataType())
	}
	n := s.Len()
	newPos, newSize, newID := make([]uint64, n), make([]uint64, n), make([]uint32, n)
	inline := make([]datafile.Span, n)
	p := packer{m: m, at: at, most: packMost(f)}
	for i := range n {
		if !there(i) || !s.IsValid(i) {
			continue
		}
		span := datafile.Span{Pos: pos.Value(i), Size: size.Value(i)}
		newPos[i], newSize[i], newID[i] = span.Pos, span.Size, id.Value(i)
		var err error
		switch k := kind.Value(i); k {
		case blobInline:
			inline[i] = span
		case blobPacked:
			newID[i], newPos[i], err = p.add(ctx, id.Value(i), span)
		case blobDedicated:
			newPos[i] = 0
			newID[i], err = m.dedicated(ctx, at, id.Value(i), span)
		case blobManaged:
			if at.Store != m.t.Store() { // where its name leads elsewhere
				err = fmt.Errorf("%w: managed blobs of %s", column.ErrUnsupported, at.Label)
			}
		case blobExternal:
		default:
			err = fmt.Errorf("%w: a blob of kind %d", column.ErrUnsupported, k)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := p.flush(ctx); err != nil {
		return nil, err
	}
	to, err := m.inFile(ctx, at, inline)
	if err != nil {
		return nil, err
	}
	for i, x := range inline {
		if x.Size > 0 {
			newPos[i] = to[i]
		}
	}
	ids := array.NewData(arrow.PrimitiveTypes.Uint32, n, []*memory.Buffer{nil, memory.NewBufferBytes(arrow.Uint32Traits.CastToBytes(newID))}, nil, 0, 0)
	kids := []arrow.ArrayData{kind.Data(), numbers(newPos), numbers(newSize), ids, uri.Data()}
	return structOf(s.DataType(), n, kids, func(i int) bool { return there(i) && s.IsValid(i) }), nil
}

// field is a child of a struct as what it has to be.
func field[A arrow.Array](s *array.Struct, i int) (a A, ok bool) {
	if i >= s.NumField() {
		return a, false
	}
	a, ok = s.Field(i).(A)
	return a, ok
}
