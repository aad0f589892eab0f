package render

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

func field(id, parent int32, name, logical string) *pb.Field {
	return &pb.Field{Id: id, ParentId: parent, Name: name, LogicalType: logical, Nullable: true}
}

func with(f *pb.Field, key, value string) *pb.Field {
	f.Metadata = map[string][]byte{key: []byte(value)}
	return f
}

func TestTypeNames(t *testing.T) {
	for want, fields := range map[string][]*pb.Field{
		"int64":                         {field(0, -1, "c", "int64")},
		"float16":                       {field(0, -1, "c", "halffloat")},
		"float32":                       {field(0, -1, "c", "float")},
		"float64":                       {field(0, -1, "c", "double")},
		"bfloat16":                      {field(0, -1, "c", "lance.bfloat16")},
		"decimal256(40, 3)":             {field(0, -1, "c", "decimal:256:40:3")},
		"date32":                        {field(0, -1, "c", "date32:day")},
		"time64[ns]":                    {field(0, -1, "c", "time64:ns")},
		"timestamp[us]":                 {field(0, -1, "c", "timestamp:us:-")},
		"timestamp[us, +01:30]":         {field(0, -1, "c", "timestamp:us:+01:30")},
		"duration[ms]":                  {field(0, -1, "c", "duration:ms")},
		"dictionary(int8, string)":      {field(0, -1, "c", "dict:string:int8:false")},
		"fixed_size_binary[16]":         {field(0, -1, "c", "fixed_size_binary:16")},
		"fixed_size_list(float32, 768)": {field(0, -1, "c", "fixed_size_list:float:768")},
		"fixed_size_list(bfloat16, 8)":  {field(0, -1, "c", "fixed_size_list:lance.bfloat16:8")},
		"fixed_size_list(fixed_size_list(int8, 2), 3)": {field(0, -1, "c", "fixed_size_list:fixed_size_list:int8:2:3")},
		"fixed_size_list(struct(x: int32), 2)":         {field(0, -1, "c", "fixed_size_list:struct:2"), field(1, 0, "item", "struct"), field(2, 1, "x", "int32")},
		"large_list(int64)":                            {field(0, -1, "c", "large_list"), field(1, 0, "item", "int64")},
		"list(struct(a: int32, b: list(string)))": {
			field(0, -1, "c", "list.struct"), field(1, 0, "item", "struct"), field(2, 1, "a", "int32"),
			field(3, 1, "b", "list"), field(4, 3, "item", "string"),
		},
		"map(string, double?)":   {field(0, -1, "c", "map"), field(1, 0, "entries", "struct"), field(2, 1, "key", "string"), field(3, 1, "value", "double?")},
		"map":                    {field(0, -1, "c", "map")},
		"struct":                 {field(0, -1, "c", "struct")},
		"blob":                   {with(field(0, -1, "c", "large_binary"), "lance-encoding:blob", "true")},
		"json":                   {with(field(0, -1, "c", "json"), "ARROW:extension:name", "lance.json")},
		"my.point(float64)":      {with(field(0, -1, "c", "double"), "ARROW:extension:name", "my.point")},
		`something:new\x1b[2J:5`: {field(0, -1, "c", "something:new\x1b[2J:5")},
	} {
		columns := Schema(fields)
		if len(columns) != 1 {
			t.Errorf("%s: %d columns", want, len(columns))
			continue
		}
		if got := columns[0].Type(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestSchemaOfStrangeFields(t *testing.T) {
	columns := Schema([]*pb.Field{
		field(5, 5, "own parent", "struct"),
		field(5, 9, "orphan", "int8"),
		field(6, 5, "child", "struct"),
		field(5, 6, "again", "struct"),
	})
	if len(columns) != 2 || len(columns[0].Children) != 1 || columns[0].Type() != "struct(child: struct(again: struct))" {
		t.Errorf("%d columns, the first %s", len(columns), columns[0].Type())
	}
	if got := columns[0].Kind(); got != "struct" {
		t.Errorf("kind %s", got)
	}
}

func TestLongTypesEnd(t *testing.T) {
	fields := []*pb.Field{field(0, -1, "c", "struct")}
	for i := range int32(10000) {
		fields = append(fields, field(i+1, 0, "some_name", "int64"))
	}
	if got := Schema(fields)[0].Type(); len(got) > maxType || !strings.HasSuffix(got, more) {
		t.Errorf("%d bytes: …%s", len(got), got[len(got)-20:])
	}
}

func TestSchemaJSON(t *testing.T) {
	var fields []*pb.Field
	for i := range int32(1000) {
		fields = append(fields, field(i, -1, "a\"b\xff", "int64"))
	}
	fields[0].Nullable = false
	for limit, want := range map[int]int{1 << 20: 1000, 1000: 21} {
		var got []struct {
			Name, Type string
			Nullable   bool
		}
		if err := json.Unmarshal([]byte(SchemaJSON(Schema(fields), limit)), &got); err != nil {
			t.Fatal(err)
		}
		if len(got) > want || len(got) < want-3 || got[0].Name != `a"b\xff` || got[0].Type != "int64" || got[0].Nullable || !got[1].Nullable {
			t.Errorf("limit %d: %d entries, %+v", limit, len(got), got[:2])
		}
		if last := got[len(got)-1]; limit == 1000 && !strings.Contains(last.Name, "more columns") {
			t.Errorf("last entry %+v", last)
		}
	}
	if got := SchemaJSON(nil, 10); got != "[]" {
		t.Errorf("no columns: %s", got)
	}
}
