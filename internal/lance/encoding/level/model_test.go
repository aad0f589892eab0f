package level

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// model shreds random values to levels, and keeps what they should become again.
type model struct {
	rnd    *rand.Rand
	path   Path
	layers []pb.PageLayout_Layer // innermost first
	m      *Meaning
	rep    []uint16
	def    []uint16
	want   []wantColumn
}

type wantColumn struct {
	valid   []bool
	offsets []int64
}

func (g *model) layer(at int) pb.PageLayout_Layer { return g.layers[len(g.path)-1-at] }

func (g *model) nullable(at int) bool {
	n, _, _, _ := levels(g.layer(at))
	return n
}

func (g *model) emptyable(at int) bool {
	_, e, _, _ := levels(g.layer(at))
	return e
}

// level is the definition level of a null, or an empty list, at a node.
func (g *model) level(at int, empty bool) uint16 {
	d := uint16(0)
	for i := len(g.path) - 1; i > at; i-- {
		if g.nullable(i) {
			d++
		}
		if g.emptyable(i) {
			d++
		}
	}
	if empty && g.nullable(at) {
		return d + 2
	}
	return d + 1
}

// rank is which repetition level starts a list of the node.
func (g *model) rank(at int) uint16 {
	r := uint16(0)
	for _, n := range g.path[at:] {
		if n.Kind == List {
			r++
		}
	}
	return r
}

func (g *model) slot(rep, def uint16) {
	g.rep, g.def = append(g.rep, rep), append(g.def, def)
}

// null makes the node and all below it, down to the next list, null.
func (g *model) null(at int, rep, def uint16) {
	g.want[at].valid = append(g.want[at].valid, false)
	switch {
	case g.path[at].Kind == List:
		g.want[at].offsets = append(g.want[at].offsets, int64(len(g.want[at+1].valid)))
		g.slot(rep, def)
	case at == len(g.path)-1:
		g.slot(rep, def)
	case g.path[at].Kind == FixedSizeList:
		for range g.path[at].Dim {
			g.null(at+1, rep, def)
		}
	default:
		g.null(at+1, rep, def)
	}
}

// value makes a random value of the node.
func (g *model) value(at int, rep uint16) {
	if g.nullable(at) && g.rnd.IntN(4) == 0 {
		g.null(at, rep, g.level(at, false))
		return
	}
	g.want[at].valid = append(g.want[at].valid, true)
	switch {
	case at == len(g.path)-1:
		g.slot(rep, 0)
	case g.path[at].Kind == Item:
		g.value(at+1, rep)
	case g.path[at].Kind == FixedSizeList:
		for range g.path[at].Dim {
			g.value(at+1, rep)
		}
	default:
		g.want[at].offsets = append(g.want[at].offsets, int64(len(g.want[at+1].valid)))
		if g.emptyable(at) && g.rnd.IntN(3) == 0 {
			g.slot(rep, g.level(at, true))
			return
		}
		g.value(at+1, rep)
		for range g.rnd.IntN(4) {
			g.value(at+1, g.rank(at)-1)
		}
	}
}

// page starts slots of a page with random layers.
func (g *model) page(t testing.TB) {
	g.layers = nil
	for at := len(g.path) - 1; at >= 0; at-- {
		kinds := []pb.PageLayout_Layer{pb.PageLayout_ALL_VALID_ITEM, pb.PageLayout_NULLABLE_ITEM}
		if g.path[at].Kind == List {
			kinds = []pb.PageLayout_Layer{pb.PageLayout_ALL_VALID_LIST, pb.PageLayout_NULLABLE_LIST, pb.PageLayout_EMPTYABLE_LIST, pb.PageLayout_NULL_AND_EMPTY_LIST}
		}
		g.layers = append(g.layers, kinds[g.rnd.IntN(len(kinds))])
	}
	var err error
	if g.m, err = NewMeaning(g.path, g.layers); err != nil {
		t.Fatal(err)
	}
	g.rep, g.def = nil, nil
}

func randomPath(rnd *rand.Rand) Path {
	var p Path
	for range rnd.IntN(5) {
		n := Node{Kind: Kind(1 + rnd.IntN(3)), Large: rnd.IntN(3) == 0}
		if n.Kind == FixedSizeList {
			if p.lists() > 0 {
				n.Kind = Item
			} else {
				n.Dim = 1 + rnd.IntN(3)
			}
		}
		p = append(p, n)
	}
	return append(p, Node{Kind: Item})
}

// unravel takes the slots of a page in random pieces.
func (g *model) unravel(t testing.TB, b *Builder) {
	visible := 0
	for _, d := range g.def {
		if d <= g.m.MaxVisible {
			visible++
		}
	}
	got := 0
	for from := 0; from < len(g.def); {
		to := from + 1 + g.rnd.IntN(len(g.def)-from)
		var rep, def []uint16
		if g.m.MaxRep > 0 {
			rep = slices.Clone(g.rep[from:to])
		}
		if g.m.MaxDef > 0 || g.rnd.IntN(2) == 0 {
			def = slices.Clone(g.def[from:to])
		}
		n, err := b.Append(g.m, rep, def, to-from)
		if err != nil {
			t.Fatalf("%v of %v: %v", g.path, g.layers, err)
		}
		got += n
		from = to
	}
	if got != visible {
		t.Fatalf("%v of %v: %d values, want %d", g.path, g.layers, got, visible)
	}
}

func (g *model) compare(t testing.TB, got []Column) {
	for at, w := range g.want {
		c := got[at]
		if c.N != len(w.valid) {
			t.Fatalf("%v, node %d: %d entries, want %d", g.path, at, c.N, len(w.valid))
		}
		nulls := 0
		for i, v := range w.valid {
			if !v {
				nulls++
			}
			if has := c.Valid == nil || c.Valid[i>>3]>>(i&7)&1 != 0; has != v {
				t.Fatalf("%v, node %d, entry %d: valid %v, want %v", g.path, at, i, has, v)
			}
		}
		if nulls != c.Nulls || (nulls == 0) != (c.Valid == nil) {
			t.Fatalf("%v, node %d: %d nulls, want %d", g.path, at, c.Nulls, nulls)
		}
		if g.path[at].Kind != List {
			continue
		}
		off := c.Offsets64
		for _, o := range c.Offsets32 {
			off = append(off, int64(o))
		}
		if want := append(w.offsets, int64(len(g.want[at+1].valid))); !slices.Equal(off, want) {
			t.Fatalf("%v, node %d: offsets %v, want %v", g.path, at, off, want)
		}
	}
}

// round makes pages of random values for a random path and unravels them.
func round(t testing.TB, seed uint64) {
	rnd := rand.New(rand.NewPCG(seed, 1))
	g := &model{rnd: rnd, path: randomPath(rnd)}
	if err := g.path.Check(); err != nil {
		t.Fatal(err)
	}
	g.want = make([]wantColumn, len(g.path))
	b := NewBuilder(g.path, 100, 1<<30)
	for range 1 + rnd.IntN(3) {
		g.page(t)
		rows := rnd.IntN(200)
		for range rows {
			g.value(0, g.rank(0))
		}
		g.unravel(t, b)
	}
	if b.Rows() != len(g.want[0].valid) {
		t.Fatalf("%d rows, want %d", b.Rows(), len(g.want[0].valid))
	}
	got, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	g.compare(t, got)
}

func TestRandomNesting(t *testing.T) {
	for seed := range uint64(3000) {
		round(t, seed)
	}
}

func FuzzUnravel(f *testing.F) {
	f.Add([]byte{1, 2, 3}, uint64(7), []byte{1, 0, 0, 0, 1, 1, 0, 0})
	f.Fuzz(func(t *testing.T, layers []byte, seed uint64, data []byte) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		p := randomPath(rnd)
		var ls []pb.PageLayout_Layer
		for _, l := range layers {
			ls = append(ls, pb.PageLayout_Layer(l%8))
		}
		m, err := NewMeaning(p, ls)
		if err != nil {
			g := &model{rnd: rnd, path: p}
			g.page(t)
			m = g.m
		}
		const limit = 1 << 16
		b := NewBuilder(p, len(data), limit)
		for len(data) > 0 {
			n := min(len(data), 1+rnd.IntN(40))
			rep, def := make([]uint16, n), make([]uint16, n)
			for i, x := range data[:n] {
				rep[i], def[i] = uint16(x>>4), uint16(x&15)
			}
			if m.MaxRep == 0 {
				rep = nil
			}
			if m.MaxDef == 0 {
				def = nil
			}
			data = data[n:]
			if _, err := b.Append(m, rep, def, n); err != nil {
				return
			}
		}
		got, err := b.Finish()
		if err != nil {
			return
		}
		// Whatever was accepted is well-formed.
		for at, c := range got {
			if c.Nulls > 0 && len(c.Valid) != (c.N+7)/8 {
				t.Fatalf("bitmap of %d bytes for %d", len(c.Valid), c.N)
			}
			if p[at].Kind != List {
				continue
			}
			off := c.Offsets64
			for _, o := range c.Offsets32 {
				off = append(off, int64(o))
			}
			if len(off) != c.N+1 || off[0] != 0 || !slices.IsSorted(off) || off[c.N] != int64(got[at+1].N) {
				t.Fatalf("offsets %v for %d lists of %d items", off, c.N, got[at+1].N)
			}
		}
	})
}

func TestBitmapAppends(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		var m bitmap
		var want []bool
		for range rnd.IntN(6) {
			n := rnd.IntN(200)
			if rnd.IntN(2) == 0 {
				m.ones(n)
				for range n {
					want = append(want, true)
				}
				continue
			}
			def := make([]uint16, n)
			for i := range def {
				def[i] = uint16(rnd.IntN(4))
				if def[i] <= 2 {
					want = append(want, def[i] < 1)
				}
			}
			m.levels(def, 1, 2)
			m.all(def, 2)
			for _, d := range def {
				want = append(want, d < 2)
			}
		}
		packed := make([]byte, (len(want)+7)/8)
		nulls := 0
		for i, w := range want {
			if w {
				packed[i>>3] |= 1 << (i & 7)
			} else {
				nulls++
			}
		}
		if m.n != len(want) || m.nulls != nulls || m.b != nil && !bytes.Equal(m.b, packed) {
			t.Fatalf("%d values, %d nulls, %x; want %d, %d, %x", m.n, m.nulls, m.b, len(want), nulls, packed)
		}
	}
}
