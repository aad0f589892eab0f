package layout

import (
	"encoding/binary"
	"fmt"
	"sort"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/block"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// decoderBytes is what the decoders of a page take, roughly.
const decoderBytes = 8 << 10

// alignment of everything in a mini-block page.
const alignment = 8

// miniBlock is a page of chunks that are decoded whole: a table of their sizes,
// the chunks, a dictionary, and a repetition index that tells how many rows end in each.
type miniBlock struct {
	frame
	rep, def, dict block.Whole // nil when there is none
	values         block.Chunk
	dictItems      uint64
	items          uint64
	wide           bool
	depth          uint32

	// Once loaded: for each chunk, and one more, the position of its bytes, its first item
	// and the first row that starts in it.
	pos, first, rows []uint64
	// partial tells of each chunk, and one more, whether it begins within a row.
	partial []bool
	words   *block.Values // the dictionary
}

func newMiniBlock(f frame, l *pb.PageLayout_MiniBlock) (*miniBlock, error) {
	m := &miniBlock{frame: f, items: l.GetNumItems(), wide: l.GetHasLargeChunk(), depth: l.GetRepetitionIndexDepth(),
		dictItems: l.GetNumDictionaryItems()}
	var err error
	if m.meaning, err = f.meaningOf(l.GetLayers()); err != nil {
		return nil, err
	}
	whole := func(what string, e *pb.CompressiveEncoding) block.Whole {
		if e == nil || err != nil {
			return nil
		}
		var w block.Whole
		if w, err = block.NewWhole(e); err != nil {
			err = fmt.Errorf("%s: %w", what, err)
		}
		return w
	}
	m.rep = whole("repetition levels", l.GetRepCompression())
	m.def = whole("definition levels", l.GetDefCompression())
	m.dict = whole("dictionary", l.GetDictionary())
	if err != nil {
		return nil, err
	}
	if m.values, err = block.NewChunk(l.GetValueCompression()); err != nil {
		return nil, fmt.Errorf("values: %w", err)
	}
	if uint64(m.values.Buffers()) != l.GetNumBuffers() {
		return nil, corrupt("%d buffers in each chunk for an encoding with %d", l.GetNumBuffers(), m.values.Buffers())
	}
	want := 2
	if m.dict != nil {
		want++
	}
	if m.depth > 0 {
		want++
	}
	switch {
	case len(f.buffers) != want:
		return nil, corrupt("mini-block page of %d buffers, not %d", len(f.buffers), want)
	case (m.rep != nil) != (m.meaning.MaxRep > 0) || (m.depth > 0) != (m.rep != nil):
		return nil, corrupt("repetition levels and %d lists, repetition index of depth %d", m.meaning.MaxRep, m.depth)
	case m.def == nil && m.meaning.MaxDef > 0:
		return nil, corrupt("no definition levels, the highest of which is %d", m.meaning.MaxDef)
	case m.dict == nil && m.dictItems > 0:
		return nil, corrupt("%d values in a dictionary that is not there", m.dictItems)
	case m.rep == nil && m.items != f.starts:
		return nil, corrupt("%d items for %d rows", m.items, f.starts)
	}
	return m, nil
}

func (m *miniBlock) meta() []datafile.Span {
	s := []datafile.Span{m.buffers[0]}
	return append(s, m.buffers[2:]...)
}

func (m *miniBlock) held() int64 {
	return decoderBytes + 25*int64(len(m.pos)) + bytesOf(m.words)
}

func (m *miniBlock) load(bufs [][]byte, limit int64) error {
	if err := m.loadTable(bufs[0]); err != nil {
		return err
	}
	if m.depth > 0 {
		if err := m.loadIndex(bufs[len(bufs)-1]); err != nil {
			return err
		}
	}
	if m.dict == nil {
		return nil
	}
	if m.dictItems > uint64(limit) {
		return overLimit("a dictionary of %d values", m.dictItems)
	}
	var err error
	if m.words, err = m.dict.Decode(bufs[1], int(m.dictItems), limit); err != nil {
		return fmt.Errorf("dictionary: %w", err)
	}
	if uint64(m.words.N) != m.dictItems {
		return corrupt("dictionary of %d values, not %d", m.words.N, m.dictItems)
	}
	return nil
}

// loadTable reads the chunk table: a word for each chunk with its size and the
// logarithm of how many values it has.
func (m *miniBlock) loadTable(table []byte) error {
	width := 2
	if m.wide {
		width = 4
	}
	if len(table)%width != 0 {
		return corrupt("chunk table of %d bytes", len(table))
	}
	n := len(table) / width
	all := make([]uint64, 2*(n+1))
	m.pos, m.first = all[:n+1], all[n+1:]
	for c := range n {
		var word uint32
		if m.wide {
			word = binary.LittleEndian.Uint32(table[4*c:])
		} else {
			word = uint32(binary.LittleEndian.Uint16(table[2*c:]))
		}
		values := uint64(1) << (word & 15)
		if c == n-1 {
			if m.first[c] >= m.items || word&15 != 0 && values != m.items-m.first[c] {
				return corrupt("%d items before the last of %d chunks, %d in all", m.first[c], n, m.items)
			}
			values = m.items - m.first[c]
			if values > 1<<31 {
				return corrupt("a chunk of %d values", values)
			}
		}
		m.pos[c+1] = m.pos[c] + (uint64(word>>4)+1)*alignment
		m.first[c+1] = m.first[c] + values
	}
	if m.pos[n] != m.buffers[1].Size || m.first[n] != m.items {
		return corrupt("%d chunks of %d bytes and %d items in %d bytes, %d items", n, m.pos[n], m.first[n], m.buffers[1].Size, m.items)
	}
	return nil
}

// loadIndex reads the repetition index: for each chunk how many rows end in it, and
// how many items follow the last such end.
func (m *miniBlock) loadIndex(index []byte) error {
	stride, n := 8*(int(m.depth)+1), len(m.pos)-1
	if m.depth > 1<<16 || len(index) != stride*n {
		return corrupt("repetition index of %d bytes, depth %d, for %d chunks", len(index), m.depth, n)
	}
	m.rows, m.partial = make([]uint64, n+1), make([]bool, n+1)
	for c := range n {
		ends := binary.LittleEndian.Uint64(index[stride*c:])
		rest := binary.LittleEndian.Uint64(index[stride*c+8:])
		starts := ends
		m.partial[c+1] = rest > 0
		if rest > 0 {
			starts++
		}
		if m.partial[c] {
			if starts == 0 {
				return corrupt("no end of the row that chunk %d begins in", c)
			}
			starts--
		}
		if ends > m.starts || starts > m.starts-m.rows[c] {
			return corrupt("%d rows end in chunk %d, the page has %d", ends, c, m.starts)
		}
		m.rows[c+1] = m.rows[c] + starts
	}
	if m.rows[n] != m.starts || m.partial[n] {
		return corrupt("%d rows in the repetition index, the page has %d", m.rows[n], m.starts)
	}
	return nil
}

// chunks are the chunks [a, b) that hold the starts [from, to).
func (m *miniBlock) chunks(from, to uint64) (a, b int) {
	of := m.first
	if m.rep != nil {
		of = m.rows
	}
	n := len(m.pos) - 1
	a = sort.Search(n, func(c int) bool { return of[c+1] > from })
	b = sort.Search(n, func(c int) bool { return of[c+1] > to })
	if b < n && (of[b] < to || m.rep != nil && m.partial[b]) {
		b++ // the last row is in it too
	}
	return a, b
}

func (m *miniBlock) index(uint64, uint64) []datafile.Span { return nil }

func (m *miniBlock) data(from, to uint64, _ [][]byte) ([]datafile.Span, error) {
	a, b := m.chunks(from*m.stride, to*m.stride)
	if a >= b {
		return nil, corrupt("no chunk has rows %d to %d", from, to)
	}
	return []datafile.Span{{Pos: m.buffers[1].Pos + m.pos[a], Size: m.pos[b] - m.pos[a]}}, nil
}
