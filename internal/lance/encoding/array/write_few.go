package array

import (
	"bytes"
	"hash/maphash"
	"sync"

	"github.com/apache/arrow-go/v18/arrow/bitutil"

	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// fewRows is from how many rows on a dictionary is tried, and how many different strings are too many
// for it, as for Lance. All its releases that write 2.0 read such keys of 8 bits, and no wider ones.
const fewRows = 100

// seedOf is the seed of hashes that nothing written depends on.
var seedOf = sync.OnceValue(maphash.MakeSeed)

// fewTable numbers different strings, in the order in which they come first.
type fewTable struct {
	seed   maphash.Seed
	slots  [256]uint8 // number of an item, from 1 on
	hashes [fewRows]uint64
	items  [fewRows][]byte
	n      int
}

// number returns the number of a string, from 1 on; 0 when there are too many.
func (t *fewTable) number(s []byte) uint8 {
	h := maphash.Bytes(t.seed, s)
	slot := uint8(h)
	for ; t.slots[slot] != 0; slot++ {
		i := t.slots[slot] - 1
		if t.hashes[i] == h && bytes.Equal(t.items[i], s) {
			return i + 1
		}
	}
	if t.n+1 >= fewRows {
		return 0
	}
	t.hashes[t.n], t.items[t.n] = h, s
	t.n++
	t.slots[slot] = uint8(t.n)
	return uint8(t.n)
}

// fewStrings encodes strings as a dictionary; nil when that does not suit them.
func (w *pageWriter) fewStrings(in []piece) *pb.ArrayEncoding {
	if countRows(in) < fewRows {
		return nil
	}
	t := &fewTable{seed: seedOf()}
	at := len(w.keys)
	for _, p := range in {
		from := len(w.keys)
		w.keys = grown(w.keys, p.n)
		if t.keys(w.keys[from:], p) < p.n {
			w.keys = w.keys[:at]
			return nil
		}
	}
	return w.few(t, w.keys[at:])
}

func dictionaryOf(keys, items *pb.ArrayEncoding, n int) *pb.ArrayEncoding {
	return &pb.ArrayEncoding{Encoding: &pb.ArrayEncoding_Dictionary_{Dictionary: &pb.ArrayEncoding_Dictionary{
		Keys: keys, Items: items, NumItems: uint32(n),
	}}}
}

// keys writes the keys of strings and returns how many it wrote: fewer when there are too many different ones.
func (t *fewTable) keys(dst []byte, p piece) int {
	if p.n == 0 {
		return 0
	}
	offsets := offsetsOf(p.data).off32[p.from : p.from+p.n+1]
	var text []byte
	if b := p.data.Buffers()[2]; b != nil {
		text = b.Bytes()
	}
	valid := p.valid()
	for i := range dst {
		if valid != nil && !bitutil.BitIsSet(valid, p.from+i) {
			dst[i] = 0
			continue
		}
		k := t.number(text[offsets[i]:offsets[i+1]])
		if k == 0 {
			return i
		}
		dst[i] = k
	}
	return p.n
}
