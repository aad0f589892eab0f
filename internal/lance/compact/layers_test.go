package compact

import (
	"fmt"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
)

// layered is a column of pages that have these layers, of one row each.
func layered(pages ...string) *pb.ColumnMetadata {
	c := &pb.ColumnMetadata{Encoding: message(columnURL, oneField(1, ""))}
	for i, layers := range pages {
		miniBlock := protowire.AppendString(protowire.AppendTag(nil, 6, protowire.BytesType), layers)
		c.Pages = append(c.Pages, &pb.ColumnMetadata_Page{Length: 1, Priority: uint64(i), Encoding: message(layoutURL, oneField(1, string(miniBlock)))})
	}
	return c
}

// column writes a data file of one column, of field 2.
func (k *maker) column(rows uint64, c *pb.ColumnMetadata) *pb.DataFile {
	k.tb.Helper()
	d := &pb.DataFile{Path: newDataFile(), Fields: []int32{2}, ColumnIndices: []int32{0}, FileMajorVersion: k.version.Major, FileMinorVersion: k.version.Minor}
	w, err := k.s.Create(k.tb.Context(), table.DataName(d))
	if err != nil {
		k.tb.Fatal(err)
	}
	defer w.Abort()
	dw := datafile.NewWriter(w, nil)
	if _, err := dw.Finish(k.tb.Context(), uint16(k.version.Major), uint16(k.version.Minor), &pb.FileDescriptor{Length: rows}, []*pb.ColumnMetadata{c}); err != nil {
		k.tb.Fatal(err)
	}
	return d
}

// A list beneath a struct: fragments are merged where their pages agree about
// null structs. A detection finds the same as a run.
func TestLayers(t *testing.T) {
	const valid, null = "\x01\x04\x01", "\x01\x04\x03" // item, list, struct
	tests := []struct {
		fragments [][]string
		want      string // fragments of the tasks
	}{
		{[][]string{{valid}, {valid}, {valid}}, "[[0 1 2]]"},
		{[][]string{{null}, {null}}, "[[0 1]]"},
		{[][]string{{valid}, {null}}, "[]"},
		{[][]string{{valid}, {valid}, {null}, {null}}, "[[0 1] [2 3]]"},
		{[][]string{{valid}, {null}, {null}}, "[[1 2]]"},
		{[][]string{{valid}, {null}, {valid}, {null}, {null}}, "[[3 4]]"},
		{[][]string{{valid, null}, {valid}, {valid}}, "[[1 2]]"},
		// Of the innermost level, and of lists, pages may say what they like.
		{[][]string{{valid}, {"\x03\x04\x01"}, {"\x01\x05\x01"}}, "[[0 1 2]]"},
	}
	for _, tt := range tests {
		k := newMaker(t, 1, table.V2_1,
			&pb.Field{Id: 0, ParentId: -1, Name: "s", LogicalType: "struct"},
			&pb.Field{Id: 1, ParentId: 0, Name: "l", LogicalType: "list"},
			&pb.Field{Id: 2, ParentId: 1, Name: "item", LogicalType: "int32"})
		for _, pages := range tt.fragments {
			k.fragment(uint64(len(pages)), k.column(uint64(len(pages)), layered(pages...)))
		}
		before := k.done()
		_, due, err := Detect(t.Context(), before, Policy{})
		if err != nil {
			t.Fatal(err)
		}
		res, err := Run(t.Context(), k.s, Options{DryRun: true})
		if err != nil {
			t.Fatal(err)
		}
		tasks := [][]uint64{}
		for _, x := range res.Plan.Tasks {
			tasks = append(tasks, x.Fragments)
		}
		if fmt.Sprint(tasks) != tt.want {
			t.Errorf("%q: tasks %v, want %s", tt.fragments, tasks, tt.want)
		}
		if due != (len(tasks) > 0) {
			t.Errorf("%q: due %t, and a run has %v to do", tt.fragments, due, tasks)
		}
		if res, err = Run(t.Context(), k.s, Options{}); err != nil {
			t.Errorf("%q: %v", tt.fragments, err)
			continue
		}
		checkRewrites(t, k.s, table.NamingV2, 1, res.Version)
	}
}
