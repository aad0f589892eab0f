package block

import (
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/general"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// compressed is general compression of the first of a chunk's buffers. The others are as
// the inner encoding made them.
type compressed struct {
	scheme pb.BufferCompression_Scheme
	inner  decoder
}

func newCompressed(e *pb.CompressiveEncoding_General, inner decoder) (compressed, error) {
	s := e.GetCompression().GetScheme()
	return compressed{s, inner}, general.Check(s)
}

func (c compressed) buffers() int   { return c.inner.buffers() }
func (c compressed) shape() *Values { return c.inner.shape() }

// minWorking is how much a chunk may take beside a result that is allowed less: chunks are decompressed
// whole, also for one value.
const minWorking = 1 << 20

func (c compressed) append(dst *Values, buffers [][]byte, n, from, to int) error {
	if f, ok := c.inner.(flat); ok && f.bits != 1 && from == 0 && to == n {
		return c.direct(dst, buffers[0], n*f.bits/8, n)
	}
	s := borrow()
	defer s.giveBack()
	var err error
	s.bytes, err = general.Append(s.bytes[:0], buffers[0], c.scheme, max(dst.Limit, minWorking))
	if err != nil {
		return err
	}
	s.buffers = append(append(s.buffers[:0], s.bytes), buffers[1:]...)
	return c.inner.append(dst, s.buffers, n, from, to)
}

// direct decompresses values of which all are wanted right to where they belong.
func (c compressed) direct(dst *Values, src []byte, size, n int) error {
	data, err := general.Append(dst.Data, src, c.scheme, dst.Limit-int64(len(dst.Data)))
	if err != nil {
		return err
	}
	if got := len(data) - len(dst.Data); got != size {
		return corrupt("%d bytes for %d values of %d bits", got, n, dst.Bits)
	}
	dst.Data = data
	dst.N += n
	return nil
}
