package array

import (
	"encoding/binary"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// packedStruct encodes structs with the values of their fields row by row. Nothing of it may be null.
func (w *pageWriter) packedStruct(t *arrow.StructType, in []piece) (*pb.ArrayEncoding, error) {
	rows, nulls := countNulls(in)
	if nulls > 0 {
		return nil, unsupported("%d packed structs are null, which version 2.0 can't tell", nulls)
	}
	m := &pb.ArrayEncoding_PackedStruct{}
	row := 0
	for _, f := range t.Fields() {
		bits, _ := flatBits(f.Type)
		row += int(bits / 8)
		m.Inner = append(m.Inner, packedItem(f.Type))
	}
	out := w.room(rows * row)
	at := 0
	for i, f := range t.Fields() {
		bits, _ := flatBits(f.Type)
		width := int(bits / 8)
		to := out[min(at, len(out)):]
		for _, p := range in {
			src, err := p.kid(i, 1).dense()
			if err != nil {
				return nil, fmt.Errorf("%s: %w", f.Name, err)
			}
			spread(to, src, width, row)
			to = to[min(p.n*row, len(to)):]
		}
		at += width
	}
	w.buffers = append(w.buffers, out)
	m.Buffer = &pb.ArrayEncoding_Buffer{Index: uint32(len(w.buffers) - 1)}
	return &pb.ArrayEncoding{Encoding: &pb.ArrayEncoding_PackedStruct_{PackedStruct: m}}, nil
}

// packedItem describes the values of a field of a packed struct. They all name buffer 0, as Lance does.
func packedItem(t arrow.DataType) *pb.ArrayEncoding {
	t = column.Storage(t)
	if l, ok := t.(*arrow.FixedSizeListType); ok {
		return withoutNulls(&pb.ArrayEncoding{Encoding: &pb.ArrayEncoding_FixedSizeList_{FixedSizeList: &pb.ArrayEncoding_FixedSizeList{
			Dimension: uint32(l.Len()), Items: packedItem(l.Elem()),
		}}})
	}
	bits, _ := fixedBits(t)
	return withoutNulls((&pageWriter{}).flat(bits, nil))
}

// dense is the bytes of values of one width, or of lists of a fixed size, none of which is null.
func (p piece) dense() ([]byte, error) {
	for {
		if n := p.nulls(); n > 0 {
			return nil, unsupported("%d packed values of type %s are null, which version 2.0 can't tell", n, p.data.DataType())
		}
		l, ok := column.Storage(p.data.DataType()).(*arrow.FixedSizeListType)
		if !ok {
			bits, _ := fixedBits(column.Storage(p.data.DataType()))
			return p.fixed(int(bits / 8)), nil
		}
		p = p.kid(0, int(l.Len()))
	}
}

// spread writes values of w bytes some bytes apart.
func spread(dst, src []byte, w, apart int) {
	n := len(src) / w
	switch w {
	case 4:
		for i := range n {
			*(*[4]byte)(dst[i*apart:]) = *(*[4]byte)(src[i*4:])
		}
	case 8:
		for i := range n {
			*(*[8]byte)(dst[i*apart:]) = *(*[8]byte)(src[i*8:])
		}
	default:
		for i := range n {
			copy(dst[i*apart:i*apart+w], src[i*w:])
		}
	}
}

// descriptors returns where blobs are. Bytes are placed in the file; descriptors are passed on.
func (l *leafWriter) descriptors(p piece) (piece, error) {
	if !isVariable(column.Storage(p.data.DataType())) {
		return p, nil
	}
	pos, size := make([]byte, p.n*8), make([]byte, p.n*8)
	le := binary.LittleEndian
	valid := p.valid()
	for i := range p.n {
		if valid != nil && !bitutil.BitIsSet(valid, p.from+i) {
			le.PutUint64(pos[i*8:], 1) // (1, 0) is null
			continue
		}
		v := p.tail(i).head(1).text()
		if len(v) == 0 {
			continue
		}
		at, err := l.of.sink.Blob(v)
		if err != nil {
			return p, fmt.Errorf("placing a blob of %d bytes: %w", len(v), err)
		}
		le.PutUint64(pos[i*8:], at)
		le.PutUint64(size[i*8:], uint64(len(v)))
	}
	u64 := func(b []byte) arrow.ArrayData { // plain memory: nobody has to release it
		return array.NewData(arrow.PrimitiveTypes.Uint64, p.n, []*memory.Buffer{nil, memory.NewBufferBytes(b)}, nil, 0, 0)
	}
	d := array.NewData(l.field.Type, p.n, []*memory.Buffer{nil}, []arrow.ArrayData{u64(pos), u64(size)}, 0, 0)
	return piece{d, 0, p.n}, nil
}
