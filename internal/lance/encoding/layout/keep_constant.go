package layout

import (
	"google.golang.org/protobuf/proto"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/block"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// keepConstant takes the levels of rows, if there are any; the value stays.
func keepConstant(f frame, l *pb.PageLayout_Constant, buffers [][]byte, keep []column.Range, limit int64) (*pb.PageLayout, [][]byte, error) {
	c, err := newConstant(f, l)
	if err != nil {
		return nil, nil, err
	}
	if !c.levels {
		return &pb.PageLayout{Layout: &pb.PageLayout_Constant_{Constant: l}}, buffers, nil
	}
	rep, def, err := c.taken(buffers, keep, limit/4)
	if err != nil {
		return nil, nil, err
	}
	l = proto.Clone(l).(*pb.PageLayout_Constant)
	out := append([][]byte(nil), buffers[:len(buffers)-2]...)
	repBytes, repEnc := c.encode(rep, l.GetRepCompression())
	defBytes, defEnc := c.encode(def, l.GetDefCompression())
	l.RepCompression, l.DefCompression = repEnc, defEnc
	l.NumRepValues, l.NumDefValues = told(rep, repEnc), told(def, defEnc)
	return &pb.PageLayout{Layout: &pb.PageLayout_Constant_{Constant: l}}, append(out, repBytes, defBytes), nil
}

// taken takes the levels of rows.
func (c *constant) taken(buffers [][]byte, keep []column.Range, limit int64) (rep, def []uint16, err error) {
	if c.valued {
		buffers = buffers[1:]
	}
	c.rep.kept, c.def.kept = buffers[0], buffers[1]
	if err := c.survey(nil, limit); err != nil {
		return nil, nil, err
	}
	space := scratch.Get().(*[2 * maxLevels]uint16)
	defer scratch.Put(space)
	for _, r := range keep {
		err := c.pieces(r.From, r.To, nil, space[:maxLevels:maxLevels], space[maxLevels:], func(reps, defs []uint16, n int) error {
			if !within(reps, c.meaning.MaxRep) || !within(defs, c.meaning.MaxDef) {
				return corrupt("levels above %d and %d", c.meaning.MaxRep, c.meaning.MaxDef)
			}
			if rep, def = append(rep, reps...), append(def, defs...); 2*int64(len(rep)+len(def)) > limit {
				return overLimit("%d levels", max(len(rep), len(def)))
			}
			return nil
		})
		if err != nil {
			return nil, nil, err
		}
	}
	return rep, def, nil
}

// encode encodes levels, plain where they were so.
func (c *constant) encode(levels []uint16, was *pb.CompressiveEncoding) ([]byte, *pb.CompressiveEncoding) {
	if was == nil || len(levels) == 0 {
		return block.AppendPlain([]byte{}, levels), nil
	}
	e := block.NewLevelEncoder(levels, block.EncodeOptions{Minor: 2}) // 2.1 has no compressed ones
	return e.Append(nil, levels), e.Encoding
}

// told is the number of levels that a layout tells: of compressed ones.
func told(levels []uint16, enc *pb.CompressiveEncoding) uint64 {
	if enc == nil {
		return 0
	}
	return uint64(len(levels))
}
