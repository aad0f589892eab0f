package scan

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
)

// schemaOf parses "id:name:logical" lines, indented by one space per level.
func schemaOf(tb testing.TB, text string) []*table.Field {
	tb.Helper()
	fields, err := table.FieldsOf(flatSchema(tb, text))
	if err != nil {
		tb.Fatal(err)
	}
	return fields
}

func flatSchema(tb testing.TB, text string) (flat []*pb.Field) {
	tb.Helper()
	parents := []int32{-1}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		depth := len(line) - len(strings.TrimLeft(line, " "))
		var id int32
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		if _, err := fmt.Sscan(parts[0], &id); err != nil {
			tb.Fatal(err)
		}
		f := &pb.Field{Id: id, ParentId: parents[depth], Name: parts[1], LogicalType: parts[2], Nullable: true}
		if logical, ok := strings.CutPrefix(f.LogicalType, "packed "); ok {
			f.LogicalType, f.Metadata = logical, map[string][]byte{keyPacked: []byte("true")}
		}
		if logical, ok := strings.CutPrefix(f.LogicalType, "blob "); ok {
			f.LogicalType, f.Metadata = logical, map[string][]byte{keyBlob: []byte("true")}
		}
		flat = append(flat, f)
		parents = append(parents[:depth+1], id)
	}
	return flat
}

// everything is a schema with each way of nesting.
const everything = `0:id:int64
1:st:struct
 2:a:int32
 3:in:struct
  4:x:string
  5:y:int8
6:ls:list.struct
 7:item:struct
  8:p:int32
  9:q:string
10:m:map
 11:entries:struct
  12:key:string
  13:value:struct
   14:u:int8
   15:v:int8
16:a.b:int64
17:l:list
 18:item:int64
19:fs:fixed_size_list:struct:2
 20:item:struct
  21:e:int8
  22:f:int8
23:pk:packed struct
 24:k:int32
 25:l:int16
`

func TestProject(t *testing.T) {
	fields := schemaOf(t, everything)
	for _, tt := range []struct {
		columns []string
		want    string
	}{
		{[]string{}, ""},
		{[]string{"id"}, "id: int64"},
		{[]string{"l", "id"}, "l: list<item: int64, nullable>; id: int64"},
		{[]string{"a.b"}, "a.b: int64"},
		{[]string{"st.a"}, "st: struct<a: int32 nullable>"},
		{[]string{"st.in.y", "id", "st.a"}, "st: struct<a: int32 nullable, in: struct<y: int8 nullable> nullable>; id: int64"},
		{[]string{"st.in", "st.in.y"}, "st: struct<in: struct<x: utf8 nullable, y: int8 nullable> nullable>"},
		{[]string{"st.in.y", "st"}, "st: struct<a: int32 nullable, in: struct<x: utf8 nullable, y: int8 nullable> nullable>"},
		{[]string{"ls.q"}, "ls: list<item: struct<q: utf8 nullable>, nullable>"},
		{[]string{"ls.item.q"}, "ls: list<item: struct<q: utf8 nullable>, nullable>"},
		{[]string{"l.item"}, "l: list<item: int64, nullable>"},
		{[]string{"m.value.v"}, "m: map<utf8, struct<v: int8 nullable>, items_nullable>"},
		{[]string{"m.entries.value.v"}, "m: map<utf8, struct<v: int8 nullable>, items_nullable>"},
		{[]string{"m.key"}, "m: map<utf8, struct<u: int8 nullable, v: int8 nullable>, items_nullable>"},
		{[]string{"fs.f"}, "fs: fixed_size_list<item: struct<f: int8 nullable>, nullable>[2]"},
		{[]string{"pk.l"}, "pk: struct<l: int16 nullable>"},
	} {
		nodes, err := project(fields, Options{Columns: tt.columns})
		if err != nil {
			t.Errorf("%q: %v", tt.columns, err)
			continue
		}
		var got []string
		for _, n := range nodes {
			got = append(got, fmt.Sprintf("%s: %s", n.field.Name, n.typ))
		}
		if g := strings.Join(got, "; "); g != tt.want {
			t.Errorf("%q: %s, want %s", tt.columns, g, tt.want)
		}
	}
	for _, name := range []string{"", "x", "st.", "st.b", "id.x", "ls.item.z", "l.item.x", "st.in.y.z", "m.u", "a"} {
		if _, err := project(fields, Options{Columns: []string{"id", name}}); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%q", name)) {
			t.Errorf("column %q: error %v", name, err)
		}
	}
	all, err := project(fields, Options{})
	if err != nil || len(all) != len(fields) {
		t.Fatalf("%d of %d columns, error %v", len(all), len(fields), err)
	}
	for i, n := range all {
		if n.field != fields[i] || n.typ.String() != fields[i].Type.String() {
			t.Errorf("column %d is %s %s", i, n.field.Name, n.typ)
		}
	}
}

// file is an entry of a data file: field ids with their columns, in pairs.
func file(minor uint32, pairs ...int32) *pb.DataFile {
	d := &pb.DataFile{FileMajorVersion: 2, FileMinorVersion: minor}
	for i := 0; i < len(pairs); i += 2 {
		d.Fields, d.ColumnIndices = append(d.Fields, pairs[i]), append(d.ColumnIndices, pairs[i+1])
	}
	return d
}

// show is a part in words: the columns of its fields, and "*" behind what is not wanted.
func show(f column.Field, s *shape) string {
	out := f.Name
	if f.Column != column.Absent {
		out += fmt.Sprintf("@%d", f.Column)
	}
	if f.Packed {
		out += "!"
	}
	if s.node == nil {
		out += "*"
	}
	var kids []string
	for i, k := range f.Children {
		kids = append(kids, show(k, s.kids[i]))
	}
	if len(kids) > 0 {
		out += "(" + strings.Join(kids, " ") + ")"
	}
	return out
}

func TestPlace(t *testing.T) {
	fields := schemaOf(t, everything)
	packed := fileSchema(flatSchema(t, "23:pk:struct\n 24:old:int32\n 26:gone:int64\n 25:l:int16\n"))
	for _, tt := range []struct {
		name   string
		column string
		files  []*pb.DataFile
		want   string // parts by file
	}{
		{"one file", "id", []*pb.DataFile{file(2, 0, 0)}, "0:id@0"},
		{"no file", "id", []*pb.DataFile{file(2, 2, 0)}, ""},
		{"a file that only names fields", "a.b", []*pb.DataFile{{FileMajorVersion: 2, Fields: []int32{0, 16}}}, "0:a.b@1"},
		{"superseded by a mark", "id", []*pb.DataFile{file(2, -2, 0, 2, 1), file(2, 0, 0)}, "1:id@0"},
		{"in two files", "id", []*pb.DataFile{file(2, 0, 4), file(2, 0, 3)}, "0:id@4"},
		{"a column without a number", "id", []*pb.DataFile{file(2, 0, 4), file(2, 0, -1)}, "0:id@4"},
		{"lineage in a file", "id", []*pb.DataFile{file(2, -3, 0, -4, 1, 0, 2)}, "0:id@2"},
		{"a struct", "st", []*pb.DataFile{file(2, 2, 1, 4, 2, 5, 3)}, "0:st(a@1 in(x@2 y@3))"},
		{"a struct in version 2.0", "st", []*pb.DataFile{file(0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5)}, "0:st@1(a@2 in@3(x@4 y@5))"},
		{"a struct in two files", "st", []*pb.DataFile{file(2, 2, 0, 4, 1), file(2, 5, 0)}, "0:st(a@0 in(x@1)) 1:st(in(y@0))"},
		{"a struct without one child", "st", []*pb.DataFile{file(2, 2, 0, 5, 1)}, "0:st(a@0 in(y@1))"},
		{"a child superseded", "st", []*pb.DataFile{file(2, 2, 0, -2, 1, 5, 2), file(2, 4, 0)}, "0:st(a@0 in(y@2)) 1:st(in(x@0))"},
		{"a child twice", "st", []*pb.DataFile{file(2, 2, 0, 4, 1, 5, 2), file(2, 4, 0)}, "0:st(a@0 in(x@1 y@2))"},
		{"some children", "st.in.y", []*pb.DataFile{file(2, 2, 0, 4, 1, 5, 2)}, "0:st(in(y@2))"},
		{"a child that is nowhere", "st.in.y", []*pb.DataFile{file(2, 0, 9, 2, 0, 4, 1)}, "0:st(in(x@1*))"},
		{"a struct of which nothing is there but another child", "st.in", []*pb.DataFile{file(2, 2, 3)}, "0:st(a@3*)"},
		{"a struct that is nowhere", "st.in", []*pb.DataFile{file(2, 0, 3)}, ""},
		{"a list", "ls", []*pb.DataFile{file(2, 8, 1, 9, 2)}, "0:ls(item(p@1 q@2))"},
		{"a list in version 2.0", "ls.q", []*pb.DataFile{file(0, 6, 0, 7, 1, 8, 2, 9, 3)}, "0:ls@0(item@1(q@3))"},
		{"a list's child that is nowhere", "ls.q", []*pb.DataFile{file(2, 8, 1)}, "0:ls(item(p@1*))"},
		{"a map's values", "m.value.v", []*pb.DataFile{file(2, 12, 0, 14, 1, 15, 2)}, "0:m(entries(key@0 value(v@2)))"},
		{"a map's value that is nowhere", "m.value.v", []*pb.DataFile{file(2, 12, 0, 14, 1)}, "0:m(entries(key@0 value(u@1*)))"},
		{"a fixed-size list", "fs.f", []*pb.DataFile{file(2, 21, 0, 22, 1)}, "0:fs(item(f@1))"},
		{"packed", "pk", []*pb.DataFile{file(2, 23, 5)}, "0:pk@5!(old gone* l)"},
		{"packed, in part", "pk.l", []*pb.DataFile{file(1, 23, 5)}, "0:pk@5!(old* gone* l)"},
		{"packed in version 2.0", "pk", []*pb.DataFile{file(0, 23, 5)}, "0:pk@5!(old gone* l)"},
		{"not packed after all", "pk", []*pb.DataFile{file(2, 24, 1, 25, 2)}, "0:pk(k@1 l@2)"},
		{"not packed in version 2.0", "pk", []*pb.DataFile{file(0, 23, 0, 24, 1, 25, 2)}, "0:pk@0(k@1 l@2)"},
		{"packed, then rewritten", "pk", []*pb.DataFile{file(2, -2, 5), file(2, 24, 1, 25, 2)}, "1:pk(k@1 l@2)"},
		{"packed, and its leaves", "pk", []*pb.DataFile{file(2, 23, 5), file(2, 24, 1, 25, 2)}, "0:pk@5!(old gone* l)"},
		{"its leaves, and packed", "pk", []*pb.DataFile{file(2, 24, 1, 25, 2), file(2, 23, 5)}, "0:pk(k@1 l@2)"},
	} {
		nodes, err := project(fields, Options{Columns: []string{tt.column}})
		if err != nil {
			t.Fatal(err)
		}
		var held []holding
		for _, d := range tt.files {
			h, err := holdingOf(d)
			if err != nil {
				t.Fatal(err)
			}
			held = append(held, h)
		}
		p := placeColumn(nodes[0], held)
		used := make(map[int]bool)
		p.used(used)
		var got []string
		for i := range held {
			x, ok, err := newParter(i, held[i], packed).part(p)
			if err != nil {
				t.Fatal(err)
			}
			if ok != used[i] {
				t.Errorf("%s: file %d used %v, has a part %v", tt.name, i, used[i], ok)
			}
			if ok {
				got = append(got, fmt.Sprintf("%d:%s", i, show(x.field, x.shape)))
			}
		}
		if g := strings.Join(got, " "); g != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, g, tt.want)
		}
	}
}

func TestHoldingThatContradicts(t *testing.T) {
	if _, err := holdingOf(&pb.DataFile{Fields: []int32{0, 1}, ColumnIndices: []int32{0}}); !errors.Is(err, datafile.ErrCorrupt) {
		t.Errorf("fewer columns than fields: error %v", err)
	}
	h, err := holdingOf(file(2, 0, 1, 0, 2, 5, 3))
	if err != nil {
		t.Fatal(err)
	}
	if err := h.readable(&table.Field{ID: 0}); !errors.Is(err, datafile.ErrCorrupt) {
		t.Errorf("a field in two columns: error %v", err)
	}
	if err := h.readable(&table.Field{ID: 5}); err != nil {
		t.Errorf("another field of that file: %v", err)
	}
	two := file(2, -2, 0, -2, 1)
	if h, err := holdingOf(two); err != nil || len(h.columns) != 0 {
		t.Errorf("two superseded columns: %v, error %v", h, err)
	}
}

// The children of a packed struct inside of a file must be what the file says.
func TestPackedChildren(t *testing.T) {
	pk := schemaOf(t, everything)[7]
	names := func(fields []*table.Field) (out []string) {
		for _, f := range fields {
			out = append(out, f.Name)
		}
		return out
	}
	for _, tt := range []struct {
		schema string
		want   []string
	}{
		{"0:id:int64\n", []string{"k", "l"}}, // nothing said
		{"0:id:int64\n23:x:struct\n 25:l:int16\n 24:k:int32\n7:z:int8\n", []string{"l", "k"}},
	} {
		got, err := fileSchema(flatSchema(t, tt.schema)).packedChildren(pk)
		if err != nil || !slices.Equal(names(got), tt.want) {
			t.Errorf("%q: %v, error %v", tt.schema, names(got), err)
		}
	}
	for _, bad := range []string{"23:x:int8\n", "23:x:struct\n 24:k:unheard of\n"} {
		if _, err := fileSchema(flatSchema(t, bad)).packedChildren(pk); !errors.Is(err, datafile.ErrCorrupt) {
			t.Errorf("%q: error %v", bad, err)
		}
	}
}
