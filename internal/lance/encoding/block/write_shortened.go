package block

import (
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/fsst"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/slab"
)

// windowBytes is about how many bytes of strings are compressed at a time, so that they stay in the processor's cache until
// they are in their chunks.
const windowBytes = 32 << 10

// cutShortened makes the chunks that cutStrings makes of strings compressed with a symbol table. short is false
// when the strings don't become shorter.
func cutShortened(v *Values, e *fsst.Encoder, bytes, aim int, mem *slab.Arena) (c *Chunks, short bool, err error) {
	aim = aimOf(aim)
	c = &Chunks{Encoding: fsstEnc(e.Table(), variableEnc(8*bytes))}
	total := int(float64(v.stringBytes())*e.Ratio()) + v.N*bytes
	out := mem.Bytes(total + total/16 + 64)
	w := window{Values: Values{Kind: Variable, Offsets: make([]int64, 1, MaxChunkValues)}}
	before := int64(0)
	for w.read < v.N || w.at < w.N {
		// Enough is there when the chunk takes either all that is left, or less than what is there.
		for w.read < v.N && (w.N-w.at < 2 || w.N-w.at < MaxChunkValues && w.size(w.at, w.N, bytes) <= aim) {
			before += w.fill(v, e)
		}
		n := w.inside(w.at, bytes, aim)
		have := len(out)
		out = w.appendStrings(out, w.at, n, bytes)
		if size := len(out) - have; size > maxWide+bytes {
			return nil, false, tooWide(size / n)
		}
		c.add(n, len(out)-have)
		w.at += n
	}
	c.Buffers = [][]byte{out}
	return c, before < v.stringBytes(), nil
}

// window is some of many strings, compressed.
type window struct {
	Values
	at   int // first one that is in no chunk yet
	read int // how many were compressed in all
}

// size is that of a chunk of strings [from, to).
func (w *window) size(from, to, bytes int) int {
	return int(w.Offsets[to]-w.Offsets[from]) + (to-from+1)*bytes
}

// fill compresses some more strings, and returns how many bytes they are.
func (w *window) fill(v *Values, e *fsst.Encoder) int64 {
	if w.at > 0 {
		start := w.Offsets[w.at]
		w.Data = append(w.Data[:0], w.Data[start:]...)
		w.Offsets = append(w.Offsets[:0], w.Offsets[w.at:]...)
		for i := range w.Offsets {
			w.Offsets[i] -= start
		}
		w.N, w.at = w.N-w.at, 0
	}
	end := w.read + 1
	for end < v.N && end-w.read < MaxChunkValues && v.Offsets[end]-v.Offsets[w.read] < windowBytes {
		end++
	}
	n, had := end-w.read, int64(len(w.Data))
	ends := w.extendOffsets(n)
	first := w.Offsets[w.N : w.N+n+1]
	w.Data = e.AppendStrings(w.Data, v.Data, v.Offsets[w.read:end+1], first)
	first[0] = had
	for i := range ends {
		ends[i] += had
	}
	w.N, w.read = w.N+n, end
	return int64(len(w.Data)) - had
}
