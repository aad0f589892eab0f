package array

import (
	"github.com/apache/arrow-go/v18/arrow"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// fixedValues are values of one width that are not null.
type fixedValues struct {
	of fixed
}

func (v *fixedValues) load(r *read, from, to uint64) (part, error) {
	p, err := v.of.load(r, from, to)
	return &fixedValuesPart{p, int(to - from)}, err
}

func (v *fixedValues) need(from, to uint64, out []datafile.Span) []datafile.Span {
	return v.of.need(from, to, out)
}

type fixedValuesPart struct {
	of fixedPart
	n  int
}

func (p *fixedValuesPart) prepare(*read) (uint64, error) { return 0, nil }

func (p *fixedValuesPart) appendTo(b *builder) error { return b.fixed(p.of, p.n) }

// nullable values have a bitmap of those that are not null.
type nullable struct {
	valid  fixed
	values encoding
}

// allNull values have nothing stored.
type allNull struct{}

func (c *compiler) nullable(typ arrow.DataType, m *pb.ArrayEncoding_Nullable, depth int) (encoding, error) {
	switch t := m.GetNullability().(type) {
	case *pb.ArrayEncoding_Nullable_NoNulls_:
		return c.values(typ, t.NoNulls.GetValues(), depth)
	case *pb.ArrayEncoding_Nullable_AllNulls_:
		return allNull{}, nil
	case *pb.ArrayEncoding_Nullable_SomeNulls_:
		valid, err := c.fixed(t.SomeNulls.GetValidity(), depth)
		if err != nil {
			return nil, err
		}
		if _, ok := valid.(*flat); !ok || valid.bits() != 1 {
			return nil, unsupported("validity as %s", describe(t.SomeNulls.GetValidity()))
		}
		values, err := c.values(typ, t.SomeNulls.GetValues(), depth)
		return &nullable{valid, values}, err
	}
	return nil, unsupported("kind of nullability unknown")
}

func (v *nullable) load(r *read, from, to uint64) (part, error) {
	valid, err := v.valid.load(r, from, to)
	if err != nil {
		return nil, err
	}
	values, err := v.values.load(r, from, to)
	return &nullablePart{valid, values, int(to - from)}, err
}

func (v *nullable) need(from, to uint64, out []datafile.Span) []datafile.Span {
	return v.values.need(from, to, v.valid.need(from, to, out))
}

type nullablePart struct {
	valid  fixedPart
	values part
	n      int
}

func (p *nullablePart) prepare(r *read) (uint64, error) { return p.values.prepare(r) }

func (p *nullablePart) appendTo(b *builder) error {
	from := b.n
	if err := p.values.appendTo(b); err != nil {
		return err
	}
	raw, bit, _, _ := p.valid.raw()
	return b.valid.and(from, p.n, raw, bit)
}

func (allNull) load(_ *read, from, to uint64) (part, error) { return allNullPart(to - from), nil }

func (allNull) need(_, _ uint64, out []datafile.Span) []datafile.Span { return out }

type allNullPart int

func (p allNullPart) prepare(*read) (uint64, error) { return 0, nil }

func (p allNullPart) appendTo(b *builder) error { return b.nulls(int(p)) }
