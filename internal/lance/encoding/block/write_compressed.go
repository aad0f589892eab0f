package block

import (
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/general"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/slab"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// scheme is the general compression that is wished for.
func (o EncodeOptions) scheme() (pb.BufferCompression_Scheme, bool) {
	switch o.Compression {
	case "lz4":
		return pb.BufferCompression_LZ4, true
	case "zstd":
		return pb.BufferCompression_ZSTD, true
	}
	return 0, false
}

// compressChunks compresses the first buffer of each chunk, unless that makes no difference.
func compressChunks(c *Chunks, scheme pb.BufferCompression_Scheme, level int, mem *slab.Arena) (*Chunks, error) {
	k := len(c.Buffers)
	if k == 0 {
		return c, nil
	}
	first := c.Buffers[0]
	compressor, err := general.NewCompressor(scheme, level, c.some())
	if err != nil {
		return nil, err
	}
	out := mem.Bytes(len(first) + 64)
	sizes := append([]int32(nil), c.Sizes...)
	at := 0
	for i := range c.Counts {
		size, have := int(c.Sizes[i*k]), len(out)
		if out, err = compressor.Append(out, first[at:at+size]); err != nil {
			return nil, err
		}
		at += size
		sizes[i*k] = int32(len(out) - have)
		if len(out) >= len(first) {
			return c, nil
		}
	}
	return &Chunks{
		Encoding: generalEnc(scheme, level, c.Encoding),
		Buffers:  append([][]byte{out}, c.Buffers[1:]...),
		Counts:   c.Counts,
		Sizes:    sizes,
	}, nil
}

// someChunks is how many chunks a compressor is chosen by.
const someChunks = 4

// some are first buffers of some chunks, none of them the last, unless there are few: that may be a short one.
func (c *Chunks) some() [][]byte {
	k, step := len(c.Buffers), max(len(c.Counts)/someChunks, 1)
	var out [][]byte
	at := 0
	for i := range c.Counts {
		size := int(c.Sizes[i*k])
		if i%step == 0 && len(out) < someChunks {
			out = append(out, c.Buffers[0][at:at+size])
		}
		at += size
	}
	return out
}

// compressEach compresses the first buffer of each chunk, also where that makes it no smaller.
func compressEach(c *Chunks, how *pb.BufferCompression) (*Chunks, error) {
	first, k := c.Buffers[0], len(c.Buffers)
	compressor, err := general.NewCompressor(how.GetScheme(), int(how.GetLevel()), c.some())
	if err != nil {
		return nil, err
	}
	out := make([]byte, 0, len(first)/2+64)
	at := 0
	for i := range c.Counts {
		size, have := int(c.Sizes[i*k]), len(out)
		if out, err = compressor.Append(out, first[at:at+size]); err != nil {
			return nil, err
		}
		at += size
		c.Sizes[i*k] = int32(len(out) - have)
	}
	c.Buffers[0] = out
	return c, nil
}
