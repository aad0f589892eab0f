package layout

import (
	"encoding/binary"
	"fmt"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/block"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/level"
)

// read decodes the chunks that hold the rows.
func (m *miniBlock) read(from, to uint64, bufs [][]byte, out *sink) error {
	from, to = from*m.stride, to*m.stride
	a, b := m.chunks(from, to)
	dst, err := m.target(out)
	if err != nil {
		return err
	}
	base, had := m.pos[a], dst.N
	buffers := make([][]byte, m.values.Buffers())
	for c := a; c < b; c++ {
		data := bufs[0][m.pos[c]-base : m.pos[c+1]-base]
		if err := m.chunk(c, data, buffers, from, to, out, dst); err != nil {
			return fmt.Errorf("mini-block chunk %d: %w", c, err)
		}
		if c == a {
			items := m.first[b] - m.first[a]
			if m.rep == nil {
				items = to - from
			}
			extrapolate(dst, had+int(min(items, 1<<31)))
		}
	}
	switch {
	case out.dict != nil:
		err = out.dict.add(out.values, m.words, dst)
	case m.dict != nil:
		if err = block.AppendTaken(out.values, m.words, dst, 0, dst.N); err != nil {
			err = fmt.Errorf("dictionary: %w", err)
		}
	}
	if err != nil {
		return err
	}
	return out.took(0)
}

// target is the block that chunks are decoded to: that of the result, or one for
// indices into the page's dictionary, or for values that are to become such.
func (m *miniBlock) target(out *sink) (*block.Values, error) {
	shape := m.values.New(out.left())
	if m.dict != nil && out.values == nil {
		return nil, corrupt("values in a column whose type has none")
	}
	if m.dict != nil || out.dict != nil {
		return shape, nil
	}
	return out.values, out.fits(shape)
}

// chunk decodes one chunk, and appends what belongs to the starts [from, to).
func (m *miniBlock) chunk(c int, data []byte, buffers [][]byte, from, to uint64, out *sink, dst *block.Values) error {
	rep, def, err := m.split(data, buffers, out)
	if err != nil {
		return err
	}
	n := int(m.first[c+1] - m.first[c])
	var lo, hi, before int // slots, and values before them
	if m.rep == nil {
		lo, hi = 0, n
		if from > m.first[c] {
			lo = int(from - m.first[c])
		}
		if to < m.first[c+1] {
			hi = int(to - m.first[c])
		}
		before = lo
		if m.def != nil {
			if len(def) != n {
				return corrupt("%d definition levels for %d values", len(def), n)
			}
			def = def[lo:hi]
		}
	} else {
		if lo, hi, err = m.slots(c, rep, from, to); err != nil {
			return err
		}
		before = lo
		if m.def != nil {
			if len(def) != len(rep) {
				return corrupt("%d repetition and %d definition levels", len(rep), len(def))
			}
			before = level.Count(def[:lo], m.meaning.MaxVisible)
			if after := level.Count(def[lo:], m.meaning.MaxVisible); before+after != n {
				return corrupt("%d values for %d places", n, before+after)
			}
			def = def[lo:hi]
		} else if len(rep) != n {
			return corrupt("%d repetition levels for %d values", len(rep), n)
		}
		rep = rep[lo:hi]
	}
	taken, err := out.levels.Append(m.meaning, rep, def, hi-lo)
	if err != nil {
		return err
	}
	if err := out.update(); err != nil {
		return err
	}
	had := dst.N
	if err := m.values.Append(dst, buffers, n, before, before+taken); err != nil {
		return fmt.Errorf("values: %w", err)
	}
	if dst.N-had != taken {
		return corrupt("%d values for %d places", dst.N-had, taken)
	}
	out.count += taken
	return nil
}

// slots finds those that belong to the starts [from, to) of the page.
func (m *miniBlock) slots(c int, rep []uint16, from, to uint64) (lo, hi int, err error) {
	first, end, top := m.rows[c], m.rows[c+1], m.meaning.MaxRep
	starts := uint64(0)
	for _, r := range rep {
		if r == top {
			starts++
		}
	}
	if starts != end-first || len(rep) == 0 || (rep[0] != top) != m.partial[c] {
		return 0, 0, corrupt("%d rows start in it, the repetition index says %d", starts, end-first)
	}
	lo, hi = 0, len(rep)
	if from > first || from == first && m.partial[c] {
		lo = nth(rep, top, from-first)
	}
	if to < end {
		hi = nth(rep, top, to-first)
	}
	return lo, hi, nil
}

// nth is the position of the n-th start, counted from 0.
func nth(rep []uint16, top uint16, n uint64) int {
	for i, r := range rep {
		if r == top {
			if n == 0 {
				return i
			}
			n--
		}
	}
	return len(rep)
}

// split takes a chunk apart: the number of its levels and the sizes of what follows,
// then levels and buffers, each padded.
func (m *miniBlock) split(data []byte, buffers [][]byte, out *sink) (rep, def []uint16, err error) {
	header := 2
	if m.rep != nil {
		header += 2
	}
	if m.def != nil {
		header += 2
	}
	width := 2
	if m.wide {
		width = 4
	}
	sizes := header
	header += width * len(buffers)
	if header > len(data) {
		return nil, nil, corrupt("header of %d bytes in a chunk of %d", header, len(data))
	}
	le := binary.LittleEndian
	levels := int(le.Uint16(data))
	if levels > 0 && m.rep == nil && m.def == nil {
		return nil, nil, corrupt("%d levels in a page without", levels)
	}
	parts := padded{data, header}
	field := data[2:]
	if m.rep != nil {
		if rep, err = parts.levels(m.rep, le.Uint16(field), levels, out.rep); err != nil {
			return nil, nil, fmt.Errorf("repetition levels: %w", err)
		}
		field = field[2:]
	}
	if m.def != nil {
		if def, err = parts.levels(m.def, le.Uint16(field), levels, out.def); err != nil {
			return nil, nil, fmt.Errorf("definition levels: %w", err)
		}
	}
	for i := range buffers {
		size := uint32(0)
		if m.wide {
			size = le.Uint32(data[sizes+4*i:])
		} else {
			size = uint32(le.Uint16(data[sizes+2*i:]))
		}
		var ok bool
		if buffers[i], ok = parts.next(size); !ok {
			return nil, nil, corrupt("buffer %d of %d bytes in a chunk of %d", i, size, len(data))
		}
	}
	return rep, def, nil
}

// padded walks over what a chunk holds behind its header. It is no closure, which
// would be made anew for each chunk.
type padded struct {
	data []byte
	at   int
}

func (p *padded) next(size uint32) ([]byte, bool) {
	p.at = (p.at + alignment - 1) &^ (alignment - 1)
	if p.at > len(p.data) || int64(size) > int64(len(p.data)-p.at) {
		return nil, false
	}
	b := p.data[p.at : p.at+int(size) : p.at+int(size)]
	p.at += int(size)
	return b, true
}

// levels decodes n levels of size bytes to the working space.
func (p *padded) levels(w block.Whole, size uint16, n int, space []uint16) ([]uint16, error) {
	b, ok := p.next(uint32(size))
	if !ok {
		return nil, corrupt("%d bytes in a chunk of %d", size, len(p.data))
	}
	return decodeLevels(w, b, n, space)
}

// decodeLevels decodes n levels to the working space.
func decodeLevels(w block.Whole, data []byte, n int, space []uint16) ([]uint16, error) {
	if n > len(space) {
		return nil, corrupt("%d levels", n)
	}
	out, err := block.AppendLevels(space[:0], w, data, n, 2*maxLevels)
	if err != nil {
		return nil, err
	}
	if len(out) != n {
		return nil, corrupt("%d levels, %d expected", len(out), n)
	}
	return out, nil
}
