package lancetest

import (
	"bytes"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// Difference describes where values [i, i+n) of a differ from [j, j+n) of b, bit for bit; ""
// when they are the same. What lies under a null does not count.
func Difference(a arrow.Array, i int, b arrow.Array, j, n int) string {
	if a.DataType().ID() != b.DataType().ID() {
		return fmt.Sprintf("type %s, want %s", a.DataType(), b.DataType())
	}
	for k := range n {
		if a.IsNull(i+k) != b.IsNull(j+k) {
			return fmt.Sprintf("value %d: null %v, want %v", k, a.IsNull(i+k), b.IsNull(j+k))
		}
		if a.IsNull(i + k) {
			continue
		}
		if d := differenceAt(a, i+k, b, j+k); d != "" {
			return fmt.Sprintf("value %d: %s", k, d)
		}
	}
	return ""
}

func differenceAt(a arrow.Array, i int, b arrow.Array, j int) string {
	switch x := a.(type) {
	case *array.Null:
		return ""
	case *array.Struct:
		y := b.(*array.Struct)
		if x.NumField() != y.NumField() {
			return fmt.Sprintf("%d fields, want %d", x.NumField(), y.NumField())
		}
		for f := range x.NumField() {
			names := [2]string{x.DataType().(*arrow.StructType).Field(f).Name, y.DataType().(*arrow.StructType).Field(f).Name}
			if names[0] != names[1] {
				return fmt.Sprintf("field %q, want %q", names[0], names[1])
			}
			if d := Difference(x.Field(f), i, y.Field(f), j, 1); d != "" {
				return names[0] + ": " + d
			}
		}
		return ""
	case array.ListLike:
		y := b.(array.ListLike)
		s, e := x.ValueOffsets(i)
		s2, e2 := y.ValueOffsets(j)
		if e-s != e2-s2 {
			return fmt.Sprintf("%d items, want %d", e-s, e2-s2)
		}
		return Difference(x.ListValues(), int(s), y.ListValues(), int(s2), int(e-s))
	case *array.Dictionary:
		y := b.(*array.Dictionary)
		return Difference(x.Dictionary(), x.GetValueIndex(i), y.Dictionary(), y.GetValueIndex(j), 1)
	}
	if u, v := raw(a, i), raw(b, j); !bytes.Equal(u, v) {
		return fmt.Sprintf("%x, want %x", u, v)
	}
	return ""
}

// raw are the bytes of a value.
func raw(a arrow.Array, i int) []byte {
	switch x := a.(type) {
	case *array.Boolean:
		return fmt.Append(nil, x.Value(i))
	case *array.String:
		return []byte(x.Value(i))
	case *array.LargeString:
		return []byte(x.Value(i))
	case *array.Binary:
		return x.Value(i)
	case *array.LargeBinary:
		return x.Value(i)
	}
	w := a.DataType().(arrow.FixedWidthDataType).Bytes()
	return a.Data().Buffers()[1].Bytes()[(a.Data().Offset()+i)*w:][:w]
}
