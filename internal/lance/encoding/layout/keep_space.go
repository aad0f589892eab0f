package layout

import (
	"sync"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/block"
)

// keepSpace is memory that rows of a page are taken to. Nothing of it is in the page that comes out.
type keepSpace struct {
	levels     sink // working space for those of a chunk
	reps, defs []uint16
	stores     [2][]byte
	offsets    [2][]int64
}

// maxKeepSpace is the most memory that is kept for the next page.
const maxKeepSpace = 16 << 20

var keepSpaces = sync.Pool{New: func() any {
	s := new(keepSpace)
	s.levels.rep, s.levels.def = make([]uint16, maxLevels), make([]uint16, maxLevels)
	return s
}}

// borrow gets memory for what is taken.
func (k *miniKeeper) borrow() {
	k.keepSpace = keepSpaces.Get().(*keepSpace)
	k.taken, k.whole = k.stored.New(k.limit), k.stored.New(k.limit)
	for i, v := range []*block.Values{k.taken, k.whole} {
		switch v.Kind {
		case block.Fixed:
			v.Data = k.stores[i][:0]
		case block.Variable:
			v.Data, v.Offsets = k.stores[i][:0], append(k.offsets[i][:0], 0)
		}
	}
	k.reps, k.defs = k.reps[:0], k.defs[:0]
}

// giveBack keeps the memory for the next page.
func (k *miniKeeper) giveBack() {
	s := k.keepSpace
	size := 2 * (cap(s.reps) + cap(s.defs))
	for i, v := range []*block.Values{k.taken, k.whole} {
		switch v.Kind {
		case block.Fixed:
			s.stores[i] = v.Data[:0]
		case block.Variable:
			s.stores[i], s.offsets[i] = v.Data[:0], v.Offsets[:0]
		}
		size += cap(s.stores[i]) + 8*cap(s.offsets[i])
	}
	if size <= maxKeepSpace {
		keepSpaces.Put(s)
	}
}

// share is the part of something of the whole page that the rows which are not copied have, about.
func (k *miniKeeper) share(of int) int {
	return int(float64(of) * float64(k.rows-min(k.copied, k.rows)) / float64(k.starts))
}

// reserve makes room for what will be taken, judging by the page.
func (k *miniKeeper) reserve() {
	n := k.share(int(min(k.items, 1<<31)))
	v := k.taken
	switch v.Kind {
	case block.Fixed:
		v.Data = room(v.Data, (int64(n)*int64(v.Bits)+7)/8+8, v.Limit)
	case block.Variable:
		if want := int64(n) + 2; want > int64(cap(v.Offsets)) && 8*want <= v.Limit {
			v.Offsets = append(make([]int64, 0, want+want/64), v.Offsets...)
		}
		v.Data = room(v.Data, int64(k.share(len(k.bytes))), v.Limit-8*int64(n))
	}
}
