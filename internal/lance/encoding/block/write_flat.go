package block

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/bitpack"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/slab"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// flatChunks leaves values of one width as they are, without a copy.
func flatChunks(v *Values, _ *slab.Arena) (*Chunks, error) {
	return cut(v.Data, v.Bits, v.N, flatEnc(v.Bits))
}

// cut makes chunks of n values of some bits that stay as they are.
func cut(data []byte, bits, n int, enc *pb.CompressiveEncoding) (*Chunks, error) {
	data = data[:(n*bits+7)/8]
	if bits > 8*maxWide/2 {
		return nil, tooWide(bits / 8)
	}
	each := max(powerBelow(8*MaxChunkBytes/bits), 2)
	c := &Chunks{Encoding: enc, Buffers: [][]byte{data}}
	k := (n + each - 1) / each
	c.Counts, c.Sizes = make([]int32, 0, k), make([]int32, 0, k)
	for at := 0; at < n; at += each {
		count := min(each, n-at)
		c.Counts = append(c.Counts, int32(count))
		c.Sizes = append(c.Sizes, int32((count*bits+7)/8))
	}
	return c, nil
}

func tooWide(bytes int) error {
	return fmt.Errorf("%w: values of about %d bytes, two of which may take %d", ErrWide, bytes, maxWide)
}

// inlineChunks bit-packs, each chunk to what its largest value needs.
func inlineChunks(v *Values, mem *slab.Arena) (*Chunks, error) {
	bytes := v.Bits / 8
	k := (v.N + bitpack.Block - 1) / bitpack.Block
	c := &Chunks{Encoding: inlineEnc(v.Bits), Counts: make([]int32, 0, k), Sizes: make([]int32, 0, k)}
	total, widths := 0, make([]byte, k)
	block := func(i int) []byte { return v.Data[i*bitpack.Block*bytes : min((i+1)*bitpack.Block, v.N)*bytes] }
	for i := range widths {
		w := bitpack.Width(block(i), v.Bits)
		widths[i] = byte(w)
		total += bytes + bitpack.Size(w)
	}
	out := mem.Bytes(total)
	for i, w := range widths {
		var err error
		have := len(out)
		if out, err = bitpack.AppendInline(out, block(i), v.Bits, int(w)); err != nil {
			return nil, err
		}
		c.Counts = append(c.Counts, int32(len(block(i))/bytes))
		c.Sizes = append(c.Sizes, int32(len(out)-have))
	}
	c.Buffers = [][]byte{out}
	return c, nil
}

// splitChunks puts the first bytes of all values of a chunk first, then all second bytes and so on. That
// saves nothing by itself.
func splitChunks(v *Values, mem *slab.Arena) (*Chunks, error) {
	const each = 4096 // bytes
	c, err := cut(v.Data, v.Bits, v.N, splitEnc(v.Bits))
	if err != nil {
		return nil, err
	}
	bytes := v.Bits / 8
	in, le := v.Data[:v.N*bytes], binary.LittleEndian
	out := mem.Bytes(len(in))[:len(in)]
	at := 0
	c.Counts, c.Sizes = c.Counts[:0], c.Sizes[:0]
	for left := v.N; left > 0; {
		n := min(each/bytes, left)
		src, dst := in[at:at+n*bytes], out[at:at+n*bytes]
		if bytes == 4 {
			b0, b1, b2, b3 := dst[:n], dst[n:2*n], dst[2*n:3*n], dst[3*n:4*n]
			for i := range n {
				w := le.Uint32(src[4*i : 4*i+4])
				b0[i], b1[i], b2[i], b3[i] = byte(w), byte(w>>8), byte(w>>16), byte(w>>24)
			}
		} else {
			b0, b1, b2, b3 := dst[:n], dst[n:2*n], dst[2*n:3*n], dst[3*n:4*n]
			b4, b5, b6, b7 := dst[4*n:5*n], dst[5*n:6*n], dst[6*n:7*n], dst[7*n:8*n]
			for i := range n {
				w := le.Uint64(src[8*i : 8*i+8])
				b0[i], b1[i], b2[i], b3[i] = byte(w), byte(w>>8), byte(w>>16), byte(w>>24)
				b4[i], b5[i], b6[i], b7[i] = byte(w>>32), byte(w>>40), byte(w>>48), byte(w>>56)
			}
		}
		c.add(n, n*bytes)
		at, left = at+n*bytes, left-n
	}
	c.Buffers = [][]byte{out}
	return c, nil
}

// packedChunks writes structs of fields of fixed width, row behind row.
func packedChunks(v *Values) (*Chunks, error) {
	bits := make([]uint64, 0, len(v.Fields))
	row := 0
	for i, f := range v.Fields {
		if f.Kind == Fixed && f.Bits%8 != 0 {
			return nil, unsupported("packed struct with a field %d of %s", i, f.shape())
		}
		if f.Kind != Fixed {
			return nil, fmt.Errorf("%w: packed struct with a field %d of %s", ErrWide, i, f.shape())
		}
		bits = append(bits, uint64(f.Bits))
		row += f.Bits / 8
	}
	rows := slices.Grow([]byte(nil), v.N*row)[:v.N*row]
	at := 0
	for _, f := range v.Fields {
		place(rows[at:], f.Data, f.Bits/8, row, v.N)
		at += f.Bits / 8
	}
	return cut(rows, 8*row, v.N, packedEnc(bits, row))
}

// place puts n values of some bytes into rows, a value a row.
func place(rows, values []byte, bytes, row, n int) {
	le := binary.LittleEndian
	switch bytes {
	case 4:
		for i := range n {
			le.PutUint32(rows[i*row:], le.Uint32(values[4*i:]))
		}
	case 8:
		for i := range n {
			le.PutUint64(rows[i*row:], le.Uint64(values[8*i:]))
		}
	default:
		for i := range n {
			copy(rows[i*row:i*row+bytes], values[i*bytes:(i+1)*bytes])
		}
	}
}
