package layout

import (
	"encoding/binary"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/block"
)

// filler is what appends a constant to the sink's values; framed tells that it lies in a
// buffer with its lengths. A nil value is null.
func filler(value []byte, framed bool, out *sink) (func(n int) error, error) {
	v := out.values
	if v == nil {
		if value != nil {
			return nil, corrupt("a value in a column whose type has none")
		}
		return func(int) error { return nil }, nil
	}
	if value == nil {
		return v.AppendNulls, nil
	}
	if out.dict != nil {
		return dictionaryFiller(value, framed, out)
	}
	if framed {
		var err error
		if value, err = unframe(value, v.Kind == block.Variable); err != nil {
			return nil, err
		}
	} else if v.Kind == block.Variable {
		return nil, corrupt("a constant of variable width in the layout")
	}
	switch {
	case v.Kind == block.Fixed && v.Bits == 1:
		if len(value) != 1 {
			return nil, corrupt("a constant of %d bytes for a bool", len(value))
		}
		return func(n int) error { return fillBits(v, value[0]&1 != 0, n) }, nil
	case v.Kind == block.Variable:
		return func(n int) error { return fillStrings(v, value, n) }, nil
	case v.Kind == block.Fixed && v.Bits == 8*len(value):
		return func(n int) error { return fillFixed(v, value, n) }, nil
	case v.Kind == block.List && v.Items.Kind == block.Fixed && v.Items.Bits%8 == 0 && v.Dim*v.Items.Bits == 8*len(value):
		return func(n int) error {
			if v.Valid != nil {
				return unsupported("a constant list after lists with nulls")
			}
			items := n * v.Dim
			before := v.Items.N
			if err := fillFixed(v.Items, value, n); err != nil {
				return err
			}
			v.Items.N = before + items
			v.N += n
			return nil
		}, nil
	}
	return nil, corrupt("a constant of %d bytes that does not fit the column's type", len(value))
}

// unframe takes the one value from a buffer with the number of parts, their lengths
// and the parts: the value alone, or its two offsets before it.
func unframe(b []byte, variable bool) ([]byte, error) {
	parts := 1
	if variable {
		parts = 2
	}
	le := binary.LittleEndian
	head := 4 + 4*parts
	if len(b) < head || le.Uint32(b) != uint32(parts) {
		return nil, corrupt("the buffer of a constant, %d bytes, does not have %d parts", len(b), parts)
	}
	sizes, rest := b[4:head], b[head:]
	if variable {
		n := int64(le.Uint32(sizes))
		if n != 8 && n != 16 || n > int64(len(rest)) {
			return nil, corrupt("two offsets of a constant in %d bytes", n)
		}
		var start, end uint64
		if n == 8 {
			start, end = uint64(le.Uint32(rest)), uint64(le.Uint32(rest[4:]))
		} else {
			start, end = le.Uint64(rest), le.Uint64(rest[8:])
		}
		rest, sizes = rest[n:], sizes[4:]
		if start != 0 || end != uint64(len(rest)) {
			return nil, corrupt("a constant from %d to %d of %d bytes", start, end, len(rest))
		}
	}
	if uint64(le.Uint32(sizes)) != uint64(len(rest)) {
		return nil, corrupt("a constant of %d bytes in %d", le.Uint32(sizes), len(rest))
	}
	return rest, nil
}

// grow checks that a block may take size more bytes.
func grow(v *block.Values, n int, size int64) error {
	if size < 0 || int64(len(v.Data))+8*int64(len(v.Offsets))+size > v.Limit {
		return overLimit("%d constants", n)
	}
	return nil
}

func fillFixed(v *block.Values, value []byte, n int) error {
	if err := grow(v, n, int64(n)*int64(len(value))); err != nil {
		return err
	}
	start := len(v.Data)
	if end := start + n*len(value); end > cap(v.Data) {
		v.Data = append(make([]byte, 0, max(end, 2*start)), v.Data...)
	}
	if n == 0 || len(value) == 0 {
		v.N += n
		return nil
	}
	v.Data = append(v.Data, value...)
	for end := start + n*len(value); len(v.Data) < end; {
		v.Data = append(v.Data, v.Data[start:start+min(len(v.Data)-start, end-len(v.Data))]...)
	}
	v.N += n
	return nil
}

func fillStrings(v *block.Values, value []byte, n int) error {
	if err := grow(v, n, int64(n)*int64(len(value)+8)); err != nil {
		return err
	}
	if len(v.Offsets) == 0 {
		v.Offsets = append(v.Offsets, 0)
	}
	for range n {
		v.Data = append(v.Data, value...)
		v.Offsets = append(v.Offsets, int64(len(v.Data)))
	}
	v.N += n
	return nil
}

func fillBits(v *block.Values, set bool, n int) error {
	if err := grow(v, n, int64(n)/8+1); err != nil {
		return err
	}
	had := len(v.Data)
	v.Data = append(v.Data, make([]byte, (v.N+n+7)/8-had)...)
	if set {
		for i := v.N; i < v.N+n; {
			if i&7 == 0 && i+8 <= v.N+n {
				v.Data[i>>3] = 0xFF
				i += 8
				continue
			}
			v.Data[i>>3] |= 1 << (i & 7)
			i++
		}
	}
	v.N += n
	return nil
}

// dictionaryFiller appends indices of a dictionary of the one value.
func dictionaryFiller(value []byte, framed bool, out *sink) (func(n int) error, error) {
	one, err := newValues(out.dict.typ.ValueType, out.limit)
	if err != nil {
		return nil, err
	}
	s := &sink{limit: out.limit, values: one}
	fill, err := filler(value, framed, s)
	if err != nil {
		return nil, err
	}
	if err := fill(1); err != nil {
		return nil, err
	}
	return func(n int) error {
		zeros := &block.Values{Kind: block.Fixed, Bits: 8, N: n, Data: make([]byte, n)}
		return out.dict.add(out.values, one, zeros)
	}, nil
}
