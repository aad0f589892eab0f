package block

import (
	"sync"

	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// decoder is one node of a tree of encodings of a chunk.
type decoder interface {
	// buffers is how many buffers the node and those below it take.
	buffers() int
	// shape is an empty block of the kind that append fills. It is not changed.
	shape() *Values
	// append decodes n values and appends those in [from, to) to dst, which has that
	// shape and, values of varying length aside, may take that many. The number of buffers is right.
	append(dst *Values, buffers [][]byte, n, from, to int) error
}

// chunk is a tree of encodings as a Chunk.
type chunk struct {
	enc *pb.CompressiveEncoding
	decoder
	like *Values
}

// NewChunk makes a decoder of the value buffers of mini-block chunks.
func NewChunk(enc *pb.CompressiveEncoding) (Chunk, error) {
	d, err := chunkDecoder(enc, 0)
	if err != nil {
		return nil, named(enc, err)
	}
	return &chunk{enc: enc, decoder: d, like: d.shape()}, nil
}

func (c *chunk) Buffers() int            { return c.buffers() }
func (c *chunk) New(limit int64) *Values { return c.like.empty(limit) }

func (c *chunk) Append(dst *Values, buffers [][]byte, n, from, to int) error {
	return named(c.enc, c.try(dst, buffers, n, from, to))
}

func (c *chunk) try(dst *Values, buffers [][]byte, n, from, to int) error {
	switch {
	case len(buffers) != c.buffers():
		return corrupt("%d buffers, should be %d", len(buffers), c.buffers())
	case from < 0 || from > to || to > n || n > maxValues:
		return corrupt("values %d to %d of %d", from, to, n)
	}
	if err := dst.take(c.like); err != nil {
		return err
	}
	if err := dst.roomFor(to - from); err != nil {
		return err
	}
	return c.append(dst, buffers, n, from, to)
}

// maxDepth of a tree of encodings; real ones have four levels.
const maxDepth = 32

func chunkDecoder(enc *pb.CompressiveEncoding, depth int) (decoder, error) {
	if depth > maxDepth {
		return nil, unsupported("more than %d encodings inside each other", maxDepth)
	}
	switch e := enc.GetEncoding().(type) {
	case *pb.CompressiveEncoding_Flat_:
		return newFlat(e.Flat)
	case *pb.CompressiveEncoding_Variable_:
		return newVariable(e.Variable)
	case *pb.CompressiveEncoding_InlineBitpacking_:
		return newInline(e.InlineBitpacking)
	case *pb.CompressiveEncoding_Fsst:
		return newFSSTChunk(e.Fsst)
	case *pb.CompressiveEncoding_Rle:
		return newRuns(e.Rle)
	case *pb.CompressiveEncoding_ByteStreamSplit_:
		return newSplit(e.ByteStreamSplit)
	case *pb.CompressiveEncoding_General_:
		inner, err := chunkDecoder(e.General.GetValues(), depth+1)
		if err != nil {
			return nil, err
		}
		return newCompressed(e.General, inner)
	case *pb.CompressiveEncoding_FixedSizeList_:
		return newList(e.FixedSizeList, depth)
	case *pb.CompressiveEncoding_PackedStruct_:
		return newPacked(e.PackedStruct)
	}
	return nil, unsupported("%s in a mini-block chunk", Describe(enc))
}

// scratch is memory for what is decoded only to be decoded further.
type scratch struct {
	bytes   []byte
	buffers [][]byte
}

// maxKept is the most memory that is kept for the next user of a scratch.
const maxKept = 1 << 20

var scratches = sync.Pool{New: func() any { return new(scratch) }}

func borrow() *scratch { return scratches.Get().(*scratch) }

func (s *scratch) giveBack() {
	clear(s.buffers[:cap(s.buffers)])
	if cap(s.bytes) > maxKept {
		s.bytes = nil
	}
	scratches.Put(s)
}
