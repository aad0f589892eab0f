package fsst

import (
	"encoding/binary"
	"fmt"
	"slices"
	"sync"
)

const (
	// MaxStrings is how many stored bytes AppendStrings takes at once.
	MaxStrings = 1 << 20
	// inside marks the place between an escape and its byte, where no string ends.
	inside = 1<<32 - 1
)

// places are where the output was after each stored byte.
var places = sync.Pool{New: func() any { return new([]uint32) }}

// AppendStrings decodes many strings, stored one behind the other, behind dst. ends are where
// they end in src, in ascending order and none beyond it, and become where they end in dst. dst grows by as much
// as the strings could need, MaxSymbol times len(src), which may be MaxStrings at most.
func (t *Table) AppendStrings(dst, src []byte, ends []int64) ([]byte, error) {
	base := int64(len(dst))
	if !t.compressed {
		for i := range ends {
			ends[i] += base
		}
		return append(dst, src...), nil
	}
	// All codes are decoded first, as if they were one string: where strings end
	// hardly any branch can be predicted when they are short.
	scratch := places.Get().(*[]uint32)
	defer places.Put(scratch)
	*scratch = slices.Grow((*scratch)[:0], len(src)+1)
	at := (*scratch)[:len(src)+1]
	if need := MaxSymbol*len(src) + window; need > cap(dst)-len(dst) {
		dst = slices.Grow(dst, max(need, min(len(dst), 64<<20)))
	}
	n, err := t.trace(dst[len(dst):cap(dst)], src, at)
	if err != nil {
		return dst, err
	}
	for i, end := range ends {
		p := at[end]
		if p == inside {
			return dst, fmt.Errorf("%w: string ends with an escape", ErrCorrupt)
		}
		ends[i] = base + int64(p)
	}
	return dst[:len(dst)+n], nil
}

// trace decodes src into out, which has room for a word for each code and a window, and
// notes in at how much there was before each code, and at the end.
func (t *Table) trace(out, src []byte, at []uint32) (int, error) {
	codes, le := &t.codes, binary.LittleEndian
	n := uint64(0)
	at = at[:len(src)+1]
	for i := 0; i < len(src); {
		for i+4 <= len(src) {
			s, to := src[i:i+4:i+4], at[i:i+4:i+4]
			c0, c1, c2, c3 := &codes[s[0]], &codes[s[1]], &codes[s[2]], &codes[s[3]]
			if (c0.length-1)|(c1.length-1)|(c2.length-1)|(c3.length-1) > MaxSymbol-1 {
				break
			}
			w := (*[window]byte)(out[n:])
			to[0] = uint32(n)
			le.PutUint64(w[:8], c0.symbol)
			p := c0.length
			to[1] = uint32(n + p)
			le.PutUint64(w[p&15:][:8], c1.symbol)
			p += c1.length
			to[2] = uint32(n + p)
			le.PutUint64(w[p&31:][:8], c2.symbol)
			p += c2.length
			to[3] = uint32(n + p)
			le.PutUint64(w[p&31:][:8], c3.symbol)
			n += p + c3.length
			i += 4
		}
		if i == len(src) {
			break
		}
		at[i] = uint32(n)
		c := &codes[src[i]]
		switch {
		case c.length-1 < MaxSymbol:
			le.PutUint64(out[n:], c.symbol)
			n += c.length
			i++
		case c.length == 0:
			return 0, fmt.Errorf("%w: no symbol has code %d", ErrCorrupt, src[i])
		case i+1 == len(src):
			return 0, fmt.Errorf("%w: string ends with an escape", ErrCorrupt)
		default:
			out[n] = src[i+1]
			at[i+1] = inside
			n++
			i += 2
		}
	}
	at[len(src)] = uint32(n)
	return int(n), nil
}
