package block

import (
	"encoding/binary"
	"math"
	"sort"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/fsst"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/slab"
)

const (
	// aimStrings is the size of a chunk of values of varying length that is not passed.
	aimStrings = 4 << 10
	// Below minFSST bytes a symbol table does not pay, and neither does it when no value is as long as minSymbols.
	minFSST    = 32 << 10
	minSymbols = 5
	// worthwhile is the ratio above which strings are left as they are.
	worthwhile = 0.98
)

// offsetBits is the width of offsets into so many bytes, 0 when there is none.
func (o EncodeOptions) offsetBits(bytes int64) (int, error) {
	switch o.OffsetBits {
	case 0, 32:
		if bytes > math.MaxInt32 {
			return 0, unsupported("%d bytes in a page with offsets of 32 bits", bytes)
		}
		return 32, nil
	case 64:
		return 64, nil
	}
	return 0, unsupported("offsets of %d bits", o.OffsetBits)
}

// longest is the length of the longest value.
func (v *Values) longest() int64 {
	most := int64(0)
	for i := 1; i < len(v.Offsets); i++ {
		most = max(most, v.Offsets[i]-v.Offsets[i-1])
	}
	return most
}

// stringBytes is the bytes of all values.
func (v *Values) stringBytes() int64 { return v.Offsets[v.N] - v.Offsets[0] }

// symbolsFor makes a symbol table for strings, nil when it would be of no use.
func symbolsFor(v *Values, o EncodeOptions) *fsst.Encoder {
	least := int64(minFSST)
	if o.Compression == "fsst" {
		least = 2 * fsst.TableSize
	}
	if o.Compression == "none" || v.stringBytes() < least || v.longest() < minSymbols {
		return nil
	}
	e := fsst.Train(v.Data, v.Offsets)
	if e == nil || e.Ratio()+float64(fsst.TableSize)/float64(v.stringBytes()) > worthwhile {
		return nil
	}
	return e
}

func stringChunks(v *Values, o EncodeOptions) (*Chunks, error) {
	bits, err := o.offsetBits(v.stringBytes())
	if err != nil {
		return nil, err
	}
	e := symbolsFor(v, o)
	plain := func(v *Values, mem *slab.Arena) (*Chunks, error) { return cutStrings(v, bits/8, o.ChunkBytes, mem) }
	short := func(v *Values, mem *slab.Arena) (*Chunks, error) {
		c, short, err := cutShortened(v, e, bits/8, o.ChunkBytes, mem)
		if err != nil || !short {
			return plain(v, mem) // the sample was not like the rest
		}
		return c, nil
	}
	scheme, compress := o.scheme()
	then := func(w way) way {
		return func(v *Values, mem *slab.Arena) (*Chunks, error) {
			c, err := w(v, mem)
			if err != nil {
				return nil, err
			}
			return compressChunks(c, scheme, o.Level, mem)
		}
	}
	switch {
	case !compress && e == nil:
		return plain(v, o.Memory)
	case !compress:
		return short(v, o.Memory)
	case e == nil:
		return then(plain)(v, o.Memory)
	}
	// Symbols hide repetitions, so that the two don't add up.
	w, err := best(sampleStrings(v), o.Memory, then(plain), short, then(short))
	if err != nil {
		return nil, err
	}
	return w(v, o.Memory)
}

// best is the way that makes the smallest chunks; a later one has to save a hundredth.
func best(sample *Values, mem *slab.Arena, ways ...way) (way, error) {
	least, found := int64(0), way(nil)
	for _, w := range ways {
		c, err := w(sample, mem)
		if err != nil {
			return nil, err
		}
		if cost := c.cost(); found == nil || cost < least-least/100 {
			found, least = w, cost
		}
	}
	return found, nil
}

// sampleStrings takes some strings that stand together at some places.
func sampleStrings(v *Values) *Values {
	const parts, each = 4, 16 << 10
	if v.stringBytes() <= 2*parts*each {
		return v
	}
	s := stringShape.empty(0)
	for i := range int64(parts) {
		at := sort.Search(v.N-1, func(k int) bool { return v.Offsets[k]-v.Offsets[0] >= v.stringBytes()/parts*i })
		for n := int64(0); n < each && at < v.N; at++ {
			value := v.Data[v.Offsets[at]:v.Offsets[at+1]]
			s.Data = append(s.Data, value...)
			s.Offsets = append(s.Offsets, int64(len(s.Data)))
			s.N++
			n += int64(len(value))
		}
	}
	return s
}

// cutStrings makes chunks of strings, each with its own offsets.
func cutStrings(v *Values, bytes, aim int, mem *slab.Arena) (*Chunks, error) {
	aim = aimOf(aim)
	c := &Chunks{Encoding: variableEnc(8 * bytes)}
	total := int(v.stringBytes()) + v.N*bytes
	out := mem.Bytes(total + total/64 + 64)
	for at := 0; at < v.N; {
		n := v.inside(at, bytes, aim)
		have := len(out)
		out = v.appendStrings(out, at, n, bytes)
		if size := len(out) - have; size > maxWide+bytes {
			return nil, tooWide(size / n)
		}
		c.add(n, len(out)-have)
		at += n
	}
	c.Buffers = [][]byte{out}
	return c, nil
}

// aimOf is the size of a chunk of strings that is not passed, when one of these bytes is wished for.
func aimOf(wish int) int {
	if wish <= 0 {
		wish = aimStrings
	}
	return min(wish, maxWide)
}

// inside is how many strings from at on make a chunk: all that are left, or a power of two, at least 2.
func (v *Values) inside(at, bytes, aim int) int {
	size := func(n int) int { return int(v.Offsets[at+n]-v.Offsets[at]) + (n+1)*bytes }
	left := v.N - at
	if left <= MaxChunkValues && size(left) <= aim {
		return left
	}
	n := 2
	for 2*n <= min(left, MaxChunkValues) && size(2*n) <= aim {
		n *= 2
	}
	return min(n, left)
}

// appendStrings appends n strings behind their offsets, padded to the size of an offset.
func (v *Values) appendStrings(dst []byte, at, n, bytes int) []byte {
	start := v.Offsets[at]
	have := len(dst)
	head := int64((n + 1) * bytes)
	dst, b := extend(dst, int(head))
	le := binary.LittleEndian
	offsets := v.Offsets[at : at+n+1]
	if bytes == 4 {
		for i, o := range offsets {
			le.PutUint32(b[4*i:4*i+4], uint32(o-start+head))
		}
	} else {
		for i, o := range offsets {
			le.PutUint64(b[8*i:8*i+8], uint64(o-start+head))
		}
	}
	dst = append(dst, v.Data[start:offsets[n]]...)
	for (len(dst)-have)%bytes != 0 {
		dst = append(dst, 0)
	}
	return dst
}
