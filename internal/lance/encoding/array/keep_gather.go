package array

import (
	"errors"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow/bitutil"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/general"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// gather takes values of some bits, one behind the other, to the buffer of a number.
func (k *keeper) gather(to int, data []byte, bits uint64, keep []column.Range) error {
	if end := bitBytes(keep[len(keep)-1].To, bits); end > uint64(len(data)) {
		return corrupt("%d values of %d bits in a buffer of %d bytes", keep[len(keep)-1].To, bits, len(data))
	}
	if one := keep[0]; len(keep) == 1 && one.From*bits%8 == 0 && one.To*bits%8 == 0 {
		k.out[to] = data[one.From*bits/8 : one.To*bits/8]
		return nil
	}
	size := bitBytes(column.RowsOf(keep), bits)
	out, err := k.alloc(size)
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
	out = out[:size]
	out[size-1] = 0 // of which there may be bits behind the last value
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
