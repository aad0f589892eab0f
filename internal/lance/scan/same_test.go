package scan

import (
	"bytes"
	"fmt"
	"os"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// difference describes where values [i, i+n) of a differ from [j, j+n) of b, bit for bit; ""
// when they are the same. What lies under a null does not count.
func difference(a arrow.Array, i int, b arrow.Array, j, n int) string {
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
			if d := difference(x.Field(f), i, y.Field(f), j, 1); d != "" {
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
		return difference(x.ListValues(), int(s), y.ListValues(), int(s2), int(e-s))
	case *array.Dictionary:
		y := b.(*array.Dictionary)
		return difference(x.Dictionary(), x.GetValueIndex(i), y.Dictionary(), y.GetValueIndex(j), 1)
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

// expected reads what pylance read of a table.
func expected(tb testing.TB, name string) arrow.RecordBatch {
	tb.Helper()
	f, err := os.Open("testdata/" + name + ".arrow")
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	r, err := ipc.NewFileReader(f)
	if err != nil {
		tb.Fatal(err)
	}
	defer r.Close()
	var batches []arrow.RecordBatch
	for k := range r.NumRecords() {
		b, err := r.RecordBatch(k)
		if err != nil {
			tb.Fatal(err)
		}
		b.Retain()
		batches = append(batches, b)
	}
	return joined(tb, r.Schema(), batches)
}

// joined makes one batch of several.
func joined(tb testing.TB, schema *arrow.Schema, batches []arrow.RecordBatch) arrow.RecordBatch {
	tb.Helper()
	cols := make([]arrow.Array, schema.NumFields())
	var rows int64
	for _, b := range batches {
		rows += b.NumRows()
	}
	for c := range cols {
		var chunks []arrow.Array
		for _, b := range batches {
			chunks = append(chunks, b.Column(c))
		}
		var err error
		if len(chunks) == 0 {
			cols[c] = array.MakeArrayOfNull(memory.DefaultAllocator, schema.Field(c).Type, 0)
		} else if cols[c], err = array.Concatenate(chunks, memory.DefaultAllocator); err != nil {
			tb.Fatal(err)
		}
	}
	return array.NewRecordBatch(schema, cols, rows)
}

// pruned keeps of a type's values those that a wanted type has.
func pruned(a arrow.ArrayData, want arrow.DataType) arrow.ArrayData {
	kids := make([]arrow.ArrayData, 0, len(a.Children()))
	switch t := a.DataType().(type) {
	case *arrow.StructType:
		for _, f := range want.(*arrow.StructType).Fields() {
			i, _ := t.FieldIdx(f.Name)
			kids = append(kids, pruned(a.Children()[i], f.Type))
		}
	case arrow.ListLikeType:
		kids = append(kids, pruned(a.Children()[0], want.(arrow.ListLikeType).Elem()))
	default:
		return a
	}
	return array.NewData(want, a.Len(), a.Buffers(), kids, array.MakeFromData(a).NullN(), a.Offset())
}
