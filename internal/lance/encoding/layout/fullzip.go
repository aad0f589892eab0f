package layout

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/block"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// keptIndex is the largest repetition index that is kept in memory as a whole. Of larger ones
// each read fetches the two positions it needs.
const keptIndex = 1 << 20

// fullZip is a page of values that each lie behind a control word with their levels.
// Where they vary in length, or lists do, a repetition index tells where rows begin.
type fullZip struct {
	frame
	values           block.Zip
	bitsRep, bitsDef uint
	// word is how many bytes a control word has, prefix those of a value's length, or
	// 0 when all have size bytes.
	word, prefix, size int
	// entry is how many bytes a position in the repetition index has; 0 without one.
	entry         uint64
	slots, places uint64 // as the layout says, modulo 1<<32

	positions []byte // the repetition index, when kept
}

func newFullZip(f frame, l *pb.PageLayout_FullZip) (*fullZip, error) {
	z := &fullZip{frame: f, bitsRep: uint(l.GetBitsRep()), bitsDef: uint(l.GetBitsDef()),
		slots: uint64(l.GetNumItems()), places: uint64(l.GetNumVisibleItems())}
	var err error
	if z.meaning, err = f.meaningOf(l.GetLayers()); err != nil {
		return nil, err
	}
	if z.values, err = block.NewZip(l.GetValueCompression()); err != nil {
		return nil, fmt.Errorf("values: %w", err)
	}
	switch bits := z.bitsRep + z.bitsDef; {
	case z.bitsRep > 16 || z.bitsDef > 16:
		return nil, corrupt("levels of %d and %d bits", z.bitsRep, z.bitsDef)
	case bits > 16:
		z.word = 4
	case bits > 8:
		z.word = 2
	case bits > 0:
		z.word = 1
	}
	switch w := l.GetWidth().(type) {
	case *pb.PageLayout_FullZip_BitsPerValue:
		if w.BitsPerValue%8 != 0 {
			return nil, unsupported("full-zip values of %d bits", w.BitsPerValue)
		}
		if z.values.Bits() != int(w.BitsPerValue) {
			return nil, corrupt("values of %d bits, their encoding has %d", w.BitsPerValue, z.values.Bits())
		}
		z.size = int(w.BitsPerValue / 8)
	case *pb.PageLayout_FullZip_BitsPerOffset:
		if w.BitsPerOffset != 32 && w.BitsPerOffset != 64 {
			return nil, unsupported("full-zip lengths of %d bits", w.BitsPerOffset)
		}
		if z.values.Bits() != 0 {
			return nil, corrupt("lengths before values that all have %d bits", z.values.Bits())
		}
		z.prefix = int(w.BitsPerOffset / 8)
	default:
		return nil, corrupt("full-zip values of no stated width")
	}
	switch {
	case (z.bitsRep > 0) != (z.meaning.MaxRep > 0):
		return nil, corrupt("repetition levels of %d bits, %d lists", z.bitsRep, z.meaning.MaxRep)
	case z.bitsDef == 0 && z.meaning.MaxDef > 0:
		return nil, corrupt("definition levels of no bits, the highest of which is %d", z.meaning.MaxDef)
	case z.meaning.MaxRep == 0 && uint32(f.starts) != l.GetNumItems():
		return nil, corrupt("%d items for %d rows", l.GetNumItems(), f.starts)
	}
	indexed := z.bitsRep > 0 || z.prefix > 0
	if !indexed {
		if each := uint64(z.word + z.size); len(f.buffers) != 1 || each > 0 && f.buffers[0].Size/each != f.starts || f.buffers[0].Size != each*f.starts {
			return nil, corrupt("%d buffers for %d values of %d bytes", len(f.buffers), f.starts, each)
		}
		return z, nil
	}
	if len(f.buffers) != 2 {
		return nil, corrupt("full-zip page of %d buffers, not values and a repetition index", len(f.buffers))
	}
	switch z.entry = f.buffers[1].Size / (f.starts + 1); {
	case z.entry*(f.starts+1) != f.buffers[1].Size, z.entry != 1 && z.entry != 2 && z.entry != 4 && z.entry != 8:
		return nil, corrupt("repetition index of %d bytes for %d rows", f.buffers[1].Size, f.starts)
	}
	return z, nil
}

func (z *fullZip) meta() []datafile.Span {
	if z.entry > 0 && z.buffers[1].Size <= keptIndex {
		return z.buffers[1:]
	}
	return nil
}

func (z *fullZip) load(bufs [][]byte, _ int64) error {
	if len(bufs) > 0 {
		// The page may be kept for longer than what else was fetched with them.
		z.positions = bytes.Clone(bufs[0])
	}
	return nil
}

func (z *fullZip) held() int64 { return decoderBytes + int64(len(z.positions)) }

func (z *fullZip) index(from, to uint64) []datafile.Span {
	if z.entry == 0 || z.positions != nil {
		return nil
	}
	at := func(row uint64) datafile.Span {
		return datafile.Span{Pos: z.buffers[1].Pos + row*z.stride*z.entry, Size: z.entry}
	}
	return []datafile.Span{at(from), at(to)}
}

func (z *fullZip) data(from, to uint64, index [][]byte) ([]datafile.Span, error) {
	from, to = from*z.stride, to*z.stride
	all := z.buffers[0]
	if z.entry == 0 {
		each := uint64(z.word + z.size)
		return []datafile.Span{{Pos: all.Pos + from*each, Size: (to - from) * each}}, nil
	}
	var a, b uint64
	if z.positions != nil {
		w := int(z.entry)
		a, b = readUint(z.positions, int(from), w), readUint(z.positions, int(to), w)
	} else {
		a, b = readUint(index[0], 0, len(index[0])), readUint(index[1], 0, len(index[1]))
	}
	if a > b || b > all.Size {
		return nil, corrupt("rows from %d to %d of %d bytes", a, b, all.Size)
	}
	if from == 0 && a != 0 || to == z.starts && b != all.Size {
		return nil, corrupt("rows from %d to %d are not all of the %d bytes", a, b, all.Size)
	}
	return []datafile.Span{{Pos: all.Pos + a, Size: b - a}}, nil
}

// control reads a control word.
func (z *fullZip) control(b []byte) (rep, def uint16) {
	var w uint32
	switch z.word {
	case 1:
		w = uint32(b[0])
	case 2:
		w = uint32(binary.LittleEndian.Uint16(b))
	case 4:
		w = binary.LittleEndian.Uint32(b)
	}
	return uint16(w >> z.bitsDef), uint16(w & (1<<z.bitsDef - 1))
}
