package array

import (
	"errors"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow/bitutil"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/general"
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

// gather takes values of some bits, one behind the other, to the buffer of a number.
func (k *keeper) gather(to int, data []byte, bits uint64, keep []column.Range) error {
	if end := bitBytes(keep[len(keep)-1].To, bits); end > uint64(len(data)) {
		return corrupt("%d values of %d bits in a buffer of %d bytes", keep[len(keep)-1].To, bits, len(data))
	}
	if one := keep[0]; len(keep) == 1 && one.From*bits%8 == 0 && one.To*bits%8 == 0 {
		k.out[to] = data[one.From*bits/8 : one.To*bits/8]
		return nil
	}
	out, err := k.alloc(bitBytes(column.RowsOf(keep), bits))
	if err != nil {
		return err
	}
	if bits%8 == 0 {
		for _, r := range keep {
			out = append(out, data[r.From*bits/8:r.To*bits/8]...)
		}
		k.out[to] = out
		return nil
	}
	out = out[:cap(out)]
	at := 0
	for _, r := range keep {
		n := int((r.To - r.From) * bits)
		bitutil.CopyBitmap(data, int(r.From*bits), n, out, at)
		at += n
	}
	k.out[to] = out
	return nil
}

func (k *keeper) flat(f *pb.ArrayEncoding_Flat, keep []column.Range) error {
	i, data, err := k.buffer(f.GetBuffer())
	if err != nil {
		return err
	}
	w := f.GetBitsPerValue()
	if w != 1 && (w == 0 || w%8 != 0) {
		return unsupported("flat values of %d bits", w)
	}
	var scheme pb.BufferCompression_Scheme
	switch f.GetCompression().GetScheme() {
	case "", "none":
		return k.gather(i, data, w, keep)
	case "lz4":
		scheme = pb.BufferCompression_LZ4
	case "zstd":
		scheme = pb.BufferCompression_ZSTD
	default:
		return errAnew
	}
	plain, err := general.Append(nil, data, scheme, k.left)
	switch {
	case errors.Is(err, general.ErrLimit):
		return errAnew
	case err != nil:
		return fmt.Errorf("%w: %w", column.ErrCorrupt, err)
	}
	k.left -= int64(len(plain))
	if err := k.gather(i, plain, w, keep); err != nil {
		return err
	}
	packed, err := general.Compress(nil, k.out[i], scheme, int(f.GetCompression().GetLevel()))
	if err != nil || len(packed) >= len(k.out[i]) {
		f.Compression = nil
		return nil
	}
	k.out[i] = packed
	return nil
}

func (k *keeper) bitpacked(b *pb.ArrayEncoding_Bitpacked, keep []column.Range) error {
	i, data, err := k.buffer(b.GetBuffer())
	if err != nil {
		return err
	}
	if err := widths(b.GetCompressedBitsPerValue(), b.GetUncompressedBitsPerValue()); err != nil {
		return err
	}
	return k.gather(i, data, b.GetCompressedBitsPerValue(), keep)
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

// packed takes rows of packed structs.
func (k *keeper) packed(p *pb.ArrayEncoding_PackedStruct, keep []column.Range, depth int) error {
	i, data, err := k.buffer(p.GetBuffer())
	if err != nil {
		return err
	}
	row := uint64(0)
	for _, f := range p.GetInner() {
		bits, err := widthOf(f, depth)
		if err != nil {
			return err
		}
		if row = plus(row, bits); row > 8<<30 {
			return unsupported("packed structs of %d bits", row)
		}
	}
	if row == 0 || row%8 != 0 {
		return unsupported("packed structs of %d bits", row)
	}
	return k.gather(i, data, row, keep)
}

// widthOf is the width in bits of a field of packed structs.
func widthOf(e *pb.ArrayEncoding, depth int) (uint64, error) {
	if depth == 0 {
		return 0, corrupt("more than %d encodings within each other", maxDepth)
	}
	switch t := e.GetEncoding().(type) {
	case *pb.ArrayEncoding_Nullable_:
		if n := t.Nullable.GetNoNulls(); n != nil {
			return widthOf(n.GetValues(), depth-1)
		}
	case *pb.ArrayEncoding_FixedSizeList_:
		bits, err := widthOf(t.FixedSizeList.GetItems(), depth-1)
		return times(bits, uint64(t.FixedSizeList.GetDimension())), err
	case *pb.ArrayEncoding_Flat_:
		if t.Flat.GetCompression() == nil {
			return t.Flat.GetBitsPerValue(), nil
		}
	}
	return 0, unsupported("packed as %s", describe(e))
}
