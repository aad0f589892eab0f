package layout

import (
	"bytes"
	"encoding/binary"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/block"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/level"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// maxInline is the size up to which a constant lies in the layout.
const maxInline = 32

// nulls makes a page without values.
func nulls(lv *level.Levels, minor int) (*pb.PageLayout, [][]byte, error) {
	c := &pb.PageLayout_Constant{Layers: lv.Layers}
	page := &pb.PageLayout{Layout: &pb.PageLayout_Constant_{Constant: c}}
	if len(lv.Layers) == 1 && lv.Rep == nil {
		c.Layers = []pb.PageLayout_Layer{pb.PageLayout_NULLABLE_ITEM}
		return page, nil, nil // every value is null, so no levels are needed
	}
	return page, levelBuffers(c, lv, minor), nil
}

// emptyStructs makes a page of structs without fields, which have neither values nor a way of their own to be
// told from nulls.
func emptyStructs(lv *level.Levels) (*pb.PageLayout, [][]byte, error) {
	if lv.Valid != lv.Slots || lv.Rep != nil {
		return nil, nil, unsupported("structs without fields in lists, or with nulls among them")
	}
	c := &pb.PageLayout_Constant{Layers: []pb.PageLayout_Layer{pb.PageLayout_NULLABLE_ITEM}}
	c.Layers = append(c.Layers, lv.Layers[1:]...)
	return &pb.PageLayout{Layout: &pb.PageLayout_Constant_{Constant: c}}, nil, nil
}

// levelBuffers are the levels of a constant page: as they are in 2.1, compressed in 2.2.
func levelBuffers(c *pb.PageLayout_Constant, lv *level.Levels, minor int) [][]byte {
	buffers := [][]byte{{}, {}}
	for i, levels := range [][]uint16{lv.Rep, lv.Def} {
		if len(levels) == 0 {
			continue
		}
		if minor < 2 {
			buffers[i] = block.AppendPlain(nil, levels)
			continue
		}
		e := block.NewLevelEncoder(levels, block.EncodeOptions{Minor: minor})
		buffers[i] = e.Append(nil, levels)
		if i == 0 {
			c.RepCompression, c.NumRepValues = e.Encoding, uint64(len(levels))
		} else {
			c.DefCompression, c.NumDefValues = e.Encoding, uint64(len(levels))
		}
	}
	return buffers
}

// oneValue makes a page of values that are all the same. Files of 2.1 have no such pages. Levels beside a value are
// never compressed, so that chunks are better wherever there are some.
func oneValue(lv *level.Levels, v *block.Values, offsetBits int) (*pb.PageLayout, [][]byte, bool) {
	if lv.Rep != nil || lv.Def != nil {
		return nil, nil, false
	}
	c := &pb.PageLayout_Constant{Layers: lv.Layers}
	var buffers [][]byte
	switch {
	case v.Kind == block.Fixed && v.Bits >= 8:
		w := v.Bits / 8
		if !bytes.Equal(v.Data[w:], v.Data[:len(v.Data)-w]) {
			return nil, nil, false
		}
		if w <= maxInline {
			c.InlineValue = bytes.Clone(v.Data[:w])
			break
		}
		buffers = [][]byte{frame1(nil, v.Data[:w])}
	case v.Kind == block.Variable:
		one := v.Data[:v.Offsets[1]]
		for i, end := range v.Offsets[1:] {
			if at := v.Offsets[i]; end-at != int64(len(one)) || !bytes.Equal(v.Data[at:end], one) {
				return nil, nil, false
			}
		}
		le := binary.LittleEndian
		var offsets []byte
		if offsetBits == 64 {
			offsets = le.AppendUint64(make([]byte, 8), uint64(len(one)))
		} else {
			offsets = le.AppendUint32(make([]byte, 4), uint32(len(one)))
		}
		buffers = [][]byte{frame1(offsets, one)}
	default:
		return nil, nil, false
	}
	return &pb.PageLayout{Layout: &pb.PageLayout_Constant_{Constant: c}}, buffers, true
}

// frame1 is the buffer of a constant: the number of its parts, their lengths, the parts.
func frame1(offsets, value []byte) []byte {
	le := binary.LittleEndian
	parts := uint32(1)
	if offsets != nil {
		parts = 2
	}
	b := le.AppendUint32(nil, parts)
	if offsets != nil {
		b = le.AppendUint32(b, uint32(len(offsets)))
	}
	b = le.AppendUint32(b, uint32(len(value)))
	return append(append(b, offsets...), value...)
}
