package scan

import (
	"encoding/hex"
	"errors"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
)

// JSON becomes text wherever it stands, under the extension type that says so.
func TestJSON(t *testing.T) {
	fields := schemaOf(t, "0:st:struct\n 1:a:int8\n 2:js:list\n  3:item:json\n")
	nodes, err := project(fields, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := nodes[0].typ.String(); got != "struct<a: int8 nullable, js: list<item: utf8, nullable> nullable>" {
		t.Fatalf("type %s", got)
	}
	item := nodes[0].kids[1].kids[0].arrow()
	if name, _ := item.Metadata.GetValue("ARROW:extension:name"); name != "arrow.json" {
		t.Errorf("extension %q", name)
	}
	build := array.NewStructBuilder(memory.DefaultAllocator, fields[0].Type.(*arrow.StructType))
	lists := build.FieldBuilder(1).(*array.ListBuilder)
	for _, docs := range [][]string{{"20000000200000025003", ""}, {"null"}, {"200000001000000171"}} {
		build.Append(true)
		build.FieldBuilder(0).(*array.Int8Builder).Append(1)
		lists.Append(true)
		for _, d := range docs {
			if d == "null" {
				lists.ValueBuilder().AppendNull()
				continue
			}
			b, err := hex.DecodeString(d)
			if err != nil {
				t.Fatal(err)
			}
			lists.ValueBuilder().(*array.BinaryBuilder).Append(b)
		}
	}
	stored := array.NewSliceData(build.NewArray().Data(), 1, 3)
	c := converter{left: 1 << 20}
	d, err := c.convert(t.Context(), shapeOf(nodes[0], fields[0]), stored)
	if err != nil {
		t.Fatal(err)
	}
	if got := array.MakeFromData(d).String(); got != `{[1 1] [[(null)] ["\"q\""]]}` {
		t.Errorf("got %s", got)
	}
	c = converter{left: 16}
	if _, err := c.convert(t.Context(), shapeOf(nodes[0], fields[0]), stored); !errors.Is(err, column.ErrLimit) {
		t.Errorf("limit: error %v", err)
	}

	raw, err := project(fields, Options{StoredJSON: true})
	if err != nil || !arrow.TypeEqual(raw[0].typ, fields[0].Type) {
		t.Errorf("as stored: %s, error %v", raw[0].typ, err)
	}
}

func TestBadJSON(t *testing.T) {
	b := array.NewBinaryBuilder(memory.DefaultAllocator, arrow.BinaryTypes.LargeBinary)
	b.Append([]byte{0x20, 0, 0, 0, 0x70, 0, 0, 0})
	if _, err := jsonText(b.NewArray().Data(), 1<<20); !errors.Is(err, errCorrupt) {
		t.Errorf("error %v", err)
	}
}
