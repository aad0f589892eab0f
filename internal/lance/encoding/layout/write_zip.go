package layout

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/block"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/level"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/slab"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// fullZip makes a page of values that each lie behind a control word with their levels.
func (l *leafWriter) fullZip(lv *level.Levels, v *block.Values) (*pb.PageLayout, [][]byte, error) {
	if uint64(lv.Slots) > math.MaxUint32 {
		return nil, nil, unsupported("%d levels in one page", lv.Slots)
	}
	z, err := block.EncodeZip(v, l.opts)
	if err != nil {
		return nil, nil, err
	}
	f := &pb.PageLayout_FullZip{ValueCompression: z.Encoding, Layers: lv.Layers,
		BitsRep: uint32(bits.Len16(lv.MaxRep)), BitsDef: uint32(bits.Len16(lv.MaxDef)),
		NumItems: uint32(lv.Slots), NumVisibleItems: uint32(v.N)}
	w := &zipper{Zipped: z, memory: l.opts.Memory, levels: lv, shift: uint(f.BitsDef)}
	switch total := f.BitsRep + f.BitsDef; {
	case total > 16:
		w.word = 4
	case total > 8:
		w.word = 2
	case total > 0:
		w.word = 1
	}
	page := &pb.PageLayout{Layout: &pb.PageLayout_FullZip_{FullZip: f}}
	if z.Offsets == nil {
		f.Width = &pb.PageLayout_FullZip_BitsPerValue{BitsPerValue: uint32(z.Bits)}
		if len(z.Data) != z.Bits/8*v.N {
			return nil, nil, fmt.Errorf("%d bytes for %d values of %d bits", len(z.Data), v.N, z.Bits)
		}
		if w.word == 0 {
			return page, [][]byte{z.Data}, nil
		}
	} else {
		f.Width = &pb.PageLayout_FullZip_BitsPerOffset{BitsPerOffset: uint32(z.OffsetBits)}
		w.prefix = z.OffsetBits / 8
		if len(z.Offsets) != v.N+1 || w.prefix != 4 && w.prefix != 8 {
			return nil, nil, fmt.Errorf("%d offsets of %d bits for %d values", len(z.Offsets), z.OffsetBits, v.N)
		}
	}
	if lv.Rep != nil || w.prefix > 0 {
		w.starts = make([]uint64, 0, lv.Starts+1)
	}
	if err := w.all(); err != nil {
		return nil, nil, err
	}
	buffers := [][]byte{w.out}
	if w.starts != nil {
		buffers = append(buffers, positions(append(w.starts, uint64(len(w.out)))))
	}
	return page, buffers, nil
}

// zipper puts levels and values of a page together.
type zipper struct {
	*block.Zipped
	memory *slab.Arena
	levels *level.Levels
	shift  uint
	// word is how many bytes a control word has, prefix those of a value's length or 0.
	word, prefix int

	out    []byte
	starts []uint64 // positions of rows, when they are wanted
}

func (w *zipper) all() error {
	lv := w.levels
	w.out = w.memory.Bytes(w.Size() + lv.Slots*w.word + lv.Visible*w.prefix)
	var le [4]byte
	var none [8]byte
	value, size := 0, w.Bits/8
	for i := range lv.Slots {
		var rep, def uint16
		if lv.Rep != nil {
			rep = lv.Rep[i]
		}
		if lv.Def != nil {
			def = lv.Def[i]
		}
		if w.starts != nil && rep == lv.MaxRep {
			w.starts = append(w.starts, uint64(len(w.out)))
		}
		binary.LittleEndian.PutUint32(le[:], uint32(rep)<<w.shift|uint32(def))
		w.out = append(w.out, le[:w.word]...)
		if def > lv.MaxVisible {
			continue
		}
		if w.prefix == 0 {
			w.out = append(w.out, w.Data[value*size:(value+1)*size]...)
			value++
			continue
		}
		if def == 0 {
			at := len(w.out)
			w.out = w.Append(append(w.out, none[:w.prefix]...), value)
			n := uint64(len(w.out) - at - w.prefix)
			if w.prefix == 8 {
				binary.LittleEndian.PutUint64(w.out[at:], n)
			} else if n <= math.MaxUint32 {
				binary.LittleEndian.PutUint32(w.out[at:], uint32(n))
			} else {
				return unsupported("a value of %d bytes with a length of 32 bits", n)
			}
		}
		value++
	}
	if w.starts != nil && len(w.starts) != lv.Starts {
		return fmt.Errorf("%d rows in the levels, should be %d", len(w.starts), lv.Starts)
	}
	return nil
}

// positions are integers of the fewest bytes that the last and largest of them fits.
func positions(p []uint64) []byte {
	width := 8
	switch last := p[len(p)-1]; {
	case last < 1<<8:
		width = 1
	case last < 1<<16:
		width = 2
	case last < 1<<32:
		width = 4
	}
	out := make([]byte, 0, width*len(p))
	for _, x := range p {
		out = appendUint(out, x, width)
	}
	return out
}
