package block

import (
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/bitpack"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/slab"
)

// chunkCost is what a chunk costs beside its values: its word, its header, its padding.
const chunkCost = 14

// maxWide is the most that the values of a chunk may take.
const maxWide = 16 << 10

func encodeChunks(v *Values, o EncodeOptions) (*Chunks, error) {
	if err := v.checkWhole(); err != nil {
		return nil, err
	}
	if v.N == 0 {
		return nil, unsupported("a page without values")
	}
	switch v.Kind {
	case Fixed:
		return fixedChunks(v, o)
	case Variable:
		return stringChunks(v, o)
	case List:
		return listChunks(v)
	}
	return packedChunks(v)
}

// checkWhole tells whether a block has all that its number of values needs.
func (v *Values) checkWhole() error {
	switch v.Kind {
	case Fixed:
		if v.Bits != 1 && (v.Bits <= 0 || v.Bits%8 != 0) {
			return unsupported("values of %s", v.shape())
		}
		if len(v.Data) < (v.N*v.Bits+7)/8 {
			return corrupt("%d bytes for %d values of %d bits", len(v.Data), v.N, v.Bits)
		}
		return nil
	case Variable:
		if len(v.Offsets) != v.N+1 || v.Offsets[0] < 0 || v.Offsets[v.N] < v.Offsets[0] || v.Offsets[v.N] > int64(len(v.Data)) {
			return corrupt("%d offsets into %d bytes for %d values", len(v.Offsets), len(v.Data), v.N)
		}
		return nil
	case List:
		if v.Dim <= 0 || v.Items == nil || v.Items.N != v.N*v.Dim || v.Valid != nil && len(v.Valid) < (v.Items.N+7)/8 {
			return corrupt("%d lists of %d items", v.N, v.Dim)
		}
		return v.Items.checkWhole()
	case Struct:
		for i, f := range v.Fields {
			if f.N != v.N {
				return corrupt("%d values of field %d in %d structs", f.N, i, v.N)
			}
			if err := f.checkWhole(); err != nil {
				return err
			}
		}
		if len(v.Fields) > 0 {
			return nil
		}
	}
	return unsupported("values of %s", v.shape())
}

// cost is the size of all chunks on disk.
func (c *Chunks) cost() int64 {
	n := chunkCost * int64(len(c.Counts))
	for _, b := range c.Buffers {
		n += int64(len(b))
	}
	return n
}

// way is one way to encode fixed-width values.
type way func(v *Values, mem *slab.Arena) (*Chunks, error)

func fixedChunks(v *Values, o EncodeOptions) (*Chunks, error) {
	scheme, compress := o.scheme()
	if o.Compression == "none" || v.Bits != 8 && v.Bits != 16 && v.Bits != 32 && v.Bits != 64 {
		c, err := flatChunks(v, o.Memory)
		if err != nil || !compress {
			return c, err
		}
		return compressChunks(c, scheme, o.Level, o.Memory)
	}
	if !compress {
		return cheapest(v, o)(v, o.Memory)
	}
	// What compresses best can only be told by compressing.
	ways := []way{flatChunks}
	if splittable := v.Bits == 32 || v.Bits == 64; splittable && o.BSS >= 1 {
		ways = []way{splitChunks}
	} else {
		if splittable && o.BSS > 0 {
			ways = append(ways, splitChunks)
		}
		ways = append(ways, cheapest(v, o))
	}
	then := func(w way) way {
		return func(v *Values, mem *slab.Arena) (*Chunks, error) {
			c, err := w(v, mem)
			if err != nil {
				return nil, err
			}
			return compressChunks(c, scheme, o.Level, mem)
		}
	}
	for i, w := range ways {
		ways[i] = then(w)
	}
	if len(ways) == 1 {
		return ways[0](v, o.Memory)
	}
	w, err := best(sample(v), o.Memory, ways...)
	if err != nil {
		return nil, err
	}
	return w(v, o.Memory)
}

// cheapest chooses among the ways without general compression.
func cheapest(v *Values, o EncodeOptions) way {
	w, _ := cheapestOf(v, o)
	return w
}

// costOf is the size of values of 8 to 64 bits in chunks.
func costOf(v *Values, o EncodeOptions) int64 {
	_, cost := cheapestOf(v, o)
	return cost
}

func cheapestOf(v *Values, o EncodeOptions) (way, int64) {
	bytes := v.Bits / 8
	n := int64(v.N)
	flat := n*int64(bytes) + chunkCost*(n/int64(powerBelow(MaxChunkBytes/bytes))+1)
	packed := int64(0)
	for at := 0; at < v.N; at += bitpack.Block {
		packed += int64(bytes+bitpack.Size(bitpack.Width(v.Data[at*bytes:min(at+bitpack.Block, v.N)*bytes], v.Bits))) + chunkCost
	}
	runs := countRuns(v)
	length := (int64(runs) + n/255) * int64(bytes+1)
	length += chunkCost * max(n/int64(MaxChunkValues)+1, length/MaxChunkBytes)
	few := o.RLEThreshold == 0 || float64(runs) < o.RLEThreshold*float64(n)
	switch {
	case o.Compression == "none":
		return flatChunks, flat
	case few && length < min(flat, packed):
		return runChunks, length
	case packed < flat:
		return inlineChunks, packed
	}
	return flatChunks, flat
}

// powerBelow is the largest power of two that is at most n and MaxChunkValues.
func powerBelow(n int) int {
	p := 1
	for 2*p <= min(n, MaxChunkValues) {
		p *= 2
	}
	return p
}

// sample takes some values out of a block of fixed width, in runs long enough for whole chunks.
func sample(v *Values) *Values {
	const parts, each = 4, 4096
	if v.N <= parts*each {
		return v
	}
	s := &Values{Kind: Fixed, Bits: v.Bits, N: parts * each, Data: make([]byte, 0, parts*each*v.Bits/8)}
	for i := range parts {
		at := (v.N - each) / (parts - 1) * i
		s.Data = append(s.Data, v.Data[at*v.Bits/8:(at+each)*v.Bits/8]...)
	}
	return s
}
