package block

import (
	"encoding/binary"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/general"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

func encodeWhole(v *Values, o EncodeOptions) (*pb.CompressiveEncoding, []byte, error) {
	if err := v.checkWhole(); err != nil {
		return nil, nil, err
	}
	var enc *pb.CompressiveEncoding
	var plain []byte
	switch v.Kind {
	case Fixed:
		enc, plain = flatEnc(v.Bits), v.Data[:(v.N*v.Bits+7)/8]
	case Variable:
		bits, err := o.offsetBits(v.stringBytes() + 8*int64(v.N+3))
		if err != nil {
			return nil, nil, err
		}
		enc, plain = variableEnc(bits), wholeStrings(v, bits/8)
	default:
		return nil, nil, unsupported("values of %s in one buffer", v.shape())
	}
	if o.Minor < 2 || o.Compression == "none" {
		return enc, plain, nil
	}
	scheme, ok := o.scheme()
	if !ok {
		scheme = pb.BufferCompression_LZ4
	}
	packed, err := general.Compress(make([]byte, 0, len(plain)), plain, scheme, o.Level)
	if err != nil || len(packed) >= len(plain) {
		return enc, plain, err
	}
	return generalEnc(scheme, o.Level, enc), packed, nil
}

// wholeStrings is the width of an offset in bits, where the strings start, the offsets from there, the strings.
func wholeStrings(v *Values, bytes int) []byte {
	head := (v.N + 3) * bytes
	out := make([]byte, head, head+int(v.stringBytes()))
	le := binary.LittleEndian
	put := func(i int, n int64) {
		if bytes == 4 {
			le.PutUint32(out[4*i:], uint32(n))
		} else {
			le.PutUint64(out[8*i:], uint64(n))
		}
	}
	put(0, int64(8*bytes))
	put(1, int64(head))
	for i, o := range v.Offsets {
		put(i+2, o-v.Offsets[0])
	}
	return append(out, v.Data[v.Offsets[0]:v.Offsets[v.N]]...)
}
