package layout

import (
	"encoding/binary"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/block"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/level"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// takeBlobs adds blobs to the page. Of the first kind, an array holds either the bytes, which are written at once, or
// descriptors of bytes that lie in the file already. Those of the second kind are descriptors always.
func (l *leafWriter) takeBlobs(a arrow.Array, from, to int) error {
	leaf, spans, err := l.levels.Append(a, from, to)
	if err != nil {
		return err
	}
	for _, s := range spans {
		leaf := plainArray(leaf)
		if b, ok := leaf.(*array.LargeBinary); ok && isDescriptorV1(l.typ) {
			err = l.blobBytes(b, s.From, s.To)
		} else {
			err = l.values.AppendArray(leaf, s.From, s.To)
		}
		if err != nil {
			return err
		}
	}
	l.rows += uint64(to - from)
	l.bits += 2 * 64 * int64(to-from)
	return nil
}

// blobBytes writes the bytes of blobs and takes their descriptors.
func (l *leafWriter) blobBytes(a *array.LargeBinary, from, to int) error {
	pos, size := l.values.Fields[0], l.values.Fields[1]
	for i := from; i < to; i++ {
		var at, n uint64
		if a.IsValid(i) && a.ValueLen(i) > 0 {
			b := a.Value(i)
			var err error
			if at, err = l.sink.Blob(b); err != nil {
				return err
			}
			n = uint64(len(b))
		}
		pos.Data = binary.LittleEndian.AppendUint64(pos.Data, at)
		size.Data = binary.LittleEndian.AppendUint64(size.Data, n)
	}
	pos.N, size.N, l.values.N = pos.N+to-from, size.N+to-from, l.values.N+to-from
	return nil
}

// encodeBlobs makes a page of descriptors: positions and sizes. A null is a size of 0 and a position that is its level,
// as the page around has no levels of its own.
func (l *leafWriter) encodeBlobs(lv *level.Levels) (*pb.PageLayout, [][]byte, error) {
	v := l.values
	if lv.Rep != nil {
		return nil, nil, unsupported("blobs in lists")
	}
	if v.Kind != block.Struct || len(v.Fields) != 2 || v.N != lv.Slots {
		return nil, nil, unsupported("blobs of type %v", l.typ)
	}
	pos, size := v.Fields[0].Data, v.Fields[1].Data
	for i, d := range lv.Def {
		if d > 0 {
			binary.LittleEndian.PutUint64(pos[8*i:], uint64(d)<<16)
			binary.LittleEndian.PutUint64(size[8*i:], 0)
		}
	}
	plain := &level.Levels{Layers: []pb.PageLayout_Layer{pb.PageLayout_ALL_VALID_ITEM}, Slots: lv.Slots, Starts: lv.Starts,
		Visible: lv.Slots, Valid: lv.Slots}
	inner := *l
	inner.structural = "miniblock"
	page, buffers, err := inner.encodeValues(plain, v)
	if err != nil {
		return nil, nil, err
	}
	return &pb.PageLayout{Layout: &pb.PageLayout_Blob_{Blob: &pb.PageLayout_Blob{Inner: page, Layers: lv.Layers}}}, buffers, nil
}
