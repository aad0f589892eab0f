package matrix

import (
	"bytes"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// diff compares n values of a from i on with those of b from j on: null apart from empty, floats by
// their bits, dictionaries by what they stand for, extension types by their
// storage. What lies beneath a null doesn't count. With partial, structs of b may lack fields.
func diff(a arrow.Array, i int, b arrow.Array, j, n int, partial bool) error {
	a, b = storage(a), storage(b)
	if i+n > a.Len() || j+n > b.Len() {
		return fmt.Errorf("values %d to %d of %d and %d to %d of %d", i, i+n, a.Len(), j, j+n, b.Len())
	}
	if n == 0 {
		return nil
	}
	_, da := a.(*array.Dictionary)
	_, db := b.(*array.Dictionary)
	if da || db {
		return diffDictionary(a, i, b, j, n)
	}
	if a.DataType().ID() == arrow.NULL && b.DataType().ID() == arrow.NULL {
		return nil
	}
	if a.NullN() == 0 && b.NullN() == 0 {
		return diffValid(a, i, b, j, n, partial)
	}
	for k := 0; k < n; {
		if a.IsNull(i+k) != b.IsNull(j+k) {
			return fmt.Errorf("value %d: null is %v, want %v", k, b.IsNull(j+k), a.IsNull(i+k))
		}
		if a.IsNull(i + k) {
			k++
			continue
		}
		run := k + 1
		for run < n && a.IsValid(i+run) && b.IsValid(j+run) {
			run++
		}
		if err := diffValid(a, i+k, b, j+k, run-k, partial); err != nil {
			return fmt.Errorf("from value %d on: %w", k, err)
		}
		k = run
	}
	return nil
}

// diffValid is diff where nothing is null at this level.
func diffValid(a arrow.Array, i int, b arrow.Array, j, n int, partial bool) error {
	if a.DataType().ID() != b.DataType().ID() {
		return fmt.Errorf("type %v, want %v", b.DataType(), a.DataType())
	}
	switch x := a.(type) {
	case *array.Boolean:
		y := b.(*array.Boolean)
		for k := range n {
			if x.Value(i+k) != y.Value(j+k) {
				return fmt.Errorf("value %d: %v, want %v", k, y.Value(j+k), x.Value(i+k))
			}
		}
		return nil
	case *array.Struct:
		return diffStruct(x, i, b.(*array.Struct), j, n, partial)
	case *array.FixedSizeList:
		y := b.(*array.FixedSizeList)
		w := int(a.DataType().(*arrow.FixedSizeListType).Len())
		if v := int(b.DataType().(*arrow.FixedSizeListType).Len()); v != w {
			return fmt.Errorf("lists of %d, want %d", v, w)
		}
		p, _ := x.ValueOffsets(i)
		q, _ := y.ValueOffsets(j)
		return within("items", diff(x.ListValues(), int(p), y.ListValues(), int(q), n*w, partial))
	case array.ListLike: // lists of both sizes and maps
		return diffLists(x, i, b.(array.ListLike), j, n, partial)
	}
	if x, ok := bytesOf(a); ok {
		y, _ := bytesOf(b)
		return diffBytes(x, i, y, j, n)
	}
	return diffFixed(a, i, b, j, n)
}

func diffStruct(x *array.Struct, i int, y *array.Struct, j, n int, partial bool) error {
	s, t := x.DataType().(*arrow.StructType), y.DataType().(*arrow.StructType)
	if s.NumFields() != t.NumFields() && !partial {
		return fmt.Errorf("type %v, want %v", t, s)
	}
	for k := range t.NumFields() {
		name := t.Field(k).Name
		w, ok := s.FieldIdx(name)
		if !ok {
			return fmt.Errorf("field %s of the struct is not wanted", name)
		}
		if err := diff(x.Field(w), i, y.Field(k), j, n, partial); err != nil {
			return within(name, err)
		}
	}
	return nil
}

func diffLists(x array.ListLike, i int, y array.ListLike, j, n int, partial bool) error {
	for k := range n {
		a, b := x.ValueOffsets(i + k)
		c, d := y.ValueOffsets(j + k)
		if b-a != d-c || d < c {
			return fmt.Errorf("value %d: list of %d, want %d", k, d-c, b-a)
		}
	}
	from, _ := x.ValueOffsets(i)
	_, to := x.ValueOffsets(i + n - 1)
	start, _ := y.ValueOffsets(j)
	return within("items", diff(x.ListValues(), int(from), y.ListValues(), int(start), int(to-from), partial))
}

// diffDictionary compares by what the keys stand for.
func diffDictionary(a arrow.Array, i int, b arrow.Array, j, n int) error {
	for k := range n {
		x, p := word(a, i+k)
		y, q := word(b, j+k)
		switch {
		case x == nil && y == nil:
		case x == nil || y == nil:
			return fmt.Errorf("value %d: null is %v, want %v", k, y == nil, x == nil)
		default:
			if err := diff(x, p, y, q, 1, false); err != nil {
				return fmt.Errorf("word of value %d: %w", k, err)
			}
		}
	}
	return nil
}

// word is where a value lies, in the dictionary if there is one; nil when null.
func word(a arrow.Array, i int) (arrow.Array, int) {
	if a.IsNull(i) {
		return nil, 0
	}
	d, ok := a.(*array.Dictionary)
	if !ok {
		return a, i
	}
	return word(storage(d.Dictionary()), d.GetValueIndex(i))
}

// fixed-width values by their bytes.
func diffFixed(a arrow.Array, i int, b arrow.Array, j, n int) error {
	t, ok := a.DataType().(arrow.FixedWidthDataType)
	if !ok {
		return fmt.Errorf("no comparison for %v", a.DataType())
	}
	if !arrow.TypeEqual(a.DataType(), b.DataType()) {
		return fmt.Errorf("type %v, want %v", b.DataType(), a.DataType())
	}
	w := t.Bytes()
	x := a.Data().Buffers()[1].Bytes()[(a.Data().Offset()+i)*w:][:n*w]
	y := b.Data().Buffers()[1].Bytes()[(b.Data().Offset()+j)*w:][:n*w]
	if bytes.Equal(x, y) {
		return nil
	}
	for k := range n {
		if p, q := x[k*w:][:w], y[k*w:][:w]; !bytes.Equal(p, q) {
			return fmt.Errorf("value %d: %x, want %x (%s, want %s)", k, q, p, b.ValueStr(j+k), a.ValueStr(i+k))
		}
	}
	return nil
}

func within(name string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", name, err)
}
