package level

import "math/bits"

// bitmap is a growing validity bitmap. It has no bytes until the first value that may be
// null arrives.
type bitmap struct {
	b     []byte
	n     int
	nulls int
	// reserve is how many values to make room for at once.
	reserve int
}

// grow makes room for n more bits; b is present after it.
func (m *bitmap) grow(n int) {
	if m.b == nil {
		m.b = make([]byte, (m.n+7)/8, (max(m.n+n, m.reserve)+7)/8)
		fill(m.b, 0, m.n)
	}
	if need := (m.n + n + 7) / 8; need > cap(m.b) {
		b := make([]byte, len(m.b), max(need, 2*cap(m.b)))
		copy(b, m.b)
		m.b = b
	}
}

// fill sets bits [from, to).
func fill(b []byte, from, to int) {
	for from < to && from&7 != 0 {
		b[from>>3] |= 1 << (from & 7)
		from++
	}
	for ; from+8 <= to; from += 8 {
		b[from>>3] = 0xFF
	}
	for ; from < to; from++ {
		b[from>>3] |= 1 << (from & 7)
	}
}

// ones appends n valid values.
func (m *bitmap) ones(n int) {
	if m.b != nil && n > 0 {
		m.grow(n)
		was := len(m.b)
		m.b = m.b[:(m.n+n+7)/8]
		clear(m.b[was:])
		fill(m.b, m.n, m.n+n)
	}
	m.n += n
}

// all appends a value for each of the definition levels: a valid one when it is below
// null.
func (m *bitmap) all(def []uint16, null uint16) {
	m.grow(len(def))
	w := m.writer()
	th := uint32(null)
	// The sign bits of the differences: no branches, as levels tend to be irregular.
	for ; w.k&7 != 0 && len(def) > 0; def = def[1:] {
		w.acc |= uint64((uint32(def[0])-th)>>31) << w.k
		w.k++
	}
	if w.k == 8 {
		w.out = append(w.out, byte(w.acc))
		w.set += bits.OnesCount64(w.acc)
		w.acc, w.k = 0, 0
	}
	for ; len(def) >= 8; def = def[8:] {
		d := (*[8]uint16)(def)
		x := (uint32(d[0])-th)>>31 | (uint32(d[1])-th)>>31<<1 | (uint32(d[2])-th)>>31<<2 | (uint32(d[3])-th)>>31<<3 |
			(uint32(d[4])-th)>>31<<4 | (uint32(d[5])-th)>>31<<5 | (uint32(d[6])-th)>>31<<6 | (uint32(d[7])-th)>>31<<7
		w.out = append(w.out, byte(x))
		w.set += bits.OnesCount8(byte(x))
	}
	for i, d := range def {
		w.acc |= uint64((uint32(d)-th)>>31) << (w.k + uint(i))
	}
	w.k += uint(len(def))
	w.end(m)
}

// levels appends a value for each of the definition levels that is at most reach: a valid one
// when it is below null.
func (m *bitmap) levels(def []uint16, null, reach uint16) {
	m.grow(len(def))
	w := m.writer()
	th, top := uint32(null), uint32(reach)
	acc, k := w.acc, w.k
	for _, d := range def {
		acc |= uint64((uint32(d)-th)>>31) << (k & 63)
		k += uint(1 - (top-uint32(d))>>31)
		if k == 64 {
			w.acc = acc
			w.flush()
			acc, k = 0, 0
		}
	}
	w.acc, w.k = acc, k
	w.end(m)
}

// steps is levels for nodes of which each value has step slots; seen is how many slots
// there were before.
func (m *bitmap) steps(def []uint16, null, reach uint16, step, seen int) {
	m.grow(len(def))
	w := m.writer()
	for _, d := range def {
		if d > reach {
			continue
		}
		if seen%step == 0 {
			if d < null {
				w.acc |= 1 << w.k
			}
			if w.k++; w.k == 64 {
				w.flush()
			}
		}
		seen++
	}
	w.end(m)
}

// lists appends a value for each of the definition levels that is at most reach: a valid
// one when it is below null or is empty.
func (m *bitmap) lists(def []uint16, null, empty, reach uint16) {
	m.grow(len(def))
	w := m.writer()
	for _, d := range def {
		if d > reach {
			continue
		}
		if d < null || d == empty {
			w.acc |= 1 << w.k
		}
		if w.k++; w.k == 64 {
			w.flush()
		}
	}
	w.end(m)
}

// bitWriter appends bits to a bitmap that has room for them.
type bitWriter struct {
	out []byte
	acc uint64
	k   uint
	set int
}

func (m *bitmap) writer() bitWriter {
	w := bitWriter{out: m.b[:m.n>>3], k: uint(m.n & 7)}
	if w.k > 0 {
		w.acc = uint64(m.b[m.n>>3])
		w.set = -bits.OnesCount64(w.acc)
	}
	return w
}

func (w *bitWriter) flush() {
	a := w.acc
	w.out = append(w.out, byte(a), byte(a>>8), byte(a>>16), byte(a>>24), byte(a>>32), byte(a>>40), byte(a>>48), byte(a>>56))
	w.set += bits.OnesCount64(a)
	w.acc, w.k = 0, 0
}

func (w *bitWriter) end(m *bitmap) {
	n := 8*len(w.out) + int(w.k)
	w.set += bits.OnesCount64(w.acc)
	for k := int(w.k); k > 0; k -= 8 {
		w.out = append(w.out, byte(w.acc))
		w.acc >>= 8
	}
	m.nulls += n - m.n - w.set
	m.b, m.n = w.out, n
}
