package compact

import (
	"fmt"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
)

// listInStruct is a list beneath a struct.
var listInStruct = []*pb.Field{
	{Id: 0, ParentId: -1, Name: "s", LogicalType: "struct", Nullable: true},
	{Id: 1, ParentId: 0, Name: "l", LogicalType: "list", Nullable: true},
	{Id: 2, ParentId: 1, Name: "item", LogicalType: "int32", Nullable: true},
}

// pageSink writes the pages of one column.
type pageSink struct {
	w *datafile.Writer
	c *pb.ColumnMetadata
}

func (s pageSink) Blob([]byte) (uint64, error) { return 0, fmt.Errorf("a blob") }

func (s pageSink) Page(p column.Page) error {
	m := &pb.ColumnMetadata_Page{Length: p.Length, Priority: p.Priority, Encoding: p.Encoding}
	s.c.Pages = append(s.c.Pages, m)
	return s.w.Page(m, p.Buffers)
}

// lists writes a data file of lists in structs: of pages that have no level for null structs ('v'), or one ('n') and a null
// struct. Each page has four rows.
func (k *maker) lists(pages string) *pb.DataFile {
	k.tb.Helper()
	d := &pb.DataFile{Path: newDataFile(), Fields: []int32{2}, ColumnIndices: []int32{0}, FileMajorVersion: k.version.Major, FileMinorVersion: k.version.Minor}
	out, err := k.s.Create(k.tb.Context(), table.DataName(d))
	if err != nil {
		k.tb.Fatal(err)
	}
	defer out.Abort()
	tree, err := table.FieldsOf(listInStruct)
	if err != nil {
		k.tb.Fatal(err)
	}
	placed, _ := encoding.Place(tree, k.version)
	sink := pageSink{datafile.NewWriter(out, nil), &pb.ColumnMetadata{Encoding: message(columnURL, oneField(1, ""))}}
	row := 0
	for _, kind := range pages {
		o := column.WriteOptions{}
		if kind == 'v' {
			o.Layers = map[int][]pb.PageLayout_Layer{0: {pb.PageLayout_ALL_VALID_ITEM, pb.PageLayout_ALL_VALID_LIST, pb.PageLayout_ALL_VALID_ITEM}}
		}
		w, err := encoding.NewFieldWriter(placed[0], k.version, sink, o)
		if err != nil {
			k.tb.Fatal(err)
		}
		if err := w.Skip(uint64(row)); err != nil {
			k.tb.Fatal(err)
		}
		b := array.NewBuilder(memory.DefaultAllocator, placed[0].Type).(*array.StructBuilder)
		for range 4 {
			row++
			if kind == 'n' && row%4 == 2 {
				b.AppendNull()
				continue
			}
			b.Append(true)
			l := b.FieldBuilder(0).(*array.ListBuilder)
			l.Append(true)
			for x := range row % 3 {
				l.ValueBuilder().(*array.Int32Builder).Append(int32(100*row + x))
			}
		}
		if err := w.Append(b.NewArray(), 0, 4); err != nil {
			k.tb.Fatal(err)
		}
		if err := w.Flush(); err != nil {
			k.tb.Fatal(err)
		}
	}
	if _, err := sink.w.Finish(k.tb.Context(), uint16(k.version.Major), uint16(k.version.Minor), &pb.FileDescriptor{Length: uint64(row)}, []*pb.ColumnMetadata{sink.c}); err != nil {
		k.tb.Fatal(err)
	}
	return d
}

// A list beneath a struct: pages are copied where they agree about null structs, and their rows encoded
// anew where they don't.
func TestLayers(t *testing.T) {
	tests := []struct {
		fragments []string
		pages     int // of the result
	}{
		{[]string{"v", "v", "v"}, 3},
		{[]string{"n", "n"}, 2},
		{[]string{"vv", "v"}, 3},
		{[]string{"v", "n"}, 1},
		{[]string{"v", "v", "n", "n"}, 1},
		{[]string{"vn", "v", "v"}, 1},
		{[]string{"vn", "nv"}, 1},
	}
	for _, tt := range tests {
		k := newMaker(t, 1, table.V2_1, listInStruct...)
		for _, pages := range tt.fragments {
			k.fragment(uint64(4*len(pages)), k.lists(pages))
		}
		before := k.done()
		_, due, err := Detect(t.Context(), before, Policy{})
		if err != nil || !due {
			t.Errorf("%q: due %t, error %v", tt.fragments, due, err)
		}
		res, err := Run(t.Context(), k.s, Options{careful: true})
		if err != nil || res.FragmentsAdded != 1 {
			t.Errorf("%q: %+v, error %v", tt.fragments, res, err)
			continue
		}
		checkRewrites(t, k.s, table.NamingV2, 1, res.Version)
		after := open(t, k.s)
		if n := len(contentOf(t, after, after.Fragments()[0]).columns[2]); n != tt.pages {
			t.Errorf("%q: %d pages, want %d", tt.fragments, n, tt.pages)
		}
	}
}
