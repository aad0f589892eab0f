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
	if err := c.load(buffers, limit/4); err != nil {
		return nil, nil, err
	}
	if !within(c.rep, c.meaning.MaxRep) || !within(c.def, c.meaning.MaxDef) {
		return nil, nil, corrupt("levels above %d and %d", c.meaning.MaxRep, c.meaning.MaxDef)
	}
	var rep, def []uint16
	for _, r := range keep {
		from, to := c.slot(r.From), c.slot(r.To)
		if c.rep != nil {
			rep = append(rep, c.rep[from:to]...)
		}
		if c.def != nil {
			def = append(def, c.def[from:to]...)
		}
	}
	l = proto.Clone(l).(*pb.PageLayout_Constant)
	out := append([][]byte(nil), buffers[:len(buffers)-2]...)
	repBytes, repEnc := c.encode(rep, l.GetRepCompression())
	defBytes, defEnc := c.encode(def, l.GetDefCompression())
	l.RepCompression, l.DefCompression = repEnc, defEnc
	l.NumRepValues, l.NumDefValues = count(rep, repEnc), count(def, defEnc)
	return &pb.PageLayout{Layout: &pb.PageLayout_Constant_{Constant: l}}, append(out, repBytes, defBytes), nil
}

// encode encodes levels, plain where they were so.
func (c *constant) encode(levels []uint16, was *pb.CompressiveEncoding) ([]byte, *pb.CompressiveEncoding) {
	if was == nil || len(levels) == 0 {
		return block.AppendPlain([]byte{}, levels), nil
	}
	e := block.NewLevelEncoder(levels, block.EncodeOptions{Minor: 2}) // 2.1 has no compressed ones
	return e.Append(nil, levels), e.Encoding
}

// count is the number of levels that a layout tells: of compressed ones.
func count(levels []uint16, enc *pb.CompressiveEncoding) uint64 {
	if enc == nil {
		return 0
	}
	return uint64(len(levels))
}
