package layout

import (
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/block"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/slab"
)

// keepSpace is memory that rows of a page are taken to. Nothing of it is in the page that comes out.
type keepSpace struct {
	levels     sink // working space for those of a chunk
	space      *[2 * maxLevels]uint16
	reps, defs []uint16
	memory     slab.Arena // what new chunks are made of
}

// borrow gets memory for what is taken.
func (k *miniKeeper) borrow() {
	k.space = scratch.Get().(*[2 * maxLevels]uint16)
	k.levels.rep, k.levels.def = k.space[:maxLevels:maxLevels], k.space[maxLevels:]
	k.taken, k.whole = k.stored.New(k.limit), k.stored.New(k.limit)
}

// giveBack gives it back.
func (k *miniKeeper) giveBack() {
	scratch.Put(k.space)
	k.memory.Free()
	slab.Put(k.reps)
	slab.Put(k.defs)
	for _, v := range []*block.Values{k.taken, k.whole} {
		slab.Put(v.Data)
		slab.Put(v.Offsets)
	}
}

// share is the part of something of the whole page that the rows which are not copied have, about.
func (k *miniKeeper) share(of int) int {
	return int(float64(of) * float64(k.rows-min(k.copied, k.rows)) / float64(k.starts))
}

// reserve makes room for what will be taken, judging by the page.
func (k *miniKeeper) reserve() {
	n := int64(k.share(int(min(k.items, 1<<31))))
	v := k.taken
	switch v.Kind {
	case block.Fixed:
		if want := (n*int64(v.Bits)+7)/8 + 8; want > int64(cap(v.Data)) && want <= v.Limit {
			slab.Put(v.Data)
			v.Data = slab.Get[byte](int(want))
		}
	case block.Variable:
		if want := n + n/64 + 2; want > int64(cap(v.Offsets)) && 8*want <= v.Limit {
			slab.Put(v.Offsets)
			v.Offsets = append(slab.Get[int64](int(want)), 0)
		}
		if want := int64(k.share(len(k.bytes))); want > int64(cap(v.Data)) && want <= v.Limit-8*n {
			slab.Put(v.Data)
			v.Data = slab.Get[byte](int(want))
		}
	}
}

// append appends levels. What there is not enough room in is given back.
func (k *miniKeeper) append(dst, levels []uint16) []uint16 {
	if n := len(levels); n > cap(dst)-len(dst) {
		// Slots are values, mostly.
		dst = slab.Grow(dst, max(n, len(dst), min(k.share(int(min(k.items, 1<<31))), int(min(k.limit/4, 1<<31)))-len(dst)))
	}
	return append(dst, levels...)
}
