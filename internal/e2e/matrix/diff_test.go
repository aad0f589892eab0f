package matrix_test

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/seaweedfs/seaweed-lance/internal/e2e/matrix"
)

// from makes an array from JSON.
func from(t *testing.T, typ arrow.DataType, text string) arrow.Array {
	t.Helper()
	a, _, err := array.FromJSON(memory.DefaultAllocator, typ, strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// wanted is a Want of one column, "c", sent through a stream as in life.
func wanted(t *testing.T, a ...arrow.Array) *matrix.Want {
	t.Helper()
	schema := arrow.NewSchema([]arrow.Field{{Name: "c", Type: a[0].DataType(), Nullable: true}}, nil)
	var buf bytes.Buffer
	w := ipc.NewWriter(&buf, ipc.WithSchema(schema))
	for _, x := range a {
		if err := w.Write(array.NewRecordBatch(schema, []arrow.Array{x}, int64(x.Len()))); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	want, err := matrix.Read(&buf)
	if err != nil {
		t.Fatal(err)
	}
	return want
}

// TestDiffSees: whatever differs is seen, wherever it is.
func TestDiffSees(t *testing.T) {
	i32, str := arrow.PrimitiveTypes.Int32, arrow.BinaryTypes.String
	st := arrow.StructOf(arrow.Field{Name: "a", Type: i32, Nullable: true}, arrow.Field{Name: "b", Type: str, Nullable: true})
	for _, c := range []struct {
		typ       arrow.DataType
		want, got string
	}{
		{i32, `[1,2,3]`, `[1,2,4]`},
		{i32, `[1,null,3]`, `[1,0,3]`},
		{i32, `[1,0,3]`, `[1,null,3]`},
		{str, `["a",""]`, `["a",null]`},
		{str, `["ab","c"]`, `["a","bc"]`},
		{arrow.FixedWidthTypes.Boolean, `[true,false]`, `[true,true]`},
		{arrow.ListOf(i32), `[[1,2],[]]`, `[[1],[2]]`},
		{arrow.ListOf(i32), `[[],[1]]`, `[null,[1]]`},
		{arrow.ListOf(i32), `[[1,null]]`, `[[1,2]]`},
		{arrow.LargeListOf(str), `[["x"],["y"]]`, `[["x"],["z"]]`},
		{arrow.FixedSizeListOf(2, i32), `[[1,2],[3,4]]`, `[[1,2],[3,5]]`},
		{arrow.FixedSizeListOf(2, i32), `[[1,2],null]`, `[[1,2],[0,0]]`},
		{st, `[{"a":1,"b":"x"},null]`, `[{"a":1,"b":"x"},{"a":null,"b":null}]`},
		{st, `[{"a":1,"b":"x"}]`, `[{"a":1,"b":"y"}]`},
		{arrow.ListOf(st), `[[{"a":1,"b":"x"}],[]]`, `[[{"a":2,"b":"x"}],[]]`},
		{arrow.MapOf(str, i32), `[[{"key":"k","value":1}]]`, `[[{"key":"k","value":2}]]`},
		{&arrow.DictionaryType{IndexType: i32, ValueType: str}, `["a","b"]`, `["a","c"]`},
		{&arrow.DictionaryType{IndexType: i32, ValueType: str}, `["a","b"]`, `["a",null]`},
	} {
		w := wanted(t, from(t, c.typ, c.want))
		if err := w.Diff([]string{"c"}, 0, from(t, c.typ, c.got)); err == nil {
			t.Errorf("%v: %s passes for %s", c.typ, c.got, c.want)
		}
		if err := w.Diff([]string{"c"}, 0, from(t, c.typ, c.want)); err != nil {
			t.Errorf("%v: %s: %v", c.typ, c.want, err)
		}
	}
}

// TestDiffBits: floats that are equal as numbers, or as NaN, may differ all the same.
func TestDiffBits(t *testing.T) {
	build := func(v ...uint64) arrow.Array {
		b := array.NewFloat64Builder(memory.DefaultAllocator)
		for _, x := range v {
			b.Append(math.Float64frombits(x))
		}
		return b.NewArray()
	}
	w := wanted(t, build(0, 0x7FF8000000000001))
	for _, got := range []arrow.Array{build(1<<63, 0x7FF8000000000001), build(0, 0x7FF8000000000002)} {
		if err := w.Diff([]string{"c"}, 0, got); err == nil {
			t.Errorf("%v passes", got)
		}
	}
}

// TestDiffPasses: how values lie in memory makes no difference.
func TestDiffPasses(t *testing.T) {
	typ := arrow.ListOf(arrow.BinaryTypes.String)
	w := wanted(t, from(t, typ, `[["a"],null,[]]`), from(t, typ, `[]`), from(t, typ, `[["b","c"],[null]]`))
	whole := from(t, typ, `[["before"],["a"],null,[],["b","c"],[null],["after"]]`)
	for i := range 6 {
		for j := i; j <= 5; j++ {
			if err := w.Diff([]string{"c"}, int64(i), array.NewSlice(whole, int64(i+1), int64(j+1))); err != nil {
				t.Errorf("rows %d to %d: %v", i, j, err)
			}
		}
	}
	if err := w.Diff([]string{"c"}, 0, whole); err == nil {
		t.Error("more rows than there are pass")
	}
	if err := w.Diff([]string{"d"}, 0, whole); err == nil {
		t.Error("a column that is not there passes")
	}
}
