package layout

import (
	"encoding/binary"
	"math/bits"

	"google.golang.org/protobuf/proto"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/block"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/level"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// copy copies a chunk.
func (k *miniKeeper) copy(c int) {
	if k.out == nil {
		k.out = k.to.Bytes(k.share(len(k.bytes)) + int(k.rows/4) + 32*len(k.pos))
	}
	k.out = append(k.out, k.bytes[k.pos[c]:k.pos[c+1]]...)
	values := k.first[c+1] - k.first[c]
	k.copied += values
	word := (uint32(k.pos[c+1]-k.pos[c])/alignment-1)<<4 | uint32(bits.Len64(values)-1)
	if k.wide {
		k.table = binary.LittleEndian.AppendUint32(k.table, word)
	} else {
		k.table = binary.LittleEndian.AppendUint16(k.table, uint16(word))
	}
}

// page makes the page of what was taken.
func (k *miniKeeper) page(buffers [][]byte) (*pb.PageLayout, [][]byte, error) {
	v := k.taken
	l := proto.Clone(k.layout).(*pb.PageLayout_MiniBlock)
	if v.N == 0 && k.copied == 0 {
		return nil, nil, errAnew // lists without items are not for chunks
	}
	w := &chunkWriter{wide: k.wide, rep: k.repLevel, def: k.defLevel, out: k.out, table: k.table, memory: k.to}
	if v.N > 0 {
		if err := k.write(w, l); err != nil {
			return nil, nil, err
		}
	} else {
		clearLast(w.table, k.wide)
	}
	if !suits(l.GetValueCompression(), len(w.out), k.rows, k.starts) {
		return nil, nil, errAnew
	}
	if err := k.worthwhile(len(w.out), buffers); err != nil {
		return nil, nil, err
	}
	l.NumItems = k.copied + uint64(v.N)
	out := [][]byte{w.table, w.out}
	if k.dict != nil {
		out = append(out, buffers[2])
	}
	if k.miniBlock.rep != nil {
		l.RepetitionIndexDepth = 1
		out = append(out, w.index.bytes())
	}
	return &pb.PageLayout{Layout: &pb.PageLayout_MiniBlock_{MiniBlock: l}}, out, nil
}

// write writes chunks of what was taken.
func (k *miniKeeper) write(w *chunkWriter, l *pb.PageLayout_MiniBlock) error {
	v := k.taken
	k.repeatNulls()
	var err error
	if w.Chunks, err = block.Rechunk(v, l.GetValueCompression(), k.copied == 0, &k.memory); err != nil {
		return err
	}
	l.ValueCompression, l.NumBuffers = w.Encoding, uint64(len(w.Buffers))
	w.levels = &level.Levels{Layers: l.GetLayers(), Rep: k.reps, Def: k.defs, MaxRep: k.meaning.MaxRep, MaxDef: k.meaning.MaxDef,
		MaxVisible: k.meaning.MaxVisible, Slots: v.N, Visible: v.N}
	minor := 1
	if k.wide {
		minor = 2
	}
	if k.miniBlock.def != nil {
		w.levels.Slots = len(k.defs)
		if k.copied == 0 || w.def == nil {
			w.def = block.NewLevelEncoder(k.defs, block.EncodeOptions{Minor: minor})
			l.DefCompression = w.def.Encoding
		}
	}
	if k.miniBlock.rep != nil {
		w.levels.Slots = len(k.reps)
		w.rep = block.NewLevelEncoder(k.reps, block.EncodeOptions{Minor: minor})
		l.RepCompression = w.rep.Encoding
	}
	return w.all(v.N)
}

// repeatNulls has nulls repeat the values that are now before them, where fewer runs take less.
func (k *miniKeeper) repeatNulls() {
	v, e := k.taken, k.layout.GetValueCompression()
	if e.GetRle() == nil && e.GetGeneral() == nil || v.Kind != block.Fixed || v.Bits%8 != 0 {
		return
	}
	at := 0
	for _, d := range k.defs {
		if d > k.meaning.MaxVisible {
			continue
		}
		if d > 0 {
			v.Repeat(at, at+1)
		}
		at++
	}
}

// clearLast makes the word of the last chunk one that does not count its values.
func clearLast(table []byte, wide bool) {
	at := len(table) - 2
	if wide {
		at -= 2
	}
	table[at] &^= 15
}
