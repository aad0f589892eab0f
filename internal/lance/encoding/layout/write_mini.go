package layout

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/block"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/level"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/slab"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// errTooLarge tells that values or levels don't fit into chunks.
var errTooLarge = errors.New("more than a mini-block chunk holds")

const (
	// maxChunk is the most bytes of a chunk: 12 bits count them by eights in 2.1. Those of 2.2 could be larger, but
	// who reads one value reads a chunk.
	maxChunk = 32 << 10
	// maxChunkLevels is the most levels of a chunk.
	maxChunkLevels = 1<<16 - 1
	// filling is what mini-block chunks are padded with.
	filling = 0xFE
)

// miniBlock makes a page of chunks. dict is nil unless v is indices into it.
func (l *leafWriter) miniBlock(lv *level.Levels, v, dict *block.Values, o block.EncodeOptions) (*pb.PageLayout, [][]byte, error) {
	chunks, err := block.EncodeChunks(v, o)
	if errors.Is(err, block.ErrWide) {
		return nil, nil, fmt.Errorf("%w: %w", errTooLarge, err)
	}
	if err != nil {
		return nil, nil, err
	}
	s := &chunkWriter{Chunks: chunks, memory: l.opts.Memory, wide: l.minor >= 2, levels: lv}
	m := &pb.PageLayout_MiniBlock{ValueCompression: chunks.Encoding, Layers: lv.Layers, NumBuffers: uint64(len(chunks.Buffers)),
		NumItems: uint64(v.N), HasLargeChunk: s.wide}
	if lv.Rep != nil {
		s.rep = block.NewLevelEncoder(lv.Rep, l.opts)
		m.RepCompression, m.RepetitionIndexDepth = s.rep.Encoding, 1
	}
	if lv.Def != nil {
		s.def = block.NewLevelEncoder(lv.Def, l.opts)
		m.DefCompression = s.def.Encoding
	}
	if err := s.all(v.N); err != nil {
		return nil, nil, err
	}
	buffers := [][]byte{s.table, s.out}
	if dict != nil {
		enc, b, err := block.EncodeWhole(dict, l.opts.ForDictionary())
		if err != nil {
			return nil, nil, fmt.Errorf("dictionary: %w", err)
		}
		m.Dictionary, m.NumDictionaryItems = enc, uint64(dict.N)
		buffers = append(buffers, b)
	}
	if lv.Rep != nil {
		buffers = append(buffers, s.index.bytes())
	}
	return &pb.PageLayout{Layout: &pb.PageLayout_MiniBlock_{MiniBlock: m}}, buffers, nil
}

// chunkWriter puts levels and values of chunks together.
type chunkWriter struct {
	*block.Chunks
	levels   *level.Levels
	rep, def *block.LevelEncoder
	memory   *slab.Arena
	wide     bool // sizes of 32 bits

	table, out []byte
	index      rowIndex
}

// all writes the chunks of n values.
func (s *chunkWriter) all(n int) error {
	size := 0
	for _, b := range s.Buffers {
		size += len(b)
	}
	size += len(s.Counts) * 8 * (2 + len(s.Buffers))
	if s.rep != nil {
		size += s.levels.Slots / 2
	}
	if size += s.levels.Slots / 4; s.out == nil {
		s.out = s.memory.Bytes(size)
	}
	s.out = slices.Grow(s.out, size)
	s.table = slices.Grow(s.table, 4*len(s.Counts))
	at := make([]int, len(s.Buffers))
	slot := 0
	for c := range s.Counts {
		values, sizes := s.Chunk(c)
		last := c == len(s.Counts)-1
		if last != (values == n) || !last && (values < 2 || bits.OnesCount(uint(values)) != 1) {
			return fmt.Errorf("chunk %d of %d with %d of %d values", c, len(s.Counts), values, n)
		}
		n -= values
		end, start := s.slots(slot, values, last), len(s.out)
		if err := s.chunk(slot, end, sizes, at); err != nil {
			return err
		}
		words := uint32(len(s.out)-start)/alignment - 1
		log := uint32(0)
		if !last {
			log = uint32(bits.TrailingZeros(uint(values)))
		}
		if s.wide {
			s.table = binary.LittleEndian.AppendUint32(s.table, words<<4|log)
		} else {
			s.table = binary.LittleEndian.AppendUint16(s.table, uint16(words<<4|log))
		}
		slot = end
	}
	return nil
}

// slots is the end of the slots from one on that a number of values belong to. Slots without a place among the
// values go with the value behind them.
func (s *chunkWriter) slots(from, values int, last bool) int {
	lv := s.levels
	switch {
	case last:
		return lv.Slots
	case lv.Visible == lv.Slots:
		return from + values
	}
	for i, d := range lv.Def[from:] {
		if d <= lv.MaxVisible {
			if values--; values == 0 {
				return from + i + 1
			}
		}
	}
	return lv.Slots
}

// chunk writes one chunk: the number of levels, the sizes of the parts, the parts. at is where each buffer goes on.
func (s *chunkWriter) chunk(from, to int, sizes []int32, at []int) error {
	le, start := binary.LittleEndian, len(s.out)
	levels := 0
	if s.rep != nil || s.def != nil {
		if levels = to - from; levels > maxChunkLevels {
			return fmt.Errorf("%w: %d levels", errTooLarge, levels)
		}
	}
	s.out = le.AppendUint16(s.out, uint16(levels))
	head := len(s.out)
	if s.rep != nil {
		s.out = le.AppendUint16(s.out, 0)
	}
	if s.def != nil {
		s.out = le.AppendUint16(s.out, 0)
	}
	for _, n := range sizes {
		if s.wide {
			s.out = le.AppendUint32(s.out, uint32(n))
			continue
		}
		if n > 1<<16-1 {
			return fmt.Errorf("%w: %d bytes", errTooLarge, n)
		}
		s.out = le.AppendUint16(s.out, uint16(n))
	}
	s.pad(start)
	part := func(e *block.LevelEncoder, levels []uint16) error {
		had := len(s.out)
		s.out = e.Append(s.out, levels)
		n := len(s.out) - had
		if n > 1<<16-1 {
			return fmt.Errorf("%w: %d bytes of levels", errTooLarge, n)
		}
		le.PutUint16(s.out[head:], uint16(n))
		head += 2
		s.pad(start)
		return nil
	}
	if s.rep != nil {
		rep := s.levels.Rep[from:to]
		if err := part(s.rep, rep); err != nil {
			return err
		}
		s.index.add(rep, s.levels.MaxRep)
	}
	if s.def != nil {
		if err := part(s.def, s.levels.Def[from:to]); err != nil {
			return err
		}
	}
	for i, n := range sizes {
		s.out = append(s.out, s.Buffers[i][at[i]:at[i]+int(n)]...)
		at[i] += int(n)
		s.pad(start)
	}
	if n := len(s.out) - start; n > maxChunk {
		return fmt.Errorf("%w: %d bytes in a chunk", errTooLarge, n)
	}
	return nil
}

func (s *chunkWriter) pad(start int) {
	for (len(s.out)-start)%alignment != 0 {
		s.out = append(s.out, filling)
	}
}

// rowIndex tells for each chunk how many rows end in it, and how many levels follow the last end.
type rowIndex struct{ entries []uint64 }

// add adds a chunk with its repetition levels, of which top starts a row.
func (x *rowIndex) add(rep []uint16, top uint16) {
	if n := len(x.entries); n > 0 && len(rep) > 0 && rep[0] == top {
		// The row before ended with its chunk.
		x.entries[n-2]++
		x.entries[n-1] = 0
	}
	ends, rest := 0, len(rep)
	for i, r := range rep {
		if r == top {
			rest = len(rep) - i
			if i > 0 {
				ends++
			}
		}
	}
	x.entries = append(x.entries, uint64(ends), uint64(rest))
}

// bytes is the index, once all chunks are added.
func (x *rowIndex) bytes() []byte {
	if n := len(x.entries); n > 0 {
		x.entries[n-2]++
		x.entries[n-1] = 0
	}
	out := make([]byte, 0, 8*len(x.entries))
	for _, e := range x.entries {
		out = binary.LittleEndian.AppendUint64(out, e)
	}
	return out
}
