package fsst

// slots is how many places there are for symbols of three and more bytes: one for all that begin alike.
const (
	slots    = 1 << slotBits
	slotBits = 11
)

// index finds the longest symbol that strings begin with. Codes are those of a trainer.
type index struct {
	short [1 << 16]uint16 // by two bytes: code, length in the upper bits
	long  [slots]entry    // by three
	ones  [256]uint16     // codes of single bytes
	twos  []uint16        // which of short have a symbol of two bytes
}

type entry struct {
	value, mask uint64
	code        uint16
	length      uint16 // 0: none
}

func slot(w uint64) uint64 { return (w & 0xffffff) * 0x9E3779B97F4A7C15 >> (64 - slotBits) }

func (x *index) clear() {
	clear(x.long[:])
	for i := range x.ones {
		x.ones[i] = uint16(i)
	}
	for _, i := range x.twos {
		x.short[i] = 0
	}
	x.twos = x.twos[:0]
}

// add enters a symbol, and tells whether there was a place.
func (x *index) add(s symbol, i int) bool {
	code := uint16(pseudo + i)
	switch s.length {
	case 1:
		x.ones[s.value] = code
	case 2:
		x.short[s.value] = code
		x.twos = append(x.twos, uint16(s.value))
	default:
		e := &x.long[slot(s.value)]
		if e.length != 0 {
			return false
		}
		*e = entry{s.value, ^uint64(0) >> (64 - 8*s.length), code, uint16(s.length)}
	}
	return true
}

func (x *index) build(symbols []symbol) {
	x.clear()
	for i, s := range symbols {
		x.add(s, i)
	}
}

// longest is the code, and its length, for a string of left bytes that begins with w.
func (x *index) longest(w uint64, left int) (code, length int) {
	if e := &x.long[slot(w)]; w&e.mask == e.value && e.length != 0 && int(e.length) <= left {
		return int(e.code), int(e.length)
	}
	if c := x.short[w&0xffff]; c != 0 && left >= 2 {
		return int(c), 2
	}
	return int(x.ones[w&0xff]), 1
}

// The upper bits of an index's codes, once it is finished.
const (
	lengthShift = 12
	escaped     = 1 << 8 // the byte stands for itself, behind an escape
	codeMask    = 1<<8 - 1
)

// finish makes an index what compress needs: each pair of bytes has the code of the
// symbol of both, of the first, or an escape.
func (x *index) finish() {
	for b := range x.ones {
		c := uint16(escape | escaped)
		if x.ones[b] >= pseudo {
			c = x.ones[b] - pseudo
		}
		x.ones[b] = c | 1<<lengthShift
	}
	for i := range x.short {
		if c := x.short[i]; c != 0 {
			x.short[i] = c - pseudo | 2<<lengthShift
		} else {
			x.short[i] = x.ones[i&0xff]
		}
	}
	for i := range x.long {
		e := &x.long[i]
		if e.length == 0 {
			e.value, e.mask = 1, 0 // which no string begins with
			continue
		}
		e.code = e.code - pseudo | e.length<<lengthShift
	}
}
