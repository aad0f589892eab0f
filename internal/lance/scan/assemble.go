package scan

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
)

// piece is what one file gave for a field.
type piece struct {
	shape *shape
	data  arrow.ArrayData
}

// assembler puts a wanted field together.
type assembler struct {
	zeros *column.Zeros
	// limit of a single buffer of nulls.
	limit int64
}

// assemble makes n values of a field out of what the files gave.
func (a assembler) assemble(want *node, pieces []piece, n int) (arrow.ArrayData, error) {
	switch {
	case len(pieces) == 0:
		return a.zeros.Nulls(want.typ, n, a.limit)
	case len(pieces) == 1 && pieces[0].shape.whole():
		return pieces[0].data, nil
	case len(want.kids) == 0:
		d := pieces[0].data
		if !arrow.TypeEqual(d.DataType(), want.typ) {
			return nil, fmt.Errorf("%w: field %q is a %s in the file, the manifest says %s", datafile.ErrCorrupt, want.field.Name, d.DataType(), want.typ)
		}
		return d, nil
	}
	switch t := want.typ.(type) {
	case *arrow.StructType:
		return a.structs(want, pieces, n)
	case *arrow.FixedSizeListType:
		return a.fixedLists(want, int(t.Len()), pieces, n)
	default:
		return a.lists(want, pieces, n)
	}
}

func (a assembler) structs(want *node, pieces []piece, n int) (arrow.ArrayData, error) {
	kids := make([]arrow.ArrayData, len(want.kids))
	for i, k := range want.kids {
		var below []piece
		for _, p := range pieces {
			for j, s := range p.shape.kids {
				if s.node == k {
					c := p.data.Children()[j]
					below = append(below, piece{s, array.NewSliceData(c, int64(p.data.Offset()), int64(p.data.Offset()+n))})
				}
			}
		}
		var err error
		if kids[i], err = a.assemble(k, below, n); err != nil {
			return nil, err
		}
	}
	valid, nulls := eitherValid(pieces, n)
	return array.NewData(want.typ, n, []*memory.Buffer{valid}, kids, nulls, 0), nil
}

func (a assembler) fixedLists(want *node, dim int, pieces []piece, n int) (arrow.ArrayData, error) {
	below := make([]piece, len(pieces))
	for i, p := range pieces {
		from := int64(p.data.Offset() * dim)
		below[i] = piece{p.shape.kids[0], array.NewSliceData(p.data.Children()[0], from, from+int64(n*dim))}
	}
	kid, err := a.assemble(want.kids[0], wanted(below), n*dim)
	if err != nil {
		return nil, err
	}
	valid, nulls := eitherValid(pieces, n)
	return array.NewData(want.typ, n, []*memory.Buffer{valid}, []arrow.ArrayData{kid}, nulls, 0), nil
}

// lists puts lists and maps together. All files must say the same of their lengths.
func (a assembler) lists(want *node, pieces []piece, n int) (arrow.ArrayData, error) {
	below := make([]piece, len(pieces))
	first := offsetsOf(pieces[0].data)
	width := column.OffsetWidth(want.typ)
	offsets := make([]byte, 0, (n+1)*width)
	for i := 0; i <= n; i++ {
		offsets = appendOffset(offsets, width, first(i)-first(0))
	}
	for i, p := range pieces {
		at := offsetsOf(p.data)
		for j := 0; j <= n && i > 0; j++ {
			if at(j)-at(0) != first(j)-first(0) {
				return nil, fmt.Errorf("%w: the lists of field %q end differently in two files", datafile.ErrCorrupt, want.field.Name)
			}
		}
		below[i] = piece{p.shape.kids[0], array.NewSliceData(p.data.Children()[0], at(0), at(n))}
	}
	kid, err := a.assemble(want.kids[0], wanted(below), int(first(n)-first(0)))
	if err != nil {
		return nil, err
	}
	valid, nulls := eitherValid(pieces, n)
	return array.NewData(want.typ, n, []*memory.Buffer{valid, memory.NewBufferBytes(offsets)}, []arrow.ArrayData{kid}, nulls, 0), nil
}

// wanted leaves out the pieces that were read for their parents alone.
func wanted(pieces []piece) []piece {
	var out []piece
	for _, p := range pieces {
		if p.shape.node != nil {
			out = append(out, p)
		}
	}
	return out
}

// eitherValid is the validity of values that are null where they are null in
// all pieces; nil when none is.
func eitherValid(pieces []piece, n int) (*memory.Buffer, int) {
	var bits []byte
	for _, p := range pieces {
		buf := p.data.Buffers()[0]
		if buf == nil || buf.Len() == 0 || p.data.NullN() == 0 {
			return nil, 0
		}
		if bits == nil {
			bits = make([]byte, bitutil.BytesForBits(int64(n)))
			bitutil.CopyBitmap(buf.Bytes(), p.data.Offset(), n, bits, 0)
			continue
		}
		bitutil.BitmapOr(bits, buf.Bytes(), 0, int64(p.data.Offset()), bits, 0, int64(n))
	}
	nulls := n - bitutil.CountSetBits(bits, 0, n)
	if nulls == 0 {
		return nil, 0
	}
	return memory.NewBufferBytes(bits), nulls
}
