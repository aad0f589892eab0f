package array

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
)

// maxItems of an array: types that take no bytes have no other bound.
const maxItems = 1 << 40

// builder puts an array together out of the parts of pages. Its size is known
// from the start and was claimed by whoever made it; the bytes of strings are claimed
// as they become known.
type builder struct {
	r     *read
	typ   arrow.DataType
	total int
	n     int
	valid bitmap

	// bits of a value, or of a dictionary's key; 0 for others.
	bits int
	// data holds values and keys.
	data []byte
	text *text
	// kids are the items of a fixed-size list, the fields of a struct.
	kids []*builder
	dict *dictionaries
}

func newBuilder(r *read, typ arrow.DataType, total int) (*builder, error) {
	b := &builder{r: r, typ: typ, total: total, valid: bitmap{r: r, total: total}}
	sto := column.Storage(typ)
	if bits, ok := fixedBits(sto); ok {
		b.bits = int(bits)
		return b, nil
	}
	if isVariable(sto) {
		b.text = &text{r: r, total: total, wide: sto.ID() == arrow.LARGE_STRING || sto.ID() == arrow.LARGE_BINARY}
		return b, nil
	}
	kid := func(t arrow.DataType, n int) error {
		k, err := newBuilder(r, t, n)
		b.kids = append(b.kids, k)
		return err
	}
	switch t := sto.(type) {
	case *arrow.FixedSizeListType:
		items := times(uint64(total), uint64(max(t.Len(), 0)))
		if items > maxItems {
			return nil, fmt.Errorf("%w: %d items", column.ErrLimit, items)
		}
		return b, kid(t.Elem(), int(items))
	case *arrow.StructType:
		for _, f := range t.Fields() {
			if err := kid(f.Type, total); err != nil {
				return nil, err
			}
		}
		return b, nil
	case *arrow.DictionaryType:
		bits, _ := fixedBits(t.IndexType)
		b.bits = int(bits)
		b.dict = &dictionaries{r: r, typ: t.ValueType}
		return b, nil
	case *arrow.NullType:
		return b, nil
	}
	return nil, unsupported("type %s in a file of version 2.0", typ)
}

// grow makes room for all values, once.
func (b *builder) grow() {
	if b.data == nil {
		b.data = make([]byte, bitBytes(uint64(b.total), uint64(b.bits)))
	}
}

// fixed appends n values of one width. Where they are all there is and lie
// right, they are not copied.
func (b *builder) fixed(p fixedPart, n int) error {
	raw, bit, kept, ok := p.raw()
	if ok && n == b.total && b.data == nil && bit == 0 && !kept && aligned(raw, b.bits) {
		b.data, b.n = raw, n
		return nil
	}
	b.grow()
	switch {
	case b.bits != 1:
		w := b.bits / 8
		if err := p.unpack(b.data[b.n*w : (b.n+n)*w]); err != nil {
			return err
		}
	case ok:
		bitutil.CopyBitmap(raw, bit, n, b.data, b.n)
	default:
		return unsupported("packed bits")
	}
	b.n += n
	return nil
}

// zeros appends rows whose values do not matter.
func (b *builder) zeros(n int) {
	switch {
	case b.text != nil:
		b.text.empty(n)
	case b.bits > 0:
		b.grow()
	}
	for _, k := range b.kids {
		if b.total > 0 {
			k.zeros(k.total / b.total * n)
		}
	}
	b.n += n
}

// nulls appends rows that are null.
func (b *builder) nulls(n int) error {
	from := b.n
	b.zeros(n)
	if column.Storage(b.typ).ID() == arrow.NULL {
		return nil
	}
	return b.valid.nullAll(from, n)
}

// finish returns the array.
func (b *builder) finish() (arrow.ArrayData, error) {
	if b.n != b.total {
		return nil, corrupt("%d of %d values decoded", b.n, b.total)
	}
	sto := column.Storage(b.typ)
	if sto.ID() == arrow.NULL {
		return array.NewData(b.typ, b.n, []*memory.Buffer{nil}, nil, b.n, 0), nil
	}
	valid, nulls := b.valid.buffer()
	buffers := []*memory.Buffer{valid}
	switch {
	case b.text != nil:
		offsets, data := b.text.finish()
		buffers = append(buffers, offsets, data)
	case b.bits > 0:
		b.grow()
		buffers = append(buffers, memory.NewBufferBytes(b.data))
	}
	if b.dict != nil {
		d, err := b.dict.finish()
		if err != nil {
			return nil, err
		}
		return array.NewDataWithDictionary(b.typ, b.n, buffers, nulls, 0, d), nil
	}
	kids := make([]arrow.ArrayData, len(b.kids))
	for i, k := range b.kids {
		d, err := k.finish()
		if err != nil {
			return nil, err
		}
		kids[i] = d
	}
	out := array.NewData(b.typ, b.n, buffers, kids, nulls, 0)
	for _, k := range kids {
		k.Release()
	}
	return out, nil
}
