package level

import (
	"fmt"
	"math"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
)

// Column is what a Builder made of one node.
type Column struct {
	N     int
	Nulls int
	// Valid is a bitmap of N values; nil when none is null.
	Valid []byte
	// Offsets32 and Offsets64 have N+1 positions in the node below: one of them for a
	// list, none for other nodes.
	Offsets32 []int32
	Offsets64 []int64
}

// Builder collects slots. It is not safe for concurrent use.
type Builder struct {
	path  Path
	limit int64
	nodes []growing
	// slots counts those with an entry in each segment.
	slots []int
	// open is the innermost segment in which the last slot had an entry.
	open    uint16
	started bool
}

type growing struct {
	valid bitmap
	off32 []int32
	off64 []int64
}

// NewBuilder makes a builder for a path that passed Check. Its result takes at most
// limit bytes; rows is how many are expected.
func NewBuilder(p Path, rows int, limit int64) *Builder {
	b := &Builder{path: p, limit: limit, nodes: make([]growing, len(p)), slots: make([]int, p.lists()+1)}
	rows = int(max(min(int64(rows), limit/8), 0)) // no more room than may be used
	for i, n := range p {
		g := &b.nodes[i]
		g.valid.reserve = rows
		switch {
		case n.Kind == List && n.Large:
			g.off64 = make([]int64, 0, rows+1)
		case n.Kind == List:
			g.off32 = make([]int32, 0, rows+1)
		}
		if n.Kind == List || n.Kind == FixedSizeList && n.Dim > 1 {
			break // how many entries the nodes below have is not known
		}
	}
	return b
}

// Rows is how many rows were begun.
func (b *Builder) Rows() int { return b.nodes[0].valid.n }

// Size is how many bytes the result takes so far.
func (b *Builder) Size() int64 {
	var n int64
	for i := range b.nodes {
		g := &b.nodes[i]
		n += int64(len(g.valid.b)) + 4*int64(len(g.off32)) + 8*int64(len(g.off64))
	}
	return n
}

func corrupt(format string, args ...any) error {
	return fmt.Errorf("%w: %s", column.ErrCorrupt, fmt.Sprintf(format, args...))
}

// Append takes slots. rep is nil where the path has no lists, def where the page has no
// definition levels; slots is how many there are. Both are used as working space. It returns how many
// of the slots have a place among the values.
func (b *Builder) Append(m *Meaning, rep, def []uint16, slots int) (visible int, err error) {
	if (m.MaxRep > 0) != (rep != nil) || rep != nil && len(rep) != slots {
		return 0, corrupt("%d repetition levels for %d slots of a path with %d lists", len(rep), slots, m.MaxRep)
	}
	if def != nil && len(def) != slots || def == nil && m.MaxDef > 0 {
		return 0, corrupt("%d definition levels for %d slots, the highest %d", len(def), slots, m.MaxDef)
	}
	if slots == 0 {
		return 0, nil
	}
	if b.Size()+b.atMost(slots, def != nil) > b.limit {
		return 0, fmt.Errorf("%w: %d more levels", column.ErrLimit, slots)
	}
	if err := b.check(m, rep, def); err != nil {
		return 0, err
	}
	visible = slots
	if def != nil && m.MaxVisible < m.MaxDef {
		visible = Count(def, m.MaxVisible)
	}
	for at := len(b.path) - 1; at >= 0; at-- {
		if b.path[at].Kind == List {
			if rep, def, err = b.list(m, at, rep, def); err != nil {
				return 0, err
			}
			continue
		}
		b.item(m, at, def, slotsOf(rep, slots))
	}
	// The innermost node of a segment has an entry for each slot.
	for at, s := len(b.path)-1, 0; at >= 0; at-- {
		if b.path[at].Kind == List {
			s++
		} else if at < len(b.path)-1 {
			continue
		}
		b.slots[s] = b.nodes[at].valid.n
	}
	return visible, nil
}

// slotsOf is how many slots are left: their repetition levels tell, where there are any.
func slotsOf(rep []uint16, slots int) int {
	if rep != nil {
		return len(rep)
	}
	return slots
}

// atMost is how many bytes the result may grow by.
func (b *Builder) atMost(slots int, def bool) int64 {
	var n int64
	for _, node := range b.path {
		if def {
			n += int64(slots)/8 + 1
		}
		switch {
		case node.Kind == List && node.Large:
			n += 8 * int64(slots)
		case node.Kind == List:
			n += 4 * int64(slots)
		}
	}
	return n
}

// item appends to a struct, a value or a fixed-size list. slots holds those from which
// the node's segment is reached.
func (b *Builder) item(m *Meaning, at int, def []uint16, slots int) {
	n, v := &m.nodes[at], &b.nodes[at].valid
	reach := m.reach[n.segment]
	switch seen := b.slots[n.segment]; {
	case def != nil && n.null <= reach && n.stride == 1 && reach == m.MaxDef:
		v.all(def, n.null)
	case def != nil && n.null <= reach && n.stride == 1:
		v.levels(def, n.null, reach)
	case def != nil && n.null <= reach:
		v.steps(def, n.null, reach, n.stride, seen)
	case def != nil && reach < m.MaxDef:
		slots = Count(def, reach)
		fallthrough
	default:
		v.ones((seen+slots+n.stride-1)/n.stride - (seen+n.stride-1)/n.stride)
	}
}

// list appends to a list, and drops the slots that start nothing in the nodes above
// it.
func (b *Builder) list(m *Meaning, at int, rep, def []uint16) ([]uint16, []uint16, error) {
	n, g := &m.nodes[at], &b.nodes[at]
	below := b.slots[n.segment-1]
	if b.path[at].Large {
		g.off64, rep, def = offsets(g.off64, m, n.segment, below, rep, def)
	} else {
		if below+len(rep) > math.MaxInt32 {
			return nil, nil, fmt.Errorf("%w: 32-bit offsets of %d items", column.ErrLimit, below+len(rep))
		}
		g.off32, rep, def = offsets(g.off32, m, n.segment, below, rep, def)
	}
	reach := m.reach[n.segment]
	switch {
	case def != nil && n.null <= reach && (n.null != n.empty || n.empty < reach):
		g.valid.lists(def, n.null, n.empty, reach)
	case def != nil && reach < m.MaxDef:
		g.valid.ones(Count(def, reach))
	default:
		g.valid.ones(len(rep))
	}
	return rep, def, nil
}

// offsets appends the position of each new list of the segment. below is how many slots had an
// entry in the node below before.
func offsets[T int32 | int64](off []T, m *Meaning, segment, below int, rep, def []uint16) ([]T, []uint16, []uint16) {
	s, kept := uint16(segment), 0
	if def == nil {
		for i, r := range rep {
			if r >= s {
				off = append(off, T(below+i))
				rep[kept] = r
				kept++
			}
		}
		return off, rep[:kept], nil
	}
	def = def[:len(rep)]
	reach, inner := uint32(m.reach[segment]), uint32(m.reach[segment-1])
	for i, r := range rep {
		d := def[i]
		if r >= s {
			if uint32(d) <= reach {
				off = append(off, T(below))
			}
			rep[kept], def[kept] = r, d
			kept++
		}
		below += int(1 - (inner-uint32(d))>>31)
	}
	return off, rep[:kept], def[:kept]
}

// Finish ends the lists and returns a column for each node.
func (b *Builder) Finish() ([]Column, error) {
	out := make([]Column, len(b.path))
	items := 0 // of the node below
	for at := len(b.path) - 1; at >= 0; at-- {
		g := &b.nodes[at]
		c := &out[at]
		c.N, c.Nulls = g.valid.n, g.valid.nulls
		if c.Nulls > 0 {
			c.Valid = g.valid.b
		}
		switch b.path[at].Kind {
		case List:
			if b.path[at].Large {
				c.Offsets64 = append(g.off64, int64(items))
			} else {
				c.Offsets32 = append(g.off32, int32(items))
			}
		case FixedSizeList:
			if c.N*b.path[at].Dim != items {
				return nil, corrupt("%d items for %d fixed-size lists of %d", items, c.N, b.path[at].Dim)
			}
		}
		items = c.N
	}
	return out, nil
}
