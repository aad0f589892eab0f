package table_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects/dirstore"
)

func field(id, parent int32, name, logical string) *pb.Field {
	return &pb.Field{Id: id, ParentId: parent, Name: name, LogicalType: logical, Nullable: true}
}

func TestFieldsOf(t *testing.T) {
	blob := field(0, -1, "x", "large_binary")
	blob.Metadata = map[string][]byte{"lance-encoding:blob": []byte("false")}
	blob2 := field(0, -1, "x", "struct")
	blob2.ExtensionName = "lance.blob.v2"
	packed := field(0, -1, "x", "struct")
	packed.Metadata = map[string][]byte{"lance-encoding:packed": []byte("true")}
	for _, c := range []struct {
		fields []*pb.Field
		want   string
	}{
		{[]*pb.Field{field(0, -1, "x", "halffloat")}, "float16"},
		{[]*pb.Field{field(0, -1, "x", "json")}, "large_binary"},
		{[]*pb.Field{field(0, -1, "x", "decimal:128:10:2")}, "decimal(10, 2)"},
		{[]*pb.Field{field(0, -1, "x", "decimal:256:76:-3")}, "decimal256(76, -3)"},
		{[]*pb.Field{field(0, -1, "x", "timestamp:us:-")}, "timestamp[us]"},
		{[]*pb.Field{field(0, -1, "x", "timestamp:ns:Europe/Berlin")}, "timestamp[ns, tz=Europe/Berlin]"},
		{[]*pb.Field{field(0, -1, "x", "timestamp:s:+01:00")}, "timestamp[s, tz=+01:00]"},
		{[]*pb.Field{field(0, -1, "x", "fixed_size_binary:16")}, "fixed_size_binary[16]"},
		{[]*pb.Field{field(0, -1, "x", "fixed_size_list:float:8")}, "fixed_size_list<item: float32, nullable>[8]"},
		{[]*pb.Field{field(0, -1, "x", "fixed_size_list:fixed_size_list:int16:2:3")}, "fixed_size_list<item: fixed_size_list<item: int16, nullable>[2], nullable>[3]"},
		{[]*pb.Field{field(0, -1, "x", "fixed_size_list:lance.bfloat16:4")}, "fixed_size_list<item: fixed_size_binary[2], nullable>[4]"},
		{[]*pb.Field{field(0, -1, "x", "dict:string:int8:false")}, "dictionary<values=utf8, indices=int8, ordered=false>"},
		{[]*pb.Field{field(0, -1, "x", "dict:timestamp:us:-:uint32:false")}, "dictionary<values=timestamp[us], indices=uint32, ordered=false>"},
		{[]*pb.Field{blob}, "struct<position: uint64 nullable, size: uint64 nullable>"},
		{[]*pb.Field{blob2, field(1, 0, "data", "large_binary"), field(2, 0, "uri", "string")}, "struct<kind: uint8, position: uint64, size: uint64, blob_id: uint32, blob_uri: utf8>"},
		{[]*pb.Field{packed, field(1, 0, "a", "int8")}, "struct<a: int8 nullable>"},
		{[]*pb.Field{field(0, -1, "x", "list"), field(1, 0, "item", "struct"), field(2, 1, "a", "int8")}, "list<item: struct<a: int8 nullable>, nullable>"},
		{[]*pb.Field{field(0, -1, "x", "large_list.struct"), field(1, 0, "item", "struct")}, "large_list<item: struct<>, nullable>"},
		{[]*pb.Field{field(0, -1, "x", "map"), field(1, 0, "entries", "struct"), field(2, 1, "key", "string"), field(3, 1, "value", "int8")}, "map<utf8, int8, items_nullable>"},
		{[]*pb.Field{field(0, -1, "x", "fixed_size_list:struct:2"), field(1, 0, "item", "struct"), field(2, 1, "a", "int8")}, "fixed_size_list<item: struct<a: int8 nullable>, nullable>[2]"},
	} {
		got, err := table.FieldsOf(c.fields)
		if err != nil || len(got) != 1 {
			t.Errorf("%s: %v", c.fields[0].GetLogicalType(), err)
			continue
		}
		if got[0].Type.String() != c.want {
			t.Errorf("%s: got %s, want %s", c.fields[0].GetLogicalType(), got[0].Type, c.want)
		}
	}
}

func TestFieldsOfBad(t *testing.T) {
	deep := []*pb.Field{field(0, -1, "x", "list")}
	for i := int32(1); i < 200; i++ {
		deep = append(deep, field(i, i-1, "item", "list"))
	}
	for _, c := range []struct {
		fields []*pb.Field
		want   error
		text   string
	}{
		{[]*pb.Field{field(0, -1, "x", "geometry")}, table.ErrRefused, `field "x": refused: type "geometry"`},
		{[]*pb.Field{field(0, -1, "x", "fixed_size_list:float:-1")}, table.ErrCorrupt, `length "-1"`},
		{[]*pb.Field{field(0, -1, "x", "fixed_size_list:float:9999999999")}, table.ErrCorrupt, "9999999999"},
		{[]*pb.Field{field(0, -1, "x", "decimal:128:39:2")}, table.ErrRefused, "39"},
		{[]*pb.Field{field(0, -1, "x", "dict:string:string:false")}, table.ErrRefused, "dict"},
		{[]*pb.Field{field(0, -1, "x", "list")}, table.ErrCorrupt, "0 children"},
		{[]*pb.Field{field(0, -1, "x", "int8"), field(1, 0, "y", "int8")}, table.ErrCorrupt, "1 children"},
		{[]*pb.Field{field(0, -1, "x", "map"), field(1, 0, "entries", "int8")}, table.ErrCorrupt, "entries"},
		{[]*pb.Field{field(0, -1, "x", "int8"), field(0, -1, "y", "int8")}, table.ErrCorrupt, "twice"},
		{[]*pb.Field{field(1, 0, "y", "int8"), field(0, -1, "x", "struct")}, table.ErrCorrupt, "parent 0"},
		{[]*pb.Field{field(0, 0, "x", "list")}, table.ErrCorrupt, "parent 0"},
		{deep, table.ErrCorrupt, "levels"},
	} {
		_, err := table.FieldsOf(c.fields)
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: got %v, want %q", c.fields[0].GetLogicalType(), err, c.text)
		}
	}
}

func TestSchemaOfTables(t *testing.T) {
	s, err := dirstore.New("../../../testdata/types_22", dirstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	tab, err := table.Open(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	schema, err := tab.Schema()
	if err != nil {
		t.Fatal(err)
	}
	var leaves []string
	for _, f := range schema.Fields {
		f.Leaves(func(l *table.Field) { leaves = append(leaves, l.Name) })
	}
	if n := schema.Arrow().NumFields(); n != len(schema.Fields) || len(leaves) <= n || !slices.Contains(leaves, "key") {
		t.Errorf("%d fields, leaves %v", n, leaves)
	}
}
