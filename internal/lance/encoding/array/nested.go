package array

import (
	"github.com/apache/arrow-go/v18/arrow"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// fixedSizeList values are dim items each.
type fixedSizeList struct {
	items encoding
	dim   uint64
}

func (c *compiler) fixedSizeList(typ *arrow.FixedSizeListType, e *pb.ArrayEncoding, depth int) (encoding, error) {
	m := e.GetFixedSizeList()
	if m == nil {
		return nil, corrupt("%s is stored as %s", typ, describe(e))
	}
	if uint64(m.GetDimension()) != uint64(typ.Len()) || typ.Len() <= 0 {
		return nil, corrupt("%s is stored with %d items", typ, m.GetDimension())
	}
	items, err := c.values(typ.Elem(), m.GetItems(), depth)
	return &fixedSizeList{items, uint64(typ.Len())}, err
}

func (l *fixedSizeList) load(r *read, from, to uint64) (part, error) {
	if times(to, l.dim) == ^uint64(0) {
		return nil, corrupt("%d lists of %d items", to, l.dim)
	}
	items, err := l.items.load(r, from*l.dim, to*l.dim)
	return &fixedSizeListPart{items, int(to - from)}, err
}

func (l *fixedSizeList) need(from, to uint64, out []datafile.Span) []datafile.Span {
	return l.items.need(times(from, l.dim), times(to, l.dim), out)
}

type fixedSizeListPart struct {
	items part
	n     int
}

func (p *fixedSizeListPart) prepare(r *read) (uint64, error) { return p.items.prepare(r) }

func (p *fixedSizeListPart) appendTo(b *builder) error {
	b.n += p.n
	return p.items.appendTo(b.kids[0])
}

// packedStruct has the values of its fields row by row.
type packedStruct struct {
	span datafile.Span
	// widths of the fields in bytes, and their sum.
	widths []int
	row    uint64
}

func (c *compiler) packed(typ *arrow.StructType, e *pb.ArrayEncoding, depth int) (encoding, error) {
	m := e.GetPackedStruct()
	if m == nil {
		return nil, corrupt("%s is stored as %s", typ, describe(e))
	}
	if len(m.GetInner()) != typ.NumFields() || typ.NumFields() == 0 {
		return nil, corrupt("%d fields are packed for %s", len(m.GetInner()), typ)
	}
	span, err := c.buffer(m.GetBuffer())
	if err != nil {
		return nil, err
	}
	p := &packedStruct{span: span}
	for i, f := range typ.Fields() {
		bits, err := packedBits(f.Type, m.GetInner()[i], depth)
		if err != nil {
			return nil, err
		}
		if bits%8 != 0 || bits > 8<<30 {
			return nil, unsupported("packed values of %d bits", bits)
		}
		p.widths = append(p.widths, int(bits/8))
		p.row = plus(p.row, bits/8)
	}
	return p, nil
}

// packedBits is the width of a field in a packed struct.
func packedBits(typ arrow.DataType, e *pb.ArrayEncoding, depth int) (uint64, error) {
	if depth == 0 {
		return 0, corrupt("more than %d encodings within each other", maxDepth)
	}
	typ = column.Storage(typ)
	if n := e.GetNullable().GetNoNulls(); n != nil {
		return packedBits(typ, n.GetValues(), depth-1)
	}
	if l, ok := typ.(*arrow.FixedSizeListType); ok && e.GetFixedSizeList() != nil {
		if uint64(e.GetFixedSizeList().GetDimension()) != uint64(l.Len()) || l.Len() <= 0 {
			return 0, corrupt("%s is stored with %d items", typ, e.GetFixedSizeList().GetDimension())
		}
		bits, err := packedBits(l.Elem(), e.GetFixedSizeList().GetItems(), depth-1)
		return times(bits, uint64(l.Len())), err
	}
	bits, ok := fixedBits(typ)
	if !ok || e.GetFlat() == nil || e.GetFlat().GetCompression() != nil {
		return 0, unsupported("%s packed as %s", typ, describe(e))
	}
	if e.GetFlat().GetBitsPerValue() != bits {
		return 0, corrupt("%s has %d bits, its packed values have %d", typ, bits, e.GetFlat().GetBitsPerValue())
	}
	return bits, nil
}

func (s *packedStruct) load(r *read, from, to uint64) (part, error) {
	pos, end := times(from, s.row), times(to, s.row)
	if end > s.span.Size {
		return nil, corrupt("%d rows of %d bytes in a buffer of %d", to, s.row, s.span.Size)
	}
	p := &packedPart{of: s, n: int(to - from)}
	return p, r.want(datafile.Span{Pos: s.span.Pos + pos, Size: end - pos}, &p.b)
}

func (s *packedStruct) need(from, to uint64, out []datafile.Span) []datafile.Span {
	pos, end := times(from, s.row), times(to, s.row)
	if end <= s.span.Size && pos < end {
		out = append(out, datafile.Span{Pos: s.span.Pos + pos, Size: end - pos})
	}
	return out
}

type packedPart struct {
	of *packedStruct
	b  []byte
	n  int
}

func (p *packedPart) prepare(*read) (uint64, error) { return 0, nil }

func (p *packedPart) appendTo(b *builder) error {
	at := 0
	for i, w := range p.of.widths {
		if err := b.kids[i].strided(p.b[min(at, len(p.b)):], p.n, w, int(p.of.row)); err != nil {
			return err
		}
		at += w
	}
	b.n += p.n
	return nil
}

// strided appends n rows of w bytes that lie some bytes apart.
func (b *builder) strided(src []byte, n, w, apart int) error {
	if n == 0 {
		return nil
	}
	if len(src) < (n-1)*apart+w {
		return corrupt("%d packed rows in %d bytes", n, len(src))
	}
	leaf, items := b, n
	for ; len(leaf.kids) > 0; leaf = leaf.kids[0] {
		leaf.n += items
		items *= leaf.kids[0].total / leaf.total
	}
	leaf.n += items
	leaf.grow()
	size := leaf.bits / 8
	dst := leaf.data[(leaf.n-items)*size:][:n*w]
	switch w {
	case 4:
		for i := range n {
			*(*[4]byte)(dst[i*4:]) = *(*[4]byte)(src[i*apart:])
		}
	case 8:
		for i := range n {
			*(*[8]byte)(dst[i*8:]) = *(*[8]byte)(src[i*apart:])
		}
	default:
		for i := range n {
			copy(dst[i*w:(i+1)*w], src[i*apart:])
		}
	}
	return nil
}
