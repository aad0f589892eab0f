package block

import (
	"encoding/binary"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/bitpack"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// flat is a buffer of values of one width.
type flat struct{ bits int }

func newFlat(e *pb.CompressiveEncoding_Flat) (flat, error) {
	if e.GetData() != nil {
		return flat{}, unsupported("flat with a compressed buffer")
	}
	b := e.GetBitsPerValue()
	if b != 1 && (b == 0 || b%8 != 0 || b > maxBits) {
		return flat{}, unsupported("values of %d bits", b)
	}
	return flat{int(b)}, nil
}

func (f flat) buffers() int   { return 1 }
func (f flat) shape() *Values { return &Values{Kind: Fixed, Bits: f.bits} }

// bitmapSlack is how much longer than needed a bitmap may be: Arrow pads buffers to it.
const bitmapSlack = 64

func (f flat) check(data []byte, n int) error {
	need := (n*f.bits + 7) / 8
	if len(data) == need || f.bits == 1 && len(data) > need && len(data) <= need+bitmapSlack {
		return nil
	}
	return corrupt("%d bytes for %d values of %d bits", len(data), n, f.bits)
}

func (f flat) append(dst *Values, buffers [][]byte, n, from, to int) error {
	data := buffers[0]
	if err := f.check(data, n); err != nil {
		return err
	}
	if f.bits == 1 {
		dst.Data = appendBits(dst.Data, dst.N, data, from, to-from)
	} else {
		dst.Data = append(dst.Data, data[from*f.bits/8:to*f.bits/8]...)
	}
	dst.N += to - from
	return nil
}

// inline is blocks of 1024 bit-packed values, each behind its width.
type inline struct{ bits int }

func newInline(e *pb.CompressiveEncoding_InlineBitpacking) (inline, error) {
	if e.GetValues() != nil {
		return inline{}, unsupported("bit-packing with a compressed buffer")
	}
	b := e.GetUncompressedBitsPerValue()
	if b != 8 && b != 16 && b != 32 && b != 64 {
		return inline{}, unsupported("bit-packed values of %d bits", b)
	}
	return inline{int(b)}, nil
}

func (p inline) buffers() int   { return 1 }
func (p inline) shape() *Values { return &Values{Kind: Fixed, Bits: p.bits} }

func (p inline) append(dst *Values, buffers [][]byte, n, from, to int) error {
	rest := buffers[0]
	var partial *scratch
	for at := 0; at < n; at += bitpack.Block {
		width, packed, next, err := bitpack.Inline(rest, p.bits)
		if err != nil {
			return err
		}
		rest = next
		lo, hi := max(from-at, 0), min(to-at, bitpack.Block)
		if lo >= hi {
			continue // the width is needed to find the next block
		}
		longer, out := extend(dst.Data, (hi-lo)*p.bits/8)
		if hi-lo == bitpack.Block {
			err = bitpack.Unpack(out, packed, p.bits, width)
		} else {
			if partial == nil {
				partial = borrow()
			}
			var whole []byte
			partial.bytes, whole = extend(partial.bytes[:0], bitpack.Size(p.bits))
			err = bitpack.Unpack(whole, packed, p.bits, width)
			copy(out, whole[lo*p.bits/8:])
		}
		if err != nil {
			return err
		}
		dst.Data = longer
		dst.N += hi - lo
	}
	if partial != nil {
		partial.giveBack() // not when there was an error: rare enough to do without
	}
	if len(rest) != 0 {
		return corrupt("%d bytes behind %d bit-packed values", len(rest), n)
	}
	return nil
}

// split has the first bytes of all values, then all second bytes and so on.
type split struct{ bytes int }

func newSplit(e *pb.CompressiveEncoding_ByteStreamSplit) (split, error) {
	f, err := newFlat(e.GetValues().GetFlat())
	if err != nil || f.bits != 32 && f.bits != 64 {
		return split{}, unsupported("byte-stream-split of %s", Describe(e.GetValues()))
	}
	return split{f.bits / 8}, nil
}

func (s split) buffers() int   { return 1 }
func (s split) shape() *Values { return &Values{Kind: Fixed, Bits: 8 * s.bytes} }

func (s split) append(dst *Values, buffers [][]byte, n, from, to int) error {
	in := buffers[0]
	if len(in) != n*s.bytes {
		return corrupt("%d bytes for %d values of %d bytes", len(in), n, s.bytes)
	}
	longer, out := extend(dst.Data, (to-from)*s.bytes)
	le := binary.LittleEndian
	b := func(i int) []byte { return in[i*n+from : i*n+to] }
	b0, b1, b2, b3 := b(0), b(1), b(2), b(3)
	b1, b2, b3 = b1[:len(b0)], b2[:len(b0)], b3[:len(b0)]
	if s.bytes == 4 {
		out = out[:4*len(b0)]
		for i := range b0 {
			le.PutUint32(out[4*i:4*i+4], uint32(b0[i])|uint32(b1[i])<<8|uint32(b2[i])<<16|uint32(b3[i])<<24)
		}
	} else {
		b4, b5, b6, b7 := b(4), b(5), b(6), b(7)
		b4, b5, b6, b7 = b4[:len(b0)], b5[:len(b0)], b6[:len(b0)], b7[:len(b0)]
		out = out[:8*len(b0)]
		for i := range b0 {
			lo := uint64(b0[i]) | uint64(b1[i])<<8 | uint64(b2[i])<<16 | uint64(b3[i])<<24
			hi := uint64(b4[i]) | uint64(b5[i])<<8 | uint64(b6[i])<<16 | uint64(b7[i])<<24
			le.PutUint64(out[8*i:8*i+8], lo|hi<<32)
		}
	}
	dst.Data = longer
	dst.N += to - from
	return nil
}
