package layout

import (
	"sort"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/block"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// levelBuffer is a buffer of the levels of all of a page.
type levelBuffer struct {
	*block.Levels
	span datafile.Span
	kept []byte // all of it, if not nil
}

// openLevels is the buffer at a place among the page's; without a compression it is plain.
func openLevels(span datafile.Span, enc *pb.CompressiveEncoding, n uint64) (b levelBuffer, err error) {
	b.span = span
	var w block.Whole
	switch {
	case enc != nil:
		w, err = block.NewWhole(enc)
	case n == 0:
		n = span.Size / 2
	}
	if err == nil {
		b.Levels, err = block.NewLevels(w, n, span.Size)
	}
	return b, err
}

func (b levelBuffer) held() int64 {
	if b.Levels == nil {
		return 0
	}
	return b.Held() + int64(len(b.kept))
}

// part gets a part of the buffer.
func (b levelBuffer) part(get func(datafile.Span) ([]byte, error)) func(datafile.Span) ([]byte, error) {
	return func(s datafile.Span) ([]byte, error) {
		switch {
		case s.Size > b.span.Size || s.Pos > b.span.Size-s.Size:
			return nil, corrupt("levels at %d to %d of %d bytes", s.Pos, s.Pos+s.Size, b.span.Size)
		case b.kept != nil:
			return b.kept[s.Pos : s.Pos+s.Size], nil
		case s.Size == 0:
			return nil, nil
		}
		s.Pos += b.span.Pos
		return get(s)
	}
}

func (b levelBuffer) load(get func(datafile.Span) ([]byte, error), limit int64) error {
	return b.Levels.Load(b.part(get), limit)
}

// spans are those of levels [from, to) in the file.
func (b levelBuffer) spans(from, to int) []datafile.Span {
	s := b.Spans(from, to)
	for i := range s {
		s[i].Pos += b.span.Pos
	}
	return s
}

// levelWindow are levels of which the bytes are there.
type levelWindow struct {
	levelBuffer
	spans []datafile.Span // within the buffer
	bytes [][]byte
}

// window is levels [from, to), of which bytes are those that spans tells; what is left of these is returned.
func (b levelBuffer) window(from, to int, bytes [][]byte) (w levelWindow, rest [][]byte) {
	if b.kept != nil {
		return levelWindow{b, []datafile.Span{{Size: uint64(len(b.kept))}}, [][]byte{b.kept}}, bytes
	}
	w = levelWindow{levelBuffer: b, spans: b.Spans(from, to)}
	n := len(w.spans)
	w.bytes = bytes[:n]
	return w, bytes[n:]
}

// append decodes levels [from, to) of a window.
func (w *levelWindow) append(dst []uint16, from, to int) ([]uint16, error) {
	spans := w.Spans(from, to)
	parts := make([][]byte, len(spans))
	for i, s := range spans {
		j := min(i, len(w.spans)-1)
		have := w.spans[j]
		if s.Pos < have.Pos || s.Size > have.Size || s.Pos-have.Pos > have.Size-s.Size {
			return dst, corrupt("levels at %d to %d of %d to %d", s.Pos, s.Pos+s.Size, have.Pos, have.Pos+have.Size)
		}
		at := s.Pos - have.Pos
		parts[i] = w.bytes[j][at : at+s.Size]
	}
	return w.Append(dst, parts, from, to)
}

// surveyBytes is about how many bytes of levels are looked at at a time.
const surveyBytes = 1 << 20

// countRows counts the rows that start before each grain.
func (c *constant) countRows(get func(datafile.Span) ([]byte, error)) error {
	n := c.rep.N()
	// So many levels that their bytes are about as many as wanted.
	step := int(min(float64(n), float64(n)/float64(c.rep.span.Size+1)*surveyBytes)) + maxLevels
	step -= step % maxLevels
	space := scratch.Get().(*[2 * maxLevels]uint16)
	defer scratch.Put(space)
	c.rows = make([]uint64, 0, n/block.LevelGrain+1)
	starts := uint64(0)
	part := c.rep.part(get)
	for from := 0; from < n; from += step {
		to := min(from+step, n)
		var parts [][]byte
		if c.rep.kept == nil {
			for _, s := range c.rep.Spans(from, to) {
				b, err := part(s)
				if err != nil {
					return err
				}
				parts = append(parts, b)
			}
		}
		w, _ := c.rep.window(from, to, parts)
		for at := from; at < to; at += maxLevels {
			rep, err := w.append(space[:0], at, min(at+maxLevels, to))
			if err != nil {
				return err
			}
			for ; len(rep) > 0; rep = rep[min(len(rep), block.LevelGrain):] {
				c.rows = append(c.rows, starts)
				starts += count(rep[:min(len(rep), block.LevelGrain)], c.meaning.MaxRep)
			}
		}
	}
	if starts != c.starts {
		return corrupt("%d rows in those of a page of %d", starts, c.starts)
	}
	return nil
}

// count is how many levels start a row.
func count(rep []uint16, top uint16) uint64 {
	n := uint64(0)
	for _, r := range rep {
		if r == top {
			n++
		}
	}
	return n
}

// grain is that in which a start lies, of those that have a start in or before them.
func (c *constant) grain(start uint64) int {
	return max(sort.Search(len(c.rows), func(i int) bool { return c.rows[i] > start })-1, 0)
}

// grains are the levels [a, b) of whole grains in which those of starts [from, to) lie.
func (c *constant) grains(from, to uint64) (a, b int) {
	slots := max(c.rep.N(), c.def.N())
	if c.rep.N() == 0 {
		last := (to + block.LevelGrain - 1) / block.LevelGrain * block.LevelGrain
		return int(from / block.LevelGrain * block.LevelGrain), int(min(last, uint64(slots)))
	}
	b = slots
	if to < c.starts {
		b = min((c.grain(to)+1)*block.LevelGrain, slots)
	}
	return c.grain(from) * block.LevelGrain, b
}

// pieces gives the levels of starts [from, to) in pieces of at most maxLevels, decoded to the working space. bufs are the bytes that data asked for.
func (c *constant) pieces(from, to uint64, bufs [][]byte, repSpace, defSpace []uint16, fn func(rep, def []uint16, n int) error) error {
	if !c.levels || c.rep.N() == 0 && c.def.N() == 0 {
		for ; from < to; from += min(to-from, maxLevels) {
			if err := fn(nil, nil, int(min(to-from, maxLevels))); err != nil {
				return err
			}
		}
		return nil
	}
	a, b := c.grains(from, to)
	reps, bufs := c.rep.window(a, b, bufs)
	defs, _ := c.def.window(a, b, bufs)
	for at := a; at < b; at += maxLevels {
		end := min(at+maxLevels, b)
		lo, hi := 0, end-at
		var rep, def []uint16
		var err error
		if c.rep.N() == 0 {
			lo, hi = max(int(from)-at, 0), min(int(to)-at, hi)
		} else {
			if rep, err = reps.append(repSpace[:0], at, end); err != nil {
				return err
			}
			before := c.rows[at/block.LevelGrain]
			if at == a {
				lo = nth(rep, c.meaning.MaxRep, from-before)
			}
			if end == b {
				hi = nth(rep, c.meaning.MaxRep, to-before)
			}
			rep = rep[lo:hi]
		}
		if c.def.N() > 0 {
			if def, err = defs.append(defSpace[:0], at, end); err != nil {
				return err
			}
			def = def[lo:hi]
		}
		if lo < hi {
			if err := fn(rep, def, hi-lo); err != nil {
				return err
			}
		}
	}
	return nil
}
