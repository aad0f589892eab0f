package layout

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// Pages of a column whose lists lie in structs agree about which structs may be null, and lists beneath those have a
// level of their own.
func TestPagesAgree(t *testing.T) {
	dt := arrow.StructOf(arrow.Field{Name: "l", Nullable: true, Type: arrow.ListOf(arrow.StructOf(
		arrow.Field{Name: "x", Type: arrow.PrimitiveTypes.Int64, Nullable: true}))})
	text := `[{"l": [{"x": 1}]}, {"l": [{"x": 2}, null]}, null, {"l": []}, {"l": null}, {"l": [{"x": 5}]}]`
	a, _, err := array.FromJSON(memory.DefaultAllocator, dt, strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, nullable := range []bool{true, false} {
		f := arrow.Field{Name: "f", Type: dt, Nullable: nullable}
		from, to := 0, a.Len()
		if !nullable {
			to = 2 // those without a null
		}
		some := array.NewSlice(a, int64(from), int64(to))
		r, file := written(t, f, some, 1, column.WriteOptions{PageBytes: 1}, 1)
		same(t, r, file, some, rand.New(rand.NewPCG(1, 1)))
		for i, p := range file.columns[0].Pages {
			l, err := layoutOf(p)
			if err != nil {
				t.Fatal(err)
			}
			layers := l.GetMiniBlock().GetLayers()
			if layers == nil {
				layers = l.GetConstant().GetLayers()
			}
			outer := pb.PageLayout_ALL_VALID_ITEM
			if nullable {
				outer = pb.PageLayout_NULLABLE_ITEM
			}
			if len(layers) != 4 || layers[1] != pb.PageLayout_NULLABLE_ITEM || layers[3] != outer {
				t.Errorf("page %d has layers %v", i, layers)
			}
			if nullable && (layers[2] == pb.PageLayout_ALL_VALID_LIST || layers[2] == pb.PageLayout_EMPTYABLE_LIST) {
				t.Errorf("page %d has layers %v", i, layers)
			}
		}
		some.Release()
	}
}

// Pages follow what others of their column say of null structs.
func TestPagesAgreeWithOthers(t *testing.T) {
	dt := arrow.StructOf(arrow.Field{Name: "x", Nullable: true, Type: arrow.PrimitiveTypes.Int64})
	a, _, err := array.FromJSON(memory.DefaultAllocator, dt, strings.NewReader(`[{"x": 1}, {"x": null}, null]`))
	if err != nil {
		t.Fatal(err)
	}
	const nullable, valid = pb.PageLayout_NULLABLE_ITEM, pb.PageLayout_ALL_VALID_ITEM
	for _, c := range []struct {
		others []pb.PageLayout_Layer
		rows   int
		want   []pb.PageLayout_Layer
		err    error
	}{
		{nil, 1, []pb.PageLayout_Layer{valid, valid}, nil},
		{[]pb.PageLayout_Layer{valid, nullable}, 1, []pb.PageLayout_Layer{valid, nullable}, nil},
		{[]pb.PageLayout_Layer{valid, valid}, 2, []pb.PageLayout_Layer{nullable, valid}, nil},
		{[]pb.PageLayout_Layer{valid, valid}, 3, nil, column.ErrDisagree},
	} {
		next := 0
		file := new(memoryFile)
		o := column.WriteOptions{Layers: map[int][]pb.PageLayout_Layer{0: c.others}}
		w, err := NewWriter(fieldOf(arrow.Field{Name: "f", Type: dt, Nullable: true}, &next), 1, file, o)
		if err != nil {
			t.Fatal(err)
		}
		if err = w.Append(a, 0, c.rows); err == nil {
			err = w.Flush()
		}
		if !errors.Is(err, c.err) {
			t.Errorf("%v: %v", c, err)
		}
		if err != nil {
			continue
		}
		l, err := layoutOf(file.columns[0].Pages[0])
		if err != nil {
			t.Fatal(err)
		}
		if got := l.GetMiniBlock().GetLayers(); !slices.Equal(got, c.want) {
			t.Errorf("%v: layers %v", c, got)
		}
	}
	o := column.WriteOptions{Layers: map[int][]pb.PageLayout_Layer{0: {valid}}}
	next := 0
	if _, err := NewWriter(fieldOf(arrow.Field{Name: "f", Type: dt}, &next), 1, new(memoryFile), o); err == nil {
		t.Error("layers of another path were taken")
	}
}

func TestLayersOf(t *testing.T) {
	const nullable, valid, list = pb.PageLayout_NULLABLE_ITEM, pb.PageLayout_ALL_VALID_ITEM, pb.PageLayout_EMPTYABLE_LIST
	page := func(l *pb.PageLayout) *pb.ColumnMetadata_Page {
		e, err := column.Pack("/"+layoutType, l)
		if err != nil {
			t.Fatal(err)
		}
		return &pb.ColumnMetadata_Page{Encoding: e}
	}
	mini := func(l ...pb.PageLayout_Layer) *pb.PageLayout {
		return &pb.PageLayout{Layout: &pb.PageLayout_MiniBlock_{MiniBlock: &pb.PageLayout_MiniBlock{Layers: l}}}
	}
	zip := &pb.PageLayout{Layout: &pb.PageLayout_FullZip_{FullZip: &pb.PageLayout_FullZip{Layers: []pb.PageLayout_Layer{valid, list, valid}}}}
	constant := &pb.PageLayout{Layout: &pb.PageLayout_Constant_{Constant: &pb.PageLayout_Constant{Layers: []pb.PageLayout_Layer{nullable, list, nullable}}}}
	blob := &pb.PageLayout{Layout: &pb.PageLayout_Blob_{Blob: &pb.PageLayout_Blob{Inner: mini(valid), Layers: []pb.PageLayout_Layer{valid, list, nullable}}}}
	for _, c := range []struct {
		pages []*pb.PageLayout
		want  []pb.PageLayout_Layer
		err   error
	}{
		{nil, nil, nil},
		{[]*pb.PageLayout{mini(valid, list, valid), zip}, []pb.PageLayout_Layer{valid, list, valid}, nil},
		{[]*pb.PageLayout{zip, blob, zip}, []pb.PageLayout_Layer{valid, list, nullable}, nil},
		{[]*pb.PageLayout{constant, zip}, []pb.PageLayout_Layer{nullable, list, nullable}, nil},
		{[]*pb.PageLayout{zip, mini(valid)}, nil, column.ErrCorrupt},
		{[]*pb.PageLayout{{}}, nil, column.ErrUnsupported},
	} {
		var pages []*pb.ColumnMetadata_Page
		for _, l := range c.pages {
			pages = append(pages, page(l))
		}
		got, err := LayersOf(pages)
		if !errors.Is(err, c.err) || !slices.Equal(got, c.want) {
			t.Errorf("%v: %v, %v", c.pages, got, err)
		}
	}
}
