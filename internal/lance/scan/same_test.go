package scan

import (
	"os"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

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
