package block

import (
	"encoding/binary"
	"math"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/general"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/slab"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// longValue is the length of the longest value from which on each is compressed by itself.
const longValue = 32 << 10

func encodeZip(v *Values, o EncodeOptions) (*Zipped, error) {
	if err := v.checkWhole(); err != nil {
		return nil, err
	}
	switch v.Kind {
	case Fixed:
		return zipFixed(v), nil
	case Variable:
		return zipStrings(v, o)
	case List:
		return zipLists(v)
	}
	return zipStructs(v, o)
}

// zipFixed leaves values as they are, but gives booleans a byte each.
func zipFixed(v *Values) *Zipped {
	if v.Bits != 1 {
		return &Zipped{Encoding: flatEnc(v.Bits), N: v.N, Bits: v.Bits, Data: v.Data[:v.N*v.Bits/8]}
	}
	out := make([]byte, v.N)
	for i := range out {
		out[i] = v.Data[i/8] >> (i % 8) & 1
	}
	return &Zipped{Encoding: flatEnc(8), N: v.N, Bits: 8, Data: out}
}

func zipStrings(v *Values, o EncodeOptions) (*Zipped, error) {
	bits, err := o.offsetBits(v.stringBytes())
	if err != nil {
		return nil, err
	}
	e := symbolsFor(v, o)
	// Whatever compression is asked for, values by themselves are compressed with ZSTD, as Lance does.
	const scheme = pb.BufferCompression_ZSTD
	_, compress := o.scheme()
	if (compress || o.Compression == "" && v.longest() > longValue) && v.stringBytes() >= minFSST {
		ratio, err := ratioOf(v, scheme, o.Level)
		if err != nil {
			return nil, err
		}
		if ratio < worthwhile && (e == nil || ratio < e.Ratio()) {
			return zipCompressed(v, bits, scheme, o.Level, ratio, o.Memory)
		}
	}
	if e == nil {
		return zipPlain(v, bits), nil
	}
	z := zipPlain(v, bits)
	z.Encoding, z.Symbols = fsstEnc(e.Table(), z.Encoding), e
	return z, nil
}

// zipPlain leaves values as they are.
func zipPlain(v *Values, bits int) *Zipped {
	z := &Zipped{Encoding: variableEnc(bits), N: v.N, OffsetBits: bits, Offsets: v.Offsets, Data: v.Data[:v.Offsets[v.N]]}
	if first := v.Offsets[0]; first != 0 {
		z.Data = z.Data[first:]
		z.Offsets = make([]int64, v.N+1)
		for i, o := range v.Offsets {
			z.Offsets[i] = o - first
		}
	}
	return z
}

// ratioOf compresses some values, each by itself, to find out what that is worth.
func ratioOf(v *Values, scheme pb.BufferCompression_Scheme, level int) (float64, error) {
	const tries, each, most = 64, 64 << 10, 512 << 10
	n := int(min(tries, int64(v.N), most/min(v.stringBytes()/int64(v.N)+1, each)))
	var scratch []byte
	before, after := 0, 0
	for i := range n {
		k := i * (v.N - 1) / max(n-1, 1)
		value := v.Data[v.Offsets[k]:v.Offsets[k+1]]
		value = value[:min(len(value), each)]
		var err error
		if scratch, err = general.Compress(scratch[:0], value, scheme, level); err != nil {
			return 0, err
		}
		before, after = before+len(value), after+len(scratch)
	}
	return float64(after) / float64(max(before, 1)), nil
}

// zipCompressed compresses each value by itself.
func zipCompressed(v *Values, bits int, scheme pb.BufferCompression_Scheme, level int, ratio float64, mem *slab.Arena) (*Zipped, error) {
	z := &Zipped{Encoding: generalEnc(scheme, level, variableEnc(bits)), N: v.N, OffsetBits: bits}
	z.Offsets = mem.Offsets(v.N + 1)
	z.Offsets[0] = 0
	z.Data = mem.Bytes(int(float64(v.stringBytes())*ratio*1.05) + 64)
	for i := range v.N {
		var err error
		if z.Data, err = general.Compress(z.Data, v.Data[v.Offsets[i]:v.Offsets[i+1]], scheme, level); err != nil {
			return nil, err
		}
		z.Offsets[i+1] = int64(len(z.Data))
		if int64(len(z.Data)) > v.stringBytes() {
			return zipPlain(v, bits), nil // those looked at were not like the rest
		}
	}
	return z, nil
}

// zipStructs writes structs row behind row, fields of varying length behind their lengths.
func zipStructs(v *Values, o EncodeOptions) (*Zipped, error) {
	if o.Minor < 2 {
		return nil, unsupported("packed struct of %s in a full-zip page before 2.2", v.shape())
	}
	fields := make([]*Zipped, len(v.Fields))
	e := &pb.CompressiveEncoding_VariablePackedStruct{}
	total, flat := int64(0), true
	for i, f := range v.Fields {
		fo := EncodeOptions{}
		if i < len(o.Fields) {
			fo = o.Fields[i]
		}
		fo.Minor, fo.Memory = o.Minor, o.Memory
		flat = flat && f.Kind == Fixed
		if f.Kind == Struct || f.Kind == Fixed && f.Bits%8 != 0 {
			return nil, unsupported("packed struct with a field %d of %s", i, f.shape())
		}
		z, err := encodeZip(f, fo)
		if err != nil {
			return nil, err
		}
		fields[i] = z
		total += int64(z.Size())
		field := &pb.CompressiveEncoding_VariablePackedStruct_Field{Value: z.Encoding}
		if z.Offsets == nil {
			field.Width = &pb.CompressiveEncoding_VariablePackedStruct_Field_BitsPerValue{BitsPerValue: uint64(z.Bits)}
		} else {
			total += int64(v.N) * int64(z.OffsetBits/8)
			field.Width = &pb.CompressiveEncoding_VariablePackedStruct_Field_BitsPerLength{BitsPerLength: uint64(z.OffsetBits)}
		}
		e.Fields = append(e.Fields, field)
	}
	if flat {
		return nil, unsupported("packed struct of fields of one width in a full-zip page")
	}
	z := &Zipped{N: v.N, OffsetBits: 32, Offsets: o.Memory.Offsets(v.N + 1), Data: o.Memory.Bytes(int(total))}
	z.Offsets[0] = 0
	if total > math.MaxInt32 {
		z.OffsetBits = 64
	}
	z.Encoding = &pb.CompressiveEncoding{Encoding: &pb.CompressiveEncoding_VariablePackedStruct_{VariablePackedStruct: e}}
	le := binary.LittleEndian
	for row := range v.N {
		for _, f := range fields {
			if f.Offsets == nil {
				b := f.Bits / 8
				z.Data = append(z.Data, f.Data[row*b:(row+1)*b]...)
				continue
			}
			at := len(z.Data)
			z.Data = append(z.Data, make([]byte, f.OffsetBits/8)...)
			z.Data = f.Append(z.Data, row)
			size := len(z.Data) - at - f.OffsetBits/8
			if f.OffsetBits == 32 {
				le.PutUint32(z.Data[at:], uint32(size))
			} else {
				le.PutUint64(z.Data[at:], uint64(size))
			}
		}
		z.Offsets[row+1] = int64(len(z.Data))
	}
	return z, nil
}
