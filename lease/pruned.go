package lease

// pruneFrom is how large a map may grow before it is pruned the first time.
const pruneFrom = 64

// pruned is a map that forgets what is not used when it has doubled since it
// did so last, and then really gets smaller: the survivors go into a new map,
// as Go's keeps the room of its largest size. The zero value is empty.
type pruned[K comparable, V any] struct {
	m map[K]*V
	// next is the size at which it is pruned.
	next int
}

// get returns the value of a key, a new one if there is none. Values for which
// used is false may be forgotten by any call.
func (p *pruned[K, V]) get(k K, used func(*V) bool) *V {
	if v, ok := p.m[k]; ok {
		return v
	}
	if len(p.m) >= p.next {
		kept := make(map[K]*V)
		for k, v := range p.m {
			if used(v) {
				kept[k] = v
			}
		}
		p.m, p.next = kept, max(pruneFrom, 2*len(kept))
	}
	v := new(V)
	p.m[k] = v
	return v
}
