package fsst

import (
	"encoding/binary"
	"slices"
)

// Encoder compresses strings with a symbol table. It does not change, so that it may be used concurrently.
type Encoder struct {
	symbols []symbol
	index   index
	ratio   float64
}

// Ratio is the size of the sample that the table was made from, compressed, for each byte of it.
func (e *Encoder) Ratio() float64 { return e.ratio }

// Table is the stored table.
func (e *Encoder) Table() []byte {
	b := make([]byte, TableSize)
	b[0] = byte(len(e.symbols))
	b[3] = 1
	binary.LittleEndian.PutUint32(b[4:], magic)
	for i, s := range e.symbols {
		binary.LittleEndian.PutUint64(b[8+8*i:], s.value)
		b[8+8*len(e.symbols)+i] = byte(s.length)
	}
	return b
}

// Append appends one string, compressed.
func (e *Encoder) Append(dst, src []byte) []byte {
	dst = slices.Grow(dst, 2*len(src)+8)
	n := e.compress(dst[len(dst):cap(dst)], src, 0, len(src))
	return dst[:len(dst)+n]
}

// AppendStrings appends strings, data[offsets[0]:offsets[1]] and so on, each compressed by itself, and notes where
// they begin and end in what is appended: in ends, which has room for as many numbers as offsets.
func (e *Encoder) AppendStrings(dst, data []byte, offsets, ends []int64) []byte {
	base := len(dst)
	ends = ends[:len(offsets)]
	for i, start := range offsets[:max(len(offsets)-1, 0)] {
		ends[i] = int64(len(dst) - base)
		end := offsets[i+1]
		if need := 2*int(end-start) + 8; need > cap(dst)-len(dst) {
			dst = slices.Grow(dst, max(need, len(dst)/8))
		}
		n := e.compress(dst[len(dst):cap(dst)], data, int(start), int(end))
		dst = dst[:len(dst)+n]
	}
	if len(ends) > 0 {
		ends[len(ends)-1] = int64(len(dst) - base)
	}
	return dst
}

// twoStreams is the length from which on a string is compressed as two halves at the same time: what the one waits for, the
// other one uses. That costs a code in some, which the half of a symbol on either side of the middle takes.
const twoStreams = 192

// compress compresses data[i:end] into out, which has twice as many bytes and 8 more. It returns how many are used.
func (e *Encoder) compress(out, data []byte, i, end int) int {
	if end-i >= twoStreams {
		return e.halves(out, data, i, end)
	}
	return e.rest(out, data, i, end, 0)
}

// halves is compress in two streams.
func (e *Encoder) halves(out, data []byte, i, end int) int {
	x, le := &e.index, binary.LittleEndian
	middle := (i + end) / 2
	// The second half's codes lie behind all that the first may take.
	second := out[2*(middle-i)+4:]
	n, m, j := 0, 0, middle
	for i <= middle-8 && j <= end-8 {
		v, w := le.Uint64(data[i:i+8]), le.Uint64(data[j:j+8])
		s, t := &x.long[slot(v)], &x.long[slot(w)]
		c, long := x.short[v&0xffff], s.code
		d, other := x.short[w&0xffff], t.code
		if v&s.mask == s.value {
			c = long
		}
		if w&t.mask == t.value {
			d = other
		}
		o, p := out[n:n+2:n+2], second[m:m+2:m+2]
		o[0], o[1] = byte(c), byte(v) // the second counts behind an escape
		p[0], p[1] = byte(d), byte(w)
		n += 1 + int(c>>8&1)
		m += 1 + int(d>>8&1)
		i += int(c >> lengthShift)
		j += int(d >> lengthShift)
	}
	n = e.rest(out, data, i, middle, n)
	m = e.rest(second, data, j, end, m)
	return n + copy(out[n:], second[:m])
}

// rest is compress in one stream, behind n bytes of out.
func (e *Encoder) rest(out, data []byte, i, end, n int) int {
	x, le := &e.index, binary.LittleEndian
	for safe := min(end, len(data)) - 8; i <= safe; {
		w := le.Uint64(data[i : i+8])
		s := &x.long[slot(w)]
		c, long := x.short[w&0xffff], s.code
		if w&s.mask == s.value {
			c = long
		}
		o := out[n : n+2 : n+2]
		o[0], o[1] = byte(c), byte(w) // the second counts behind an escape
		n += 1 + int(c>>8&1)
		i += int(c >> lengthShift)
	}
	// What is left is less than a word.
	w := word(data, i, end)
	for left := uint16(end - i); left > 0; {
		s := &x.long[slot(w)]
		c, long := x.short[w&0xffff], s.code
		if c>>lengthShift > left {
			c = x.ones[w&0xff]
		}
		if w&s.mask == s.value && long>>lengthShift <= left {
			c = long
		}
		o := out[n : n+2 : n+2]
		o[0], o[1] = byte(c), byte(w)
		n += 1 + int(c>>8&1)
		left -= c >> lengthShift
		w >>= 8 * (c >> lengthShift) & 63
	}
	return n
}
