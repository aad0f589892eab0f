package array

import (
	"fmt"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
)

// cell is a value written so that two are equal only when all their bits are.
func cell(d arrow.ArrayData, i int) string {
	t := column.Storage(d.DataType())
	i += d.Offset()
	if t.ID() == arrow.NULL || d.NullN() != 0 && d.Buffers()[0] != nil && !bitutil.BitIsSet(d.Buffers()[0].Bytes(), i) {
		return "null"
	}
	span := func(from, to int) string {
		kid := d.Children()[0]
		s := "["
		for j := from; j < to; j++ {
			s += cell(kid, j) + " "
		}
		return s + "]"
	}
	switch t := t.(type) {
	case *arrow.DictionaryType:
		w := t.IndexType.(arrow.FixedWidthDataType).BitWidth() / 8
		return cell(d.Dictionary(), int(key(d.Buffers()[1].Bytes(), w, i)))
	case *arrow.FixedSizeListType:
		return span(i*int(t.Len()), (i+1)*int(t.Len()))
	case *arrow.StructType:
		s := "{"
		for j := range t.NumFields() {
			s += cell(d.Children()[j], i) + " "
		}
		return s + "}"
	}
	if _, ok := offsetBytes(t); ok {
		from, to := offsetsOf(d).at(i)
		if len(d.Children()) > 0 {
			return span(from, to)
		}
		return fmt.Sprintf("%q", d.Buffers()[2].Bytes()[from:to])
	}
	bits, ok := fixedBits(t)
	if !ok {
		panic("type " + t.String())
	}
	if bits == 1 {
		return fmt.Sprint(bitutil.BitIsSet(d.Buffers()[1].Bytes(), i))
	}
	w := int(bits / 8)
	return fmt.Sprintf("%x", d.Buffers()[1].Bytes()[i*w:(i+1)*w])
}

// cells of all rows.
func cells(a arrow.Array) []string {
	out := make([]string, a.Len())
	for i := range out {
		out[i] = cell(a.Data(), i)
	}
	return out
}

// check compares an array with the cells that are wanted and with the rules of Arrow.
func check(tb testing.TB, what string, got arrow.Array, want []string) {
	tb.Helper()
	if err := array.ValidateFull(got); err != nil {
		tb.Fatalf("%s: %v", what, err)
	}
	if got.Len() != len(want) {
		tb.Fatalf("%s: %d rows, want %d", what, got.Len(), len(want))
	}
	for i, w := range want {
		if g := cell(got.Data(), i); g != w {
			tb.Fatalf("%s: row %d is %s, want %s", what, i, g, w)
		}
	}
	nulls := 0
	for _, w := range want {
		if w == "null" {
			nulls++
		}
	}
	if id := column.Storage(got.DataType()).ID(); id != arrow.NULL && got.NullN() != nulls {
		tb.Fatalf("%s: says that %d rows are null, %d are", what, got.NullN(), nulls)
	}
}
