package layout

import (
	"encoding/binary"
	"fmt"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/block"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/level"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// blob is a page of blobs of the first kind: an inner page holds where the bytes of
// each lie, (position, size), without levels of its own. A null is a size of 0 and a
// position that is not: its levels.
type blob struct {
	frame
	inner page
	// plain is the meaning of the inner page's levels, which there are none of.
	plain level.Path
}

func newBlob(f frame, l *pb.PageLayout_Blob) (*blob, error) {
	b := &blob{frame: f, plain: level.Path{{Kind: level.Item}}}
	var err error
	if b.meaning, err = f.meaningOf(l.GetLayers()); err != nil {
		return nil, err
	}
	if b.meaning.MaxRep > 0 {
		return nil, unsupported("blobs in lists") // a blob that is not null would not tell which list it is in
	}
	inner := f
	inner.path, inner.stride = b.plain, 1
	if l.GetInner().GetBlob() != nil {
		return nil, corrupt("blobs within blobs")
	}
	if l.GetInner().GetLayout() == nil {
		return nil, unsupported("descriptors of blobs: %s", unknownLayout(l.GetInner()))
	}
	if b.inner, err = newPage(inner, l.GetInner()); err != nil {
		return nil, fmt.Errorf("descriptors of blobs: %w", err)
	}
	return b, nil
}

func (b *blob) meta() []datafile.Span { return b.inner.meta() }

func (b *blob) load(bufs [][]byte, limit int64) error { return b.inner.load(bufs, limit) }

func (b *blob) held() int64 { return b.inner.held() }

func (b *blob) index(from, to uint64) []datafile.Span {
	return b.inner.index(from*b.stride, to*b.stride)
}

func (b *blob) data(from, to uint64, index [][]byte) ([]datafile.Span, error) {
	return b.inner.data(from*b.stride, to*b.stride, index)
}

func (b *blob) read(from, to uint64, bufs [][]byte, out *sink) error {
	from, to = from*b.stride, to*b.stride
	v := out.values
	if v == nil || out.dict != nil {
		return corrupt("blobs in a column of another type")
	}
	had := v.N
	if to-from > uint64(out.limit)/16 {
		return overLimit("%d blobs", to-from)
	}
	in := &sink{limit: out.limit, null: out.null, levels: level.NewBuilder(b.plain, 0, out.limit), values: v, count: had, rep: out.rep, def: out.def}
	if err := b.inner.read(from, to, bufs, in); err != nil {
		return err
	}
	n := v.N - had
	if v.Kind != block.Struct || len(v.Fields) != 2 || v.Fields[0].Bits != 64 || v.Fields[1].Bits != 64 {
		return corrupt("descriptors of blobs that are no positions and sizes")
	}
	if uint64(n) != to-from {
		return corrupt("%d descriptors for %d blobs", n, to-from)
	}
	for at := had; at < v.N; {
		n := min(v.N-at, maxLevels)
		def := out.def[:n]
		for i := range def {
			pos, size := v.Fields[0].Data[8*(at+i):], v.Fields[1].Data[8*(at+i):]
			def[i] = 0
			if p := binary.LittleEndian.Uint64(pos); p != 0 && binary.LittleEndian.Uint64(size) == 0 {
				if p>>16 > uint64(b.meaning.MaxDef) || p&0xFFFF != 0 || p>>16 == 0 {
					return corrupt("a blob of no bytes at %d, which are no levels", p)
				}
				def[i] = uint16(p >> 16)
			}
		}
		if b.meaning.MaxDef == 0 {
			def = nil
		}
		if _, err := out.levels.Append(b.meaning, nil, def, n); err != nil {
			return err
		}
		at += n
	}
	if err := out.update(); err != nil {
		return err
	}
	return out.took(n)
}
