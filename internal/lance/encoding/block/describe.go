package block

import (
	"fmt"
	"strings"

	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// Describe renders a tree of encodings, as in "general(zstd, variable(flat(32)))".
func Describe(enc *pb.CompressiveEncoding) string {
	name, args, children := parts(enc)
	for _, c := range children {
		args = append(args, Describe(c))
	}
	if len(args) == 0 {
		return name
	}
	return name + "(" + strings.Join(args, ", ") + ")"
}

// Names lists the encodings of a tree, outermost first, with repetitions. Compressions of
// buffers are among them: "lz4", "zstd".
func Names(enc *pb.CompressiveEncoding) []string {
	name, _, children := parts(enc)
	names := []string{name}
	if g := enc.GetGeneral(); g != nil {
		names = append(names, scheme(g.GetCompression()))
	}
	for _, c := range children {
		names = append(names, Names(c)...)
	}
	return names
}

// parts takes one node apart: its name, what there is to say about it, the encodings below it.
func parts(enc *pb.CompressiveEncoding) (name string, args []string, children []*pb.CompressiveEncoding) {
	number := func(n uint64) { args = append(args, fmt.Sprint(n)) }
	buffer := func(b *pb.BufferCompression) {
		if b != nil {
			args = append(args, scheme(b))
		}
	}
	switch e := enc.GetEncoding().(type) {
	case *pb.CompressiveEncoding_Flat_:
		name = "flat"
		number(e.Flat.GetBitsPerValue())
		buffer(e.Flat.GetData())
	case *pb.CompressiveEncoding_Variable_:
		name = "variable"
		buffer(e.Variable.GetValues())
		children = append(children, e.Variable.GetOffsets())
	case *pb.CompressiveEncoding_Constant_:
		name = "constant"
		if e.Constant.Value == nil {
			args = append(args, "null")
		}
	case *pb.CompressiveEncoding_OutOfLineBitpacking_:
		name = "out-of-line bit-packing"
		number(e.OutOfLineBitpacking.GetUncompressedBitsPerValue())
		children = append(children, e.OutOfLineBitpacking.GetValues())
	case *pb.CompressiveEncoding_InlineBitpacking_:
		name = "inline bit-packing"
		number(e.InlineBitpacking.GetUncompressedBitsPerValue())
		buffer(e.InlineBitpacking.GetValues())
	case *pb.CompressiveEncoding_Fsst:
		name = "fsst"
		children = append(children, e.Fsst.GetValues())
	case *pb.CompressiveEncoding_Dictionary_:
		name = "dictionary"
		number(uint64(e.Dictionary.GetNumDictionaryItems()))
		children = append(children, e.Dictionary.GetIndices(), e.Dictionary.GetItems())
	case *pb.CompressiveEncoding_Rle:
		name = "rle"
		children = append(children, e.Rle.GetValues(), e.Rle.GetRunLengths())
	case *pb.CompressiveEncoding_ByteStreamSplit_:
		name = "byte-stream-split"
		children = append(children, e.ByteStreamSplit.GetValues())
	case *pb.CompressiveEncoding_General_:
		name = "general"
		args = append(args, scheme(e.General.GetCompression()))
		children = append(children, e.General.GetValues())
	case *pb.CompressiveEncoding_FixedSizeList_:
		name = "fixed-size list"
		number(e.FixedSizeList.GetItemsPerValue())
		if e.FixedSizeList.GetHasValidity() {
			args = append(args, "validity")
		}
		children = append(children, e.FixedSizeList.GetValues())
	case *pb.CompressiveEncoding_PackedStruct_:
		name = "packed struct"
		for _, b := range e.PackedStruct.GetBitsPerValue() {
			number(b)
		}
		children = append(children, e.PackedStruct.GetValues())
	case *pb.CompressiveEncoding_VariablePackedStruct_:
		name = "variable packed struct"
		for _, f := range e.VariablePackedStruct.GetFields() {
			children = append(children, f.GetValue())
		}
	default:
		name = "unknown"
	}
	return name, args, children
}

func scheme(c *pb.BufferCompression) string {
	switch c.GetScheme() {
	case pb.BufferCompression_LZ4:
		return "lz4"
	case pb.BufferCompression_ZSTD:
		return "zstd"
	}
	return fmt.Sprintf("scheme %d", c.GetScheme())
}
