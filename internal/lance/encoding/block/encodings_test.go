package block

import (
	"encoding/binary"

	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// Constructors of the messages, so that tables stay readable.

type (
	pbEncoding = pb.CompressiveEncoding
	enc        = *pbEncoding
)

func flatOf(bits uint64) enc {
	return &pb.CompressiveEncoding{Encoding: &pb.CompressiveEncoding_Flat_{Flat: &pb.CompressiveEncoding_Flat{BitsPerValue: bits}}}
}

func variableOf(offsets enc) enc {
	return &pb.CompressiveEncoding{Encoding: &pb.CompressiveEncoding_Variable_{Variable: &pb.CompressiveEncoding_Variable{Offsets: offsets}}}
}

func constantOf(value []byte) enc {
	return &pb.CompressiveEncoding{Encoding: &pb.CompressiveEncoding_Constant_{Constant: &pb.CompressiveEncoding_Constant{Value: value}}}
}

func inlineOf(bits uint64) enc {
	return &pb.CompressiveEncoding{Encoding: &pb.CompressiveEncoding_InlineBitpacking_{
		InlineBitpacking: &pb.CompressiveEncoding_InlineBitpacking{UncompressedBitsPerValue: bits}}}
}

func outOfLineOf(bits uint64, values enc) enc {
	return &pb.CompressiveEncoding{Encoding: &pb.CompressiveEncoding_OutOfLineBitpacking_{
		OutOfLineBitpacking: &pb.CompressiveEncoding_OutOfLineBitpacking{UncompressedBitsPerValue: bits, Values: values}}}
}

func fsstOf(table []byte, values enc) enc {
	return &pb.CompressiveEncoding{Encoding: &pb.CompressiveEncoding_Fsst{Fsst: &pb.CompressiveEncoding_FSST{SymbolTable: table, Values: values}}}
}

func rleOf(values, lengths enc) enc {
	return &pb.CompressiveEncoding{Encoding: &pb.CompressiveEncoding_Rle{Rle: &pb.CompressiveEncoding_RLE{Values: values, RunLengths: lengths}}}
}

func splitOf(values enc) enc {
	return &pb.CompressiveEncoding{Encoding: &pb.CompressiveEncoding_ByteStreamSplit_{
		ByteStreamSplit: &pb.CompressiveEncoding_ByteStreamSplit{Values: values}}}
}

func generalOf(s pb.BufferCompression_Scheme, values enc) enc {
	return &pb.CompressiveEncoding{Encoding: &pb.CompressiveEncoding_General_{
		General: &pb.CompressiveEncoding_General{Compression: &pb.BufferCompression{Scheme: s}, Values: values}}}
}

func listOf(n uint64, valid bool, values enc) enc {
	return &pb.CompressiveEncoding{Encoding: &pb.CompressiveEncoding_FixedSizeList_{
		FixedSizeList: &pb.CompressiveEncoding_FixedSizeList{ItemsPerValue: n, HasValidity: valid, Values: values}}}
}

func packedOf(values enc, bits ...uint64) enc {
	return &pb.CompressiveEncoding{Encoding: &pb.CompressiveEncoding_PackedStruct_{
		PackedStruct: &pb.CompressiveEncoding_PackedStruct{BitsPerValue: bits, Values: values}}}
}

type structFieldOf = pb.CompressiveEncoding_VariablePackedStruct_Field

func fixedField(bits uint64, value enc) *structFieldOf {
	return &structFieldOf{Value: value, Width: &pb.CompressiveEncoding_VariablePackedStruct_Field_BitsPerValue{BitsPerValue: bits}}
}

func variableField(bits uint64, value enc) *structFieldOf {
	return &structFieldOf{Value: value, Width: &pb.CompressiveEncoding_VariablePackedStruct_Field_BitsPerLength{BitsPerLength: bits}}
}

func structOf(fields ...*structFieldOf) enc {
	return &pb.CompressiveEncoding{Encoding: &pb.CompressiveEncoding_VariablePackedStruct_{
		VariablePackedStruct: &pb.CompressiveEncoding_VariablePackedStruct{Fields: fields}}}
}

func dictionaryOf(indices, items enc, n uint32) enc {
	return &pb.CompressiveEncoding{Encoding: &pb.CompressiveEncoding_Dictionary_{
		Dictionary: &pb.CompressiveEncoding_Dictionary{Indices: indices, Items: items, NumDictionaryItems: n}}}
}

const (
	lz4Scheme  = pb.BufferCompression_LZ4
	zstdScheme = pb.BufferCompression_ZSTD
)

// symbols is a table with two: "ab" and "xyz".
func symbols() []byte {
	b := make([]byte, 8+256*9)
	copy(b, "\x02\x00\x00\x01TSSF")
	copy(b[8:], "ab")
	copy(b[16:], "xyz")
	b[24], b[25] = 2, 3
	return b
}

// u32s, u16s and u64s lay numbers out.
func u32s(v ...uint32) (b []byte) {
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, x)
	}
	return b
}

func u16s(v ...uint16) (b []byte) {
	for _, x := range v {
		b = binary.LittleEndian.AppendUint16(b, x)
	}
	return b
}

func u64s(v ...uint64) (b []byte) {
	for _, x := range v {
		b = binary.LittleEndian.AppendUint64(b, x)
	}
	return b
}

// join puts parts behind each other.
func join(parts ...any) (b []byte) {
	for _, p := range parts {
		switch p := p.(type) {
		case []byte:
			b = append(b, p...)
		case string:
			b = append(b, p...)
		case int:
			b = append(b, byte(p))
		}
	}
	return b
}
