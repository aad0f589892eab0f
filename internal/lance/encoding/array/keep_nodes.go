package array

import (
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// leastSymbols is the size of compressed strings below which their symbol table costs more than a few hundredths.
const leastSymbols = 16 << 10

// node takes rows of an encoding and all below it, whose message becomes that of the rows.
func (k *keeper) node(e *pb.ArrayEncoding, keep []column.Range, depth int) error {
	if depth == 0 {
		return corrupt("more than %d encodings within each other", maxDepth)
	}
	depth--
	switch t := e.GetEncoding().(type) {
	case *pb.ArrayEncoding_Nullable_:
		return k.nullable(t.Nullable, keep, depth)
	case *pb.ArrayEncoding_Flat_:
		return k.flat(t.Flat, keep)
	case *pb.ArrayEncoding_Bitpacked_:
		return k.bitpacked(t.Bitpacked, keep)
	case *pb.ArrayEncoding_Binary_:
		return k.binary(t.Binary, keep, depth)
	case *pb.ArrayEncoding_Fsst:
		return k.fsst(t.Fsst, keep, depth)
	case *pb.ArrayEncoding_List_:
		return k.list(t.List, keep, depth)
	case *pb.ArrayEncoding_Dictionary_:
		if err := k.node(t.Dictionary.GetKeys(), keep, depth); err != nil {
			return err
		}
		return k.whole(t.Dictionary.GetItems(), depth)
	case *pb.ArrayEncoding_FixedSizeList_:
		return k.times(t.FixedSizeList.GetItems(), keep, t.FixedSizeList.GetDimension(), depth)
	case *pb.ArrayEncoding_FixedSizeBinary_:
		return k.times(t.FixedSizeBinary.GetBytes(), keep, t.FixedSizeBinary.GetByteWidth(), depth)
	case *pb.ArrayEncoding_PackedStruct_:
		return k.packed(t.PackedStruct, keep, depth)
	case *pb.ArrayEncoding_Constant_, *pb.ArrayEncoding_Struct_:
		return nil
	}
	return errAnew // values in blocks of 1024, and what is not known
}

// whole leaves an encoding as it is.
func (k *keeper) whole(e *pb.ArrayEncoding, depth int) error {
	if depth == 0 {
		return corrupt("more than %d encodings within each other", maxDepth)
	}
	depth--
	stay := func(b *pb.ArrayEncoding_Buffer) error {
		i, all, err := k.buffer(b)
		if err == nil {
			k.out[i] = all
		}
		return err
	}
	both := func(a, b *pb.ArrayEncoding) error {
		if err := k.whole(a, depth); err != nil {
			return err
		}
		return k.whole(b, depth)
	}
	switch t := e.GetEncoding().(type) {
	case *pb.ArrayEncoding_Nullable_:
		switch n := t.Nullable.GetNullability().(type) {
		case *pb.ArrayEncoding_Nullable_NoNulls_:
			return k.whole(n.NoNulls.GetValues(), depth)
		case *pb.ArrayEncoding_Nullable_SomeNulls_:
			return both(n.SomeNulls.GetValidity(), n.SomeNulls.GetValues())
		case *pb.ArrayEncoding_Nullable_AllNulls_:
			return nil
		}
	case *pb.ArrayEncoding_Flat_:
		return stay(t.Flat.GetBuffer())
	case *pb.ArrayEncoding_Bitpacked_:
		return stay(t.Bitpacked.GetBuffer())
	case *pb.ArrayEncoding_BitpackedForNonNeg_:
		return stay(t.BitpackedForNonNeg.GetBuffer())
	case *pb.ArrayEncoding_PackedStruct_:
		return stay(t.PackedStruct.GetBuffer())
	case *pb.ArrayEncoding_Binary_:
		return both(t.Binary.GetEnds(), t.Binary.GetBytes())
	case *pb.ArrayEncoding_Fsst:
		return k.whole(t.Fsst.GetBinary(), depth)
	case *pb.ArrayEncoding_Dictionary_:
		return both(t.Dictionary.GetKeys(), t.Dictionary.GetItems())
	case *pb.ArrayEncoding_FixedSizeList_:
		return k.whole(t.FixedSizeList.GetItems(), depth)
	case *pb.ArrayEncoding_FixedSizeBinary_:
		return k.whole(t.FixedSizeBinary.GetBytes(), depth)
	case *pb.ArrayEncoding_Constant_:
		return nil
	}
	return errAnew
}

func (k *keeper) nullable(n *pb.ArrayEncoding_Nullable, keep []column.Range, depth int) error {
	switch t := n.GetNullability().(type) {
	case *pb.ArrayEncoding_Nullable_NoNulls_:
		return k.node(t.NoNulls.GetValues(), keep, depth)
	case *pb.ArrayEncoding_Nullable_AllNulls_:
		return nil
	case *pb.ArrayEncoding_Nullable_SomeNulls_:
		if err := k.node(t.SomeNulls.GetValidity(), keep, depth); err != nil {
			return err
		}
		return k.node(t.SomeNulls.GetValues(), keep, depth)
	}
	return errAnew
}

// times takes rows of some items each.
func (k *keeper) times(items *pb.ArrayEncoding, keep []column.Range, dim uint32, depth int) error {
	if dim == 0 || times(keep[len(keep)-1].To, uint64(dim)) > 1<<48 {
		return corrupt("%d rows of %d items", keep[len(keep)-1].To, dim)
	}
	wide := make([]column.Range, len(keep))
	for i, r := range keep {
		wide[i] = column.Range{From: r.From * uint64(dim), To: r.To * uint64(dim)}
	}
	return k.node(items, wide, depth)
}

func (k *keeper) binary(b *pb.ArrayEncoding_Binary, keep []column.Range, depth int) error {
	stored, err := k.ends(b.GetEnds(), depth)
	if err != nil {
		return err
	}
	parts, err := spans(stored, b.GetNullAdjustment(), keep, 1<<48)
	if err != nil {
		return err
	}
	if b.NullAdjustment, err = k.moveEnds(b.GetEnds(), stored, b.GetNullAdjustment(), keep); err != nil {
		return err
	}
	if len(parts) == 0 {
		parts = []column.Range{{}}
	}
	return k.node(b.GetBytes(), parts, depth)
}

func (k *keeper) fsst(f *pb.ArrayEncoding_FSST, keep []column.Range, depth int) error {
	before := k.total()
	if err := k.node(f.GetBinary(), keep, depth); err != nil {
		return err
	}
	if k.total()-before < leastSymbols {
		return errAnew
	}
	return nil
}

// total is how many bytes were taken.
func (k *keeper) total() int {
	n := 0
	for _, b := range k.out {
		n += len(b)
	}
	return n
}

func (k *keeper) list(l *pb.ArrayEncoding_List, keep []column.Range, depth int) error {
	stored, err := k.ends(l.GetOffsets(), depth)
	if err != nil {
		return err
	}
	items, err := spans(stored, l.GetNullAdjustment(), keep, l.GetNumItems())
	if err != nil {
		return err
	}
	l.NumItems = column.RowsOf(items)
	l.NullAdjustment, err = k.moveEnds(l.GetOffsets(), stored, l.GetNullAdjustment(), keep)
	return err
}
