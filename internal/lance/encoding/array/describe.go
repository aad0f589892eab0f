package array

import (
	"fmt"
	"strings"

	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// maxDepth of a tree of encodings. Real ones have five levels, and two more for
// each fixed-size list in another.
const maxDepth = 64

// describe writes a tree of encodings for people.
func describe(e *pb.ArrayEncoding) string { return describeTo(e, maxDepth) }

func describeTo(e *pb.ArrayEncoding, depth int) string {
	if depth == 0 {
		return "…"
	}
	describe := func(e *pb.ArrayEncoding) string { return describeTo(e, depth-1) }
	switch t := e.GetEncoding().(type) {
	case *pb.ArrayEncoding_Flat_:
		if c := t.Flat.GetCompression().GetScheme(); c != "" && c != "none" {
			return fmt.Sprintf("general(%s, flat(%d))", c, t.Flat.GetBitsPerValue())
		}
		return fmt.Sprintf("flat(%d)", t.Flat.GetBitsPerValue())
	case *pb.ArrayEncoding_Nullable_:
		switch n := t.Nullable.GetNullability().(type) {
		case *pb.ArrayEncoding_Nullable_NoNulls_:
			return fmt.Sprintf("nullable(%s)", describe(n.NoNulls.GetValues()))
		case *pb.ArrayEncoding_Nullable_SomeNulls_:
			return fmt.Sprintf("nullable(%s, %s)", describe(n.SomeNulls.GetValidity()), describe(n.SomeNulls.GetValues()))
		case *pb.ArrayEncoding_Nullable_AllNulls_:
			return "nullable(all)"
		}
		return "nullable(unknown)"
	case *pb.ArrayEncoding_FixedSizeList_:
		return fmt.Sprintf("fixed-size-list(%d, %s)", t.FixedSizeList.GetDimension(), describe(t.FixedSizeList.GetItems()))
	case *pb.ArrayEncoding_List_:
		return fmt.Sprintf("list(%s)", describe(t.List.GetOffsets()))
	case *pb.ArrayEncoding_Struct_:
		return "struct"
	case *pb.ArrayEncoding_Binary_:
		return fmt.Sprintf("binary(%s, %s)", describe(t.Binary.GetEnds()), describe(t.Binary.GetBytes()))
	case *pb.ArrayEncoding_Dictionary_:
		return fmt.Sprintf("dictionary(%s, %s)", describe(t.Dictionary.GetKeys()), describe(t.Dictionary.GetItems()))
	case *pb.ArrayEncoding_Fsst:
		return fmt.Sprintf("fsst(%s)", describe(t.Fsst.GetBinary()))
	case *pb.ArrayEncoding_PackedStruct_:
		inner := make([]string, len(t.PackedStruct.GetInner()))
		for i, e := range t.PackedStruct.GetInner() {
			inner[i] = describe(e)
		}
		return fmt.Sprintf("packed-struct(%s)", strings.Join(inner, ", "))
	case *pb.ArrayEncoding_Bitpacked_:
		kind := "unsigned"
		if t.Bitpacked.GetSigned() {
			kind = "signed"
		}
		return fmt.Sprintf("bitpacked(%s, %d of %d)", kind, t.Bitpacked.GetCompressedBitsPerValue(), t.Bitpacked.GetUncompressedBitsPerValue())
	case *pb.ArrayEncoding_FixedSizeBinary_:
		return fmt.Sprintf("fixed-size-binary(%d, %s)", t.FixedSizeBinary.GetByteWidth(), describe(t.FixedSizeBinary.GetBytes()))
	case *pb.ArrayEncoding_BitpackedForNonNeg_:
		b := t.BitpackedForNonNeg
		return fmt.Sprintf("bitpacked-non-neg(%d of %d)", b.GetCompressedBitsPerValue(), b.GetUncompressedBitsPerValue())
	case *pb.ArrayEncoding_Constant_:
		return fmt.Sprintf("constant(%d bytes)", len(t.Constant.GetValue()))
	}
	return "unknown"
}
