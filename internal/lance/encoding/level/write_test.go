package level

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

// fromJSON makes an array.
func fromJSON(t testing.TB, dt arrow.DataType, text string) arrow.Array {
	t.Helper()
	a, _, err := array.FromJSON(memory.DefaultAllocator, dt, strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Release)
	return a
}

var (
	i8      = arrow.PrimitiveTypes.Int8
	lists   = arrow.ListOf(i8)
	structs = arrow.StructOf(arrow.Field{Name: "x", Type: i8, Nullable: true})
	inList  = arrow.ListOf(structs)
	above   = arrow.StructOf(arrow.Field{Name: "l", Type: lists, Nullable: true})
)

func steps(always bool, nodes ...Node) []Step {
	out := make([]Step, len(nodes))
	for i, n := range nodes {
		out[i] = Step{Node: n, Always: always}
	}
	return out
}

// within says of the last node that it is null wherever what is around it is.
func within(s []Step) []Step {
	s[len(s)-1].Within = true
	return s
}

func TestWriter(t *testing.T) {
	fsl := Node{Kind: FixedSizeList, Dim: 2}
	for name, c := range map[string]struct {
		dt       arrow.DataType
		text     string
		steps    []Step
		layers   []pb.PageLayout_Layer
		rep, def []uint16
		spans    []Span
		visible  int
		valid    int
		maxSeen  uint16
	}{
		"flat":        {i8, `[1, 2, 3]`, steps(false, item), []pb.PageLayout_Layer{avItem}, nil, nil, []Span{{0, 3}}, 3, 3, 0},
		"flat nulls":  {i8, `[1, null, 3]`, steps(false, item), []pb.PageLayout_Layer{nItem}, nil, []uint16{0, 1, 0}, []Span{{0, 3}}, 3, 2, 1},
		"always":      {i8, `[1, 2]`, steps(true, item), []pb.PageLayout_Layer{nItem}, nil, []uint16{0, 0}, []Span{{0, 2}}, 2, 2, 1},
		"lists":       {lists, `[[1, 2], [3]]`, steps(false, list, item), []pb.PageLayout_Layer{avItem, avList}, []uint16{1, 0, 1}, nil, []Span{{0, 3}}, 3, 3, 0},
		"empty lists": {lists, `[[], [1, null], []]`, steps(false, list, item), []pb.PageLayout_Layer{nItem, eList}, []uint16{1, 1, 0, 1}, []uint16{2, 0, 1, 2}, []Span{{0, 2}}, 2, 1, 1},
		"null lists":  {lists, `[[1], null, [2]]`, steps(false, list, item), []pb.PageLayout_Layer{avItem, nList}, []uint16{1, 1, 1}, []uint16{0, 1, 0}, []Span{{0, 2}}, 2, 2, 0},
		"both":        {lists, `[null, [], [7]]`, steps(false, list, item), []pb.PageLayout_Layer{avItem, neList}, []uint16{1, 1, 1}, []uint16{1, 2, 0}, []Span{{0, 1}}, 1, 1, 0},
		"in a list":   {inList, `[[{"x": 1}, null, {"x": null}], []]`, steps(false, list, item, item), []pb.PageLayout_Layer{nItem, nItem, eList}, []uint16{1, 0, 0, 1}, []uint16{0, 2, 1, 3}, []Span{{0, 3}}, 3, 1, 2},
		"above":       {above, `[{"l": [1, 2]}, null, {"l": null}, {"l": []}]`, steps(false, item, list, item), []pb.PageLayout_Layer{avItem, neList, nItem}, []uint16{1, 0, 1, 1, 1}, []uint16{0, 0, 3, 1, 2}, []Span{{0, 2}}, 2, 2, 0},
		"within":      {structs, `[{"x": 1}, null]`, within(steps(false, item, item)), []pb.PageLayout_Layer{nItem, nItem}, nil, []uint16{0, 2}, []Span{{0, 2}}, 2, 1, 2},
		"within none": {structs, `[{"x": 1}, {"x": 2}]`, within(steps(false, item, item)), []pb.PageLayout_Layer{avItem, avItem}, nil, nil, []Span{{0, 2}}, 2, 2, 0},
		"within list": {above, `[{"l": [1]}, null]`, within(steps(false, item, list, item)), []pb.PageLayout_Layer{avItem, nList, nItem}, []uint16{1, 1}, []uint16{0, 2}, []Span{{0, 1}}, 1, 1, 0},
		"fixed":       {arrow.FixedSizeListOf(2, structs), `[[{"x": 1}, null], null]`, steps(false, fsl, item, item), []pb.PageLayout_Layer{avItem, nItem, nItem}, nil, []uint16{0, 1, 2, 2}, []Span{{0, 4}}, 4, 1, 2},
		"nested": {arrow.ListOf(lists), `[[[1], [2, 3]], [[]], [], [null, [4]]]`, steps(false, list, list, item), []pb.PageLayout_Layer{avItem, neList, eList},
			[]uint16{2, 1, 0, 2, 2, 2, 1}, []uint16{0, 0, 0, 2, 3, 1, 0}, []Span{{0, 4}}, 4, 4, 0},
	} {
		t.Run(name, func(t *testing.T) {
			a := fromJSON(t, c.dt, c.text)
			w := NewWriter(c.steps)
			_, spans, err := w.Append(a, 0, a.Len())
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(spans, c.spans) {
				t.Errorf("values %v, want %v", spans, c.spans)
			}
			l := w.Take()
			if !slices.Equal(l.Layers, c.layers) || !slices.Equal(l.Rep, c.rep) || !slices.Equal(l.Def, c.def) {
				t.Errorf("layers %v, levels %v %v", l.Layers, l.Rep, l.Def)
			}
			if l.Visible != c.visible || l.Valid != c.valid || l.MaxVisible != c.maxSeen {
				t.Errorf("%d visible, %d valid, highest visible level %d", l.Visible, l.Valid, l.MaxVisible)
			}
			m, err := NewMeaning(w.path, l.Layers)
			if err != nil {
				t.Fatal(err)
			}
			if m.MaxDef != l.MaxDef || m.MaxRep != l.MaxRep || m.MaxVisible != l.MaxVisible {
				t.Errorf("levels up to %d, %d, visible %d; the layers mean %d, %d, %d", l.MaxRep, l.MaxDef, l.MaxVisible, m.MaxRep, m.MaxDef, m.MaxVisible)
			}
		})
	}
}

func TestWriterRefuses(t *testing.T) {
	a := fromJSON(t, i8, `[1]`)
	for _, s := range [][]Step{steps(false, list, item), steps(false, item, item), steps(false, Node{Kind: FixedSizeList, Dim: 1}, item)} {
		if _, _, err := NewWriter(s).Append(a, 0, 1); !errors.Is(err, column.ErrUnsupported) {
			t.Errorf("%v: %v", s, err)
		}
	}
}

// randomType is a type with its steps.
func randomType(r *rand.Rand, depth int, inList bool) (arrow.DataType, []Step) {
	child := func(in bool) (arrow.Field, []Step) {
		dt, s := randomType(r, depth-1, in)
		return arrow.Field{Name: "c", Type: dt, Nullable: true}, s
	}
	switch k := r.IntN(5); {
	case depth == 0 || k == 0:
		return i8, steps(r.IntN(4) == 0, item)
	case k == 1:
		f, s := child(inList)
		pad := arrow.Field{Name: "a", Type: i8, Nullable: true}
		return arrow.StructOf(pad, f), append([]Step{{Node: item, Child: 1, Always: r.IntN(4) == 0}}, s...)
	case k == 2 && !inList:
		f, s := child(false)
		return arrow.FixedSizeListOfField(2, f), append(steps(false, Node{Kind: FixedSizeList, Dim: 2}), s...)
	case k == 3:
		f, s := child(true)
		return arrow.LargeListOfField(f), append(steps(false, Node{Kind: List, Large: true}), s...)
	}
	f, s := child(true)
	return arrow.ListOfField(f), append(steps(false, list), s...)
}

// fillValue appends a random value.
func fillValue(r *rand.Rand, b array.Builder, nulls int) {
	if nulls > 0 && r.IntN(nulls) == 0 {
		b.AppendNull()
		return
	}
	items := func(v array.Builder, n int) {
		for range n {
			fillValue(r, v, nulls)
		}
	}
	switch b := b.(type) {
	case *array.StructBuilder:
		b.Append(true)
		for i := range b.NumField() {
			fillValue(r, b.FieldBuilder(i), nulls)
		}
	case *array.ListBuilder:
		b.Append(true)
		items(b.ValueBuilder(), r.IntN(4))
	case *array.LargeListBuilder:
		b.Append(true)
		items(b.ValueBuilder(), r.IntN(4))
	case *array.FixedSizeListBuilder:
		b.Append(true)
		items(b.ValueBuilder(), 2)
	case *array.Int8Builder:
		b.Append(int8(r.IntN(100)))
	}
}

// shape renders the structure of a value along the steps; whether it is there is all that is told of a value
// itself.
func shape(b []byte, a arrow.Array, s []Step, i int) []byte {
	if a.IsNull(i) {
		return append(b, 'n')
	}
	switch a := a.(type) {
	case *array.Struct:
		return shape(append(b, 's'), a.Field(s[0].Child), s[1:], i)
	case array.ListLike:
		lo, hi := a.ValueOffsets(i)
		b = append(b, '[')
		for j := lo; j < hi; j++ {
			b = shape(b, a.ListValues(), s[1:], int(j))
		}
		return append(b, ']')
	}
	return append(b, 'v')
}

// shapeOf is shape of what a Builder made.
func shapeOf(b []byte, c []Column, p Path, i int) []byte {
	if v := c[0].Valid; v != nil && v[i>>3]>>(i&7)&1 == 0 {
		return append(b, 'n')
	}
	var lo, hi int
	switch p[0].Kind {
	case List:
		if p[0].Large {
			lo, hi = int(c[0].Offsets64[i]), int(c[0].Offsets64[i+1])
		} else {
			lo, hi = int(c[0].Offsets32[i]), int(c[0].Offsets32[i+1])
		}
	case FixedSizeList:
		lo, hi = i*p[0].Dim, (i+1)*p[0].Dim
	default:
		if len(p) == 1 {
			return append(b, 'v')
		}
		return shapeOf(append(b, 's'), c[1:], p[1:], i)
	}
	b = append(b, '[')
	for j := lo; j < hi; j++ {
		b = shapeOf(b, c[1:], p[1:], j)
	}
	return append(b, ']')
}

// What a Writer made of random arrays, in pieces and pages, a Builder turns into the same again.
func TestWriterRandom(t *testing.T) {
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 4))
		dt, s := randomType(r, 1+r.IntN(4), false)
		b := array.NewBuilder(memory.DefaultAllocator, dt)
		rows := r.IntN(60)
		for range rows + 3 {
			fillValue(r, b, []int{0, 2, 5}[r.IntN(3)])
		}
		whole := b.NewArray()
		b.Release()
		a := array.NewSlice(whole, 2, int64(2+rows))
		w := NewWriter(s)
		if err := w.path.Check(); err != nil {
			t.Fatal(err)
		}
		out := NewBuilder(w.path, rows, 1<<20)
		values, from := 0, 0
		for from < rows || rows == 0 {
			to := min(rows, from+1+r.IntN(20))
			_, spans, err := w.Append(a, from, to)
			if err != nil {
				t.Fatal(err)
			}
			for _, sp := range spans {
				values += sp.To - sp.From
			}
			if from = to; from < rows && r.IntN(2) == 0 {
				continue
			}
			starts := w.Starts()
			l := w.Take()
			if starts != l.Starts {
				t.Fatalf("%d starts, then %d", starts, l.Starts)
			}
			m, err := NewMeaning(w.path, l.Layers)
			if err != nil {
				t.Fatal(err)
			}
			rep, def := slices.Clone(l.Rep), slices.Clone(l.Def)
			visible, err := out.Append(m, rep, def, l.Slots)
			if err != nil {
				t.Fatalf("seed %d, %s: %v", seed, dt, err)
			}
			if values -= l.Visible; visible != l.Visible || l.Slots == 0 && rows > 0 {
				t.Fatalf("seed %d, %s: %d of %d slots are visible, want %d", seed, dt, visible, l.Slots, l.Visible)
			}
			if rows == 0 {
				break
			}
		}
		if values != 0 {
			t.Fatalf("seed %d, %s: %d values have no place", seed, dt, values)
		}
		columns, err := out.Finish()
		if err != nil {
			t.Fatal(err)
		}
		for i := range rows {
			want, got := shape(nil, a, s, i), shapeOf(nil, columns, w.path, i)
			if string(want) != string(got) {
				t.Fatalf("seed %d, %s, row %d: %s, want %s", seed, dt, i, got, want)
			}
		}
		a.Release()
		whole.Release()
	}
}

func TestWriterKeepsMemory(t *testing.T) {
	a := fromJSON(t, lists, "[[1, 2], [3, 4, 5]]")
	w := NewWriter(steps(false, list, item))
	allocs := testing.AllocsPerRun(100, func() {
		if _, _, err := w.Append(a, 0, 2); err != nil {
			t.Fatal(err)
		}
		w.Take()
	})
	if allocs > 8 {
		t.Errorf("%.0f allocations for each page", allocs)
	}
}
