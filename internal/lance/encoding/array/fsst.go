package array

import (
	"encoding/binary"
	"fmt"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/fsst"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// compressed values are strings of codes of a symbol table.
type compressed struct {
	codes *binaryValues
	table *fsst.Table
}

func (c *compiler) fsst(m *pb.ArrayEncoding_FSST, depth int) (encoding, error) {
	table, err := fsst.Parse(m.GetSymbolTable())
	if err != nil {
		return nil, fmt.Errorf("%w: %w", column.ErrCorrupt, err)
	}
	inner := m.GetBinary()
	for n := inner.GetNullable().GetNoNulls(); n != nil && depth > 0; n = inner.GetNullable().GetNoNulls() {
		inner, depth = n.GetValues(), depth-1
	}
	if inner.GetBinary() == nil {
		return nil, unsupported("compressed strings as %s", describe(inner))
	}
	codes, err := c.binary(inner.GetBinary(), depth)
	return &compressed{codes, table}, err
}

func (s *compressed) load(r *read, from, to uint64) (part, error) {
	p, err := s.codes.start(r, from, to)
	return &compressedPart{codes: p, table: s.table}, err
}

func (s *compressed) need(from, to uint64, out []datafile.Span) []datafile.Span {
	return s.codes.need(from, to, out)
}

type compressedPart struct {
	codes *binaryPart
	table *fsst.Table
	raw   []byte
	// size of the strings.
	size int
}

// room is what the decoder wants behind the last string, or it would grow the whole.
const room = 32 * fsst.MaxSymbol

func (p *compressedPart) prepare(r *read) (uint64, error) {
	var err error
	if p.raw, _, err = p.codes.raw(r); err != nil {
		return 0, err
	}
	// The strings one behind the other are as long as each for itself, unless one
	// ends within an escape, which is found when it is decoded.
	if p.size, err = p.table.Length(p.raw); err != nil {
		return 0, fmt.Errorf("%w: %w", column.ErrCorrupt, err)
	}
	return uint64(p.size) + room, r.take(uint64(p.size))
}

func (p *compressedPart) appendTo(b *builder) error {
	if err := b.text.fits(uint64(p.size)); err != nil {
		return err
	}
	b.text.reserve()
	begin := len(b.text.bytes)
	e := p.codes.ends
	prev := e.first
	for i := range e.n {
		v := binary.LittleEndian.Uint64(e.raw[i*8:])
		if v >= e.of.adjust {
			v -= e.of.adjust
			if err := b.valid.own(); err != nil {
				return err
			}
			b.valid.null(b.n + i)
		}
		if v < prev || v > e.last {
			return corrupt("ends go from %d to %d, where the last is %d", prev, v, e.last)
		}
		var err error
		if b.text.bytes, err = p.table.Append(b.text.bytes, p.raw[prev-e.first:v-e.first]); err != nil {
			return fmt.Errorf("%w: %w", column.ErrCorrupt, err)
		}
		if len(b.text.bytes)-begin > p.size {
			return corrupt("strings of more than %d bytes", p.size)
		}
		b.text.end()
		prev = v
	}
	b.n += e.n
	return nil
}
