package layout

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
)

func fromJSON(t testing.TB, dt arrow.DataType, text string) arrow.Array {
	t.Helper()
	a, _, err := array.FromJSON(memory.DefaultAllocator, dt, strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Release)
	return a
}

func field(name string, dt arrow.DataType) arrow.Field {
	return arrow.Field{Name: name, Type: dt, Nullable: true}
}

var (
	i32 = arrow.PrimitiveTypes.Int32
	str = arrow.BinaryTypes.String
)

func TestMerge(t *testing.T) {
	ab := arrow.StructOf(field("a", i32), field("b", str))
	onlyA, onlyB := arrow.StructOf(field("a", i32)), arrow.StructOf(field("b", str))
	type part struct {
		dt   arrow.DataType
		text string
	}
	for name, c := range map[string]struct {
		dt    arrow.DataType
		rows  int
		parts []part
		want  string
		err   error
	}{
		"structs": {ab, 3, []part{{onlyB, `[{"b":"x"},null,{"b":null}]`}, {onlyA, `[{"a":1},null,{"a":3}]`}},
			`[{"a":1,"b":"x"},null,{"a":3,"b":null}]`, nil},
		"a field that no part has": {ab, 2, []part{{onlyA, `[{"a":1},null]`}}, `[{"a":1,"b":null},null]`, nil},
		"no part":                  {ab, 2, nil, `[null,null]`, nil},
		"no part, a list":          {arrow.ListOf(ab), 2, nil, `[null,null]`, nil},
		"lists": {arrow.ListOf(ab), 3, []part{{arrow.ListOf(onlyA), `[[{"a":1},null],[],null]`}, {arrow.ListOf(onlyB), `[[{"b":"p"},null],[],null]`}},
			`[[{"a":1,"b":"p"},null],[],null]`, nil},
		"fixed-size lists": {arrow.FixedSizeListOf(2, ab), 1, []part{{arrow.FixedSizeListOf(2, onlyA), `[[{"a":1},null]]`}, {arrow.FixedSizeListOf(2, onlyB), `[[{"b":"p"},null]]`}},
			`[[{"a":1,"b":"p"},null]]`, nil},
		"a list of lists within": {arrow.StructOf(field("s", arrow.LargeListOf(ab)), field("c", i32)), 2,
			[]part{{arrow.StructOf(field("s", arrow.LargeListOf(onlyB))), `[{"s":[{"b":"z"}]},{"s":null}]`}, {arrow.StructOf(field("c", i32)), `[{"c":4},{"c":5}]`}},
			`[{"s":[{"a":null,"b":"z"}],"c":4},{"s":null,"c":5}]`, nil},
		"other structs null":  {ab, 2, []part{{onlyA, `[{"a":1},null]`}, {onlyB, `[null,{"b":"x"}]`}}, "", column.ErrCorrupt},
		"more structs null":   {ab, 2, []part{{onlyA, `[{"a":1},null]`}, {onlyB, `[{"b":"y"},{"b":"x"}]`}}, "", column.ErrCorrupt},
		"other lengths":       {ab, 2, []part{{onlyA, `[{"a":1},null]`}, {onlyB, `[{"b":"x"}]`}}, "", column.ErrCorrupt},
		"lists of other size": {arrow.ListOf(ab), 2, []part{{arrow.ListOf(onlyA), `[[{"a":1}],[]]`}, {arrow.ListOf(onlyB), `[[],[{"b":"x"}]]`}}, "", column.ErrCorrupt},
	} {
		t.Run(name, func(t *testing.T) {
			var parts []arrow.Array
			for _, p := range c.parts {
				parts = append(parts, fromJSON(t, p.dt, p.text))
			}
			got, err := Merge(c.dt, c.rows, parts, 1<<20)
			if !errors.Is(err, c.err) {
				t.Fatal(err)
			}
			if c.err != nil {
				return
			}
			defer got.Release()
			if !arrow.TypeEqual(got.DataType(), c.dt) {
				t.Fatalf("%v", got.DataType())
			}
			check(t, name, fromJSON(t, c.dt, c.want), got, 0)
		})
	}
}

func TestMergeKeepsMetadata(t *testing.T) {
	inner := field("a", i32)
	inner.Metadata = arrow.MetadataFrom(map[string]string{"unit": "m"})
	dt := arrow.StructOf(inner)
	got, err := Merge(dt, 1, []arrow.Array{fromJSON(t, arrow.StructOf(field("a", i32)), `[{"a":1}]`)}, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Release()
	if v, _ := got.DataType().(*arrow.StructType).Field(0).Metadata.GetValue("unit"); v != "m" {
		t.Fatalf("%v", got.DataType())
	}
}

func TestMergeMap(t *testing.T) {
	entries := func(f ...arrow.Field) arrow.DataType {
		return arrow.ListOfField(arrow.Field{Name: "entries", Type: arrow.StructOf(f...)})
	}
	key, value := arrow.Field{Name: "key", Type: str}, field("value", i32)
	dt := arrow.MapOf(str, i32)
	keys := fromJSON(t, entries(key), `[[{"key":"a"},{"key":"b"}],null]`)
	values := fromJSON(t, entries(value), `[[{"value":1},{"value":null}],null]`)
	got, err := Merge(dt, 2, []arrow.Array{keys, values}, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Release()
	want := fromJSON(t, entries(key, value), `[[{"key":"a","value":1},{"key":"b","value":null}],null]`)
	if g, w := render(nil, got, 0), render(nil, want, 0); !bytes.Equal(g, w) {
		t.Fatalf("%q, want %q", g, w)
	}
	null := fromJSON(t, entries(field("key", str)), `[[{"key":null},{"key":"b"}],null]`)
	for name, parts := range map[string][]arrow.Array{"null keys": {null, values}, "no keys": {values}} {
		if _, err := Merge(dt, 2, parts, 1<<20); !errors.Is(err, column.ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestMergeLimit(t *testing.T) {
	for _, dt := range []arrow.DataType{i32, str, arrow.ListOf(i32), arrow.FixedSizeListOf(1000, i32), arrow.FixedSizeListOf(1<<30, arrow.FixedSizeListOf(1<<30, i32)), arrow.StructOf(field("a", i32))} {
		if _, err := Merge(dt, 1000, nil, 1000); !errors.Is(err, column.ErrLimit) {
			t.Errorf("%v: %v", dt, err)
		}
		got, err := Merge(dt, 0, nil, 1000)
		if err != nil {
			t.Errorf("%v: no rows: %v", dt, err)
			continue
		}
		got.Release()
	}
}
