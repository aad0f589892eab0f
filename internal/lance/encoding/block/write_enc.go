package block

import "github.com/seaweedfs/seaweed-lance/internal/lance/pb"

// Constructors of the messages that are written.

func flatEnc(bits int) *pb.CompressiveEncoding {
	return &pb.CompressiveEncoding{Encoding: &pb.CompressiveEncoding_Flat_{Flat: &pb.CompressiveEncoding_Flat{BitsPerValue: uint64(bits)}}}
}

func variableEnc(offsetBits int) *pb.CompressiveEncoding {
	return &pb.CompressiveEncoding{Encoding: &pb.CompressiveEncoding_Variable_{
		Variable: &pb.CompressiveEncoding_Variable{Offsets: flatEnc(offsetBits)}}}
}

func inlineEnc(bits int) *pb.CompressiveEncoding {
	return &pb.CompressiveEncoding{Encoding: &pb.CompressiveEncoding_InlineBitpacking_{
		InlineBitpacking: &pb.CompressiveEncoding_InlineBitpacking{UncompressedBitsPerValue: uint64(bits)}}}
}

func outOfLineEnc(bits, width int) *pb.CompressiveEncoding {
	return &pb.CompressiveEncoding{Encoding: &pb.CompressiveEncoding_OutOfLineBitpacking_{
		OutOfLineBitpacking: &pb.CompressiveEncoding_OutOfLineBitpacking{UncompressedBitsPerValue: uint64(bits), Values: flatEnc(width)}}}
}

func fsstEnc(table []byte, values *pb.CompressiveEncoding) *pb.CompressiveEncoding {
	return &pb.CompressiveEncoding{Encoding: &pb.CompressiveEncoding_Fsst{
		Fsst: &pb.CompressiveEncoding_FSST{SymbolTable: table, Values: values}}}
}

func runsEnc(bits int) *pb.CompressiveEncoding {
	return &pb.CompressiveEncoding{Encoding: &pb.CompressiveEncoding_Rle{
		Rle: &pb.CompressiveEncoding_RLE{Values: flatEnc(bits), RunLengths: flatEnc(8)}}}
}

func splitEnc(bits int) *pb.CompressiveEncoding {
	return &pb.CompressiveEncoding{Encoding: &pb.CompressiveEncoding_ByteStreamSplit_{
		ByteStreamSplit: &pb.CompressiveEncoding_ByteStreamSplit{Values: flatEnc(bits)}}}
}

func generalEnc(scheme pb.BufferCompression_Scheme, level int, values *pb.CompressiveEncoding) *pb.CompressiveEncoding {
	c := &pb.BufferCompression{Scheme: scheme}
	if scheme == pb.BufferCompression_ZSTD {
		l := int32(level)
		c.Level = &l
	}
	return &pb.CompressiveEncoding{Encoding: &pb.CompressiveEncoding_General_{
		General: &pb.CompressiveEncoding_General{Compression: c, Values: values}}}
}

func listEnc(dim int, valid bool, values *pb.CompressiveEncoding) *pb.CompressiveEncoding {
	return &pb.CompressiveEncoding{Encoding: &pb.CompressiveEncoding_FixedSizeList_{
		FixedSizeList: &pb.CompressiveEncoding_FixedSizeList{ItemsPerValue: uint64(dim), HasValidity: valid, Values: values}}}
}

func packedEnc(bits []uint64, row int) *pb.CompressiveEncoding {
	return &pb.CompressiveEncoding{Encoding: &pb.CompressiveEncoding_PackedStruct_{
		PackedStruct: &pb.CompressiveEncoding_PackedStruct{BitsPerValue: bits, Values: flatEnc(8 * row)}}}
}
