package block

import (
	"encoding/binary"
	"hash/maphash"
	"math/bits"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/bitpack"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/slab"
)

const (
	// minDict is the fewest values for which a dictionary is looked for.
	minDict = 100
	// dictRatio is the largest size of a dictionary with its indices, for each byte otherwise.
	dictRatio = 0.8
	// dictCost is what a buffer more in a page, and a read more of it, count for.
	dictCost = 512
	// symbolRatio is what is expected of a symbol table where one can be.
	symbolRatio = 0.6
	// maxDict is the most entries of a dictionary.
	maxDict = 1 << 20
	// probes is how many values are looked at to find out that hardly any comes twice.
	probes = 2048
)

func buildDictionary(v *Values, o EncodeOptions) (dict, indices *Values, ok bool) {
	if v.N < minDict || v.checkWhole() != nil || o.DictRatio < 0 {
		return nil, nil, false
	}
	d := dictionary{v: v, most: maxDict, wide: 32, memory: o.Memory}
	if o.DictDivisor > 0 {
		d.most = min(d.most, v.N/o.DictDivisor)
	}
	switch {
	case v.Kind == Variable:
		offset := int64(4) // or a length
		if o.OffsetBits == 64 {
			offset, d.wide = 8, 64
		}
		d.each = offset
		plain := float64(v.stringBytes())
		if o.DictRatio == 0 && o.Compression != "none" && v.stringBytes() >= minFSST && v.longest() >= minSymbols {
			plain *= symbolRatio
		}
		d.budget(plain+float64(offset*int64(v.N)), o)
	case v.Kind == Fixed && (v.Bits == 128 || v.Bits == 64 && o.Minor >= 2):
		d.each = int64(v.Bits / 8)
		plain := float64(v.N) * float64(d.each)
		if v.Bits == 64 && !o.FullZip {
			plain = float64(costOf(v, o))
		}
		d.budget(plain, o)
	default:
		return nil, nil, false
	}
	if d.most < 1 || d.unlikely() || !d.build() {
		return nil, nil, false
	}
	return d.words(), &Values{Kind: Fixed, Bits: d.wide, N: v.N, Data: d.indices}, true
}

// dictionary is one that is being built: distinct values by the place where they come first.
type dictionary struct {
	v    *Values
	each int64 // bytes of an entry beside the bytes of a string
	most int   // entries
	wide int   // bits of an index

	left   float64 // bytes that the dictionary and its indices may have
	packed bool    // whether indices count with the bits that they need

	memory  *slab.Arena
	seed    maphash.Seed
	table   []uint32 // entry+1, by hash
	first   []uint32 // of each entry, the value
	indices []byte
	last    uint32 // entry of the value before
	runs    int
}

// budget notes what the dictionary may cost when the values cost so many bytes without one.
func (d *dictionary) budget(plain float64, o EncodeOptions) {
	ratio := o.DictRatio
	if ratio == 0 {
		ratio, d.packed = dictRatio, o.Compression != "none"
	}
	d.left = plain*ratio - dictCost
	if !d.packed {
		d.left -= float64(d.wide/8) * float64(d.v.N)
	}
}

// value is the bytes of value i.
func (d *dictionary) value(i int) []byte {
	if d.v.Kind == Variable {
		return d.v.Data[d.v.Offsets[i]:d.v.Offsets[i+1]]
	}
	b := d.v.Bits / 8
	return d.v.Data[i*b : (i+1)*b]
}

// unlikely tells whether hardly any of some values comes twice among them.
func (d *dictionary) unlikely() bool {
	if d.v.N < 4*probes {
		return false
	}
	d.seed = maphash.MakeSeed()
	seen, same, looked := make(map[uint64]struct{}, probes), 0, 0
	for i := range probes {
		// Steps of a fixed length would fall into step with values that come again at such.
		at := int((uint64(i)*uint64(d.v.N) + uint64(i)*0x9e3779b97f4a7c15>>40%uint64(d.v.N)) / probes % uint64(d.v.N))
		value := d.value(at)
		if len(value) == 0 {
			continue // as nulls are
		}
		h := maphash.Bytes(d.seed, value)
		if _, ok := seen[h]; ok {
			same++
		}
		seen[h] = struct{}{}
		looked++
	}
	if looked < probes/2 {
		return false // what repeats is that there is nothing
	}
	// With half as many distinct values as there are values, looked·probes/N pairs are expected to be the same.
	return float64(same) < float64(looked*probes)/float64(d.v.N)
}

// build fills the dictionary, and tells whether it is small enough.
func (d *dictionary) build() bool {
	n := d.v.N
	d.seed = maphash.MakeSeed()
	d.table = make([]uint32, 1024)
	d.indices = d.memory.Bytes(n * d.wide / 8)
	le := binary.LittleEndian
	spent := 0.0
	for i := range n {
		value := d.value(i)
		if i == 0 || string(value) != string(d.value(i-1)) {
			entry, fresh := d.find(value, uint32(i))
			if fresh {
				spent += float64(d.each)
				if d.v.Kind == Variable {
					spent += float64(len(value))
				}
				if len(d.first) > d.most || spent > d.left {
					return false
				}
			}
			d.last = entry
			d.runs++
		}
		if d.wide == 32 {
			d.indices = le.AppendUint32(d.indices, d.last)
		} else {
			d.indices = le.AppendUint64(d.indices, uint64(d.last))
		}
	}
	if d.packed {
		width := max(bits.Len(uint(len(d.first)-1)), 1)
		spent += min(float64(n)*float64(width)/8+float64(n/bitpack.Block+1)*(chunkCost+4), float64((d.runs+n/255)*(d.wide/8+1)))
	}
	return spent <= d.left
}

// find looks a value up, and enters it when it is not there.
func (d *dictionary) find(value []byte, i uint32) (entry uint32, fresh bool) {
	mask := uint64(len(d.table) - 1)
	h := maphash.Bytes(d.seed, value)
	for ; ; h++ {
		e := d.table[h&mask]
		if e == 0 {
			break
		}
		if string(d.value(int(d.first[e-1]))) == string(value) {
			return e - 1, false
		}
	}
	d.first = append(d.first, i)
	entry = uint32(len(d.first) - 1)
	d.table[h&mask] = entry + 1
	if len(d.first)*2 > len(d.table) {
		d.grow()
	}
	return entry, true
}

// grow makes the table larger.
func (d *dictionary) grow() {
	d.table = make([]uint32, 4*len(d.table))
	mask := uint64(len(d.table) - 1)
	for e, i := range d.first {
		h := maphash.Bytes(d.seed, d.value(int(i)))
		for d.table[h&mask] != 0 {
			h++
		}
		d.table[h&mask] = uint32(e + 1)
	}
}

// words is the distinct values.
func (d *dictionary) words() *Values {
	w := &Values{Kind: d.v.Kind, Bits: d.v.Bits, N: len(d.first)}
	if d.v.Kind == Variable {
		w.Offsets = make([]int64, 1, w.N+1)
	}
	for _, i := range d.first {
		w.Data = append(w.Data, d.value(int(i))...)
		if d.v.Kind == Variable {
			w.Offsets = append(w.Offsets, int64(len(w.Data)))
		}
	}
	return w
}
