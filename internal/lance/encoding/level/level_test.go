package level

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

const (
	avItem  = pb.PageLayout_ALL_VALID_ITEM
	avList  = pb.PageLayout_ALL_VALID_LIST
	nItem   = pb.PageLayout_NULLABLE_ITEM
	nList   = pb.PageLayout_NULLABLE_LIST
	eList   = pb.PageLayout_EMPTYABLE_LIST
	neList  = pb.PageLayout_NULL_AND_EMPTY_LIST
	noLayer = pb.PageLayout_UNSPECIFIED
)

var (
	item = Node{Kind: Item}
	list = Node{Kind: List}
)

func TestMeaning(t *testing.T) {
	for name, c := range map[string]struct {
		path                 Path
		layers               []pb.PageLayout_Layer
		rep, def, mostInSlot uint16
		err                  error
	}{
		"flat":              {Path{item}, []pb.PageLayout_Layer{nItem}, 0, 1, 1, nil},
		"list":              {Path{list, item}, []pb.PageLayout_Layer{nItem, neList}, 1, 3, 1, nil},
		"nothing null":      {Path{list, item}, []pb.PageLayout_Layer{avItem, avList}, 1, 0, 0, nil},
		"struct above":      {Path{item, list, item}, []pb.PageLayout_Layer{avItem, eList, nItem}, 1, 2, 0, nil},
		"struct below":      {Path{list, item, item}, []pb.PageLayout_Layer{nItem, nItem, nList}, 1, 3, 2, nil},
		"two lists":         {Path{list, list, item}, []pb.PageLayout_Layer{avItem, neList, neList}, 2, 4, 0, nil},
		"too few layers":    {Path{list, item}, []pb.PageLayout_Layer{nItem}, 0, 0, 0, column.ErrCorrupt},
		"too many layers":   {Path{item}, []pb.PageLayout_Layer{nItem, nItem}, 0, 0, 0, column.ErrCorrupt},
		"list for item":     {Path{item}, []pb.PageLayout_Layer{nList}, 0, 0, 0, column.ErrCorrupt},
		"item for list":     {Path{list, item}, []pb.PageLayout_Layer{nItem, nItem}, 0, 0, 0, column.ErrCorrupt},
		"unspecified":       {Path{item}, []pb.PageLayout_Layer{noLayer}, 0, 0, 0, column.ErrUnsupported},
		"of a later format": {Path{item}, []pb.PageLayout_Layer{9}, 0, 0, 0, column.ErrUnsupported},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := NewMeaning(c.path, c.layers)
			if !errors.Is(err, c.err) {
				t.Fatal(err)
			}
			if err == nil && (m.MaxRep != c.rep || m.MaxDef != c.def || m.MaxVisible != c.mostInSlot) {
				t.Fatalf("%d, %d, %d", m.MaxRep, m.MaxDef, m.MaxVisible)
			}
		})
	}
}

func TestCheck(t *testing.T) {
	fsl := Node{Kind: FixedSizeList, Dim: 2}
	for name, c := range map[string]struct {
		path   Path
		stride int
		err    error
	}{
		"flat":            {Path{item}, 1, nil},
		"fixed-size list": {Path{fsl, item, item}, 2, nil},
		"of such":         {Path{fsl, fsl, item}, 4, nil},
		"list in one":     {Path{fsl, list, item}, 2, nil},
		"in a list":       {Path{list, fsl, item}, 1, column.ErrUnsupported},
		"nothing":         {nil, 1, column.ErrCorrupt},
		"ends in a list":  {Path{list}, 1, column.ErrCorrupt},
		"of no size":      {Path{{Kind: FixedSizeList}, item}, 0, column.ErrCorrupt},
		"of a huge size":  {Path{{Kind: FixedSizeList, Dim: 1 << 20}, {Kind: FixedSizeList, Dim: 1 << 20}, item}, 1 << 40, column.ErrCorrupt},
	} {
		if err := c.path.Check(); !errors.Is(err, c.err) {
			t.Errorf("%s: %v", name, err)
		}
		if got := c.path.RowStride(); got != c.stride {
			t.Errorf("%s: stride %d", name, got)
		}
	}
}

func TestContradictions(t *testing.T) {
	nested := Path{list, list, item}
	all := []pb.PageLayout_Layer{nItem, neList, neList} // 1: item; 2, 3: inner; 4, 5: outer
	for name, c := range map[string]struct {
		path     Path
		layers   []pb.PageLayout_Layer
		rep, def []uint16
		slots    int
	}{
		"does not start a row":           {nested, all, []uint16{1, 2}, []uint16{0, 0}, 2},
		"repetition too high":            {nested, all, []uint16{2, 3}, []uint16{0, 0}, 2},
		"definition too high":            {nested, all, []uint16{2, 2}, []uint16{0, 6}, 2},
		"item of a null list":            {nested, all, []uint16{2, 0}, []uint16{4, 0}, 2},
		"item of an empty list":          {nested, all, []uint16{2, 0}, []uint16{3, 0}, 2},
		"list of an empty list":          {nested, all, []uint16{2, 1}, []uint16{5, 0}, 2},
		"null list that goes on":         {nested, all, []uint16{2, 0}, []uint16{0, 2}, 2},
		"null outer list within a row":   {nested, all, []uint16{2, 1}, []uint16{0, 4}, 2},
		"no repetition":                  {nested, all, nil, []uint16{0, 0}, 2},
		"no definition":                  {nested, all, []uint16{2, 2}, nil, 2},
		"fewer of one":                   {nested, all, []uint16{2, 2}, []uint16{0}, 2},
		"other count":                    {nested, all, []uint16{2, 2}, []uint16{0, 0}, 3},
		"repetition of no list":          {Path{item}, []pb.PageLayout_Layer{nItem}, []uint16{0}, []uint16{0}, 1},
		"definition too high, flat":      {Path{item}, []pb.PageLayout_Layer{nItem}, nil, []uint16{0, 2}, 2},
		"repetition too high, all valid": {Path{list, item}, []pb.PageLayout_Layer{avItem, avList}, []uint16{1, 2}, nil, 2},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := NewMeaning(c.path, c.layers)
			if err != nil {
				t.Fatal(err)
			}
			b := NewBuilder(c.path, 2, 1<<20)
			if _, err := b.Append(m, c.rep, c.def, c.slots); !errors.Is(err, column.ErrCorrupt) {
				t.Fatalf("taken: %v", err)
			}
		})
	}
}

// Values that are null by themselves can be taken for valid ones, or refused.
func TestForgetNulls(t *testing.T) {
	p := Path{item, item}
	refused := errors.New("refused")
	for _, c := range []struct {
		def           []uint16
		refused, err  error
		outer, values int // nulls
	}{
		{[]uint16{0, 1, 2, 1}, nil, nil, 1, 1},
		{[]uint16{0, 1, 0}, nil, nil, 0, 0},
		{[]uint16{0, 2, 2}, refused, nil, 2, 2},
		{[]uint16{2, 0, 1}, refused, refused, 0, 0},
	} {
		m, err := NewMeaning(p, []pb.PageLayout_Layer{nItem, nItem})
		if err != nil {
			t.Fatal(err)
		}
		m.ForgetNulls(c.refused)
		b := NewBuilder(p, len(c.def), 1<<20)
		_, err = b.Append(m, nil, slices.Clone(c.def), len(c.def))
		if !errors.Is(err, c.err) {
			t.Fatalf("%v: error %v", c.def, err)
		}
		if err != nil {
			continue
		}
		cols, err := b.Finish()
		if err != nil || cols[0].Nulls != c.outer || cols[1].Nulls != c.values || cols[1].N != len(c.def) {
			t.Errorf("%v: %+v, error %v", c.def, cols, err)
		}
	}
}

// An empty list at the end of a piece does not go on in the next one.
func TestContradictionAcrossPieces(t *testing.T) {
	p := Path{list, item}
	m, err := NewMeaning(p, []pb.PageLayout_Layer{avItem, eList})
	if err != nil {
		t.Fatal(err)
	}
	b := NewBuilder(p, 2, 1<<20)
	if _, err := b.Append(m, []uint16{1}, []uint16{1}, 1); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Append(m, []uint16{0}, []uint16{0}, 1); !errors.Is(err, column.ErrCorrupt) {
		t.Fatalf("taken: %v", err)
	}
}

func TestFixedSizeListCutShort(t *testing.T) {
	p := Path{{Kind: FixedSizeList, Dim: 3}, item}
	m, err := NewMeaning(p, []pb.PageLayout_Layer{nItem, avItem})
	if err != nil {
		t.Fatal(err)
	}
	b := NewBuilder(p, 2, 1<<20)
	if _, err := b.Append(m, nil, []uint16{0, 1, 0, 0}, 4); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Finish(); !errors.Is(err, column.ErrCorrupt) {
		t.Fatalf("taken: %v", err)
	}
}

func TestLimit(t *testing.T) {
	p := Path{list, item}
	m, err := NewMeaning(p, []pb.PageLayout_Layer{nItem, neList})
	if err != nil {
		t.Fatal(err)
	}
	rep := slices.Repeat([]uint16{1}, 1000)
	b := NewBuilder(p, 1<<40, 100)
	if _, err := b.Append(m, rep, make([]uint16, 1000), 1000); !errors.Is(err, column.ErrLimit) {
		t.Fatalf("taken: %v", err)
	}
}

// More items than 32-bit offsets reach, most of which were taken before.
func TestManyItems(t *testing.T) {
	for _, large := range []bool{false, true} {
		p := Path{{Kind: List, Large: large}, item}
		m, err := NewMeaning(p, []pb.PageLayout_Layer{avItem, avList})
		if err != nil {
			t.Fatal(err)
		}
		b := NewBuilder(p, 1, 1<<40)
		b.nodes[1].valid.n, b.slots[0] = math.MaxInt32-5, math.MaxInt32-5
		if _, err := b.Append(m, []uint16{1, 0, 0, 1, 0}, nil, 5); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Append(m, []uint16{1}, nil, 1); large != (err == nil) || !large && !errors.Is(err, column.ErrLimit) {
			t.Fatalf("large %v: %v", large, err)
		}
	}
}

func BenchmarkUnravel(b *testing.B) {
	const n = 1 << 13
	for name, c := range map[string]struct {
		path   Path
		layers []pb.PageLayout_Layer
	}{
		"nullable":         {Path{item}, []pb.PageLayout_Layer{nItem}},
		"list":             {Path{list, item}, []pb.PageLayout_Layer{avItem, avList}},
		"list of nullable": {Path{list, item}, []pb.PageLayout_Layer{nItem, neList}},
		"list of structs":  {Path{list, item, item}, []pb.PageLayout_Layer{nItem, nItem, neList}},
		"list of lists":    {Path{list, list, item}, []pb.PageLayout_Layer{nItem, neList, neList}},
	} {
		b.Run(name, func(b *testing.B) {
			m, err := NewMeaning(c.path, c.layers)
			if err != nil {
				b.Fatal(err)
			}
			rep, def := make([]uint16, n), make([]uint16, n)
			r, d := make([]uint16, n), make([]uint16, n)
			for i := range rep {
				if m.MaxRep > 0 && i%5 == 0 {
					rep[i] = m.MaxRep
				}
				if m.MaxDef > 0 && i%3 == 0 && i%5 != 4 {
					def[i] = min(1, m.MaxDef)
				}
			}
			b.SetBytes(2 * n)
			b.ReportAllocs()
			for b.Loop() {
				copy(r, rep)
				copy(d, def)
				x, y := r, d
				if m.MaxRep == 0 {
					x = nil
				}
				if m.MaxDef == 0 {
					y = nil
				}
				u := NewBuilder(c.path, n, 1<<30)
				if _, err := u.Append(m, x, y, n); err != nil {
					b.Fatal(err)
				}
				if _, err := u.Finish(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
