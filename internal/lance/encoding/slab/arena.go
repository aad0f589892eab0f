package slab

// Arena has slabs that are given back together. It is not safe for concurrent use. A nil Arena lends memory that
// is collected as any other.
type Arena struct {
	bytes   [][]byte
	offsets [][]int64
}

// Bytes is Get of bytes, given back by Free.
func (a *Arena) Bytes(n int) []byte {
	if a == nil {
		return make([]byte, 0, n)
	}
	b := Get[byte](n)
	a.bytes = append(a.bytes, b)
	return b
}

// Offsets is Get of n offsets, all there with any value, given back by Free.
func (a *Arena) Offsets(n int) []int64 {
	if a == nil {
		return make([]int64, n)
	}
	b := Get[int64](n)[:n]
	a.offsets = append(a.offsets, b)
	return b
}

// Free gives everything back. Nobody may use it any more.
func (a *Arena) Free() {
	for _, b := range a.bytes {
		Put(b)
	}
	for _, b := range a.offsets {
		Put(b)
	}
	clear(a.bytes)
	clear(a.offsets)
	a.bytes, a.offsets = a.bytes[:0], a.offsets[:0]
}
