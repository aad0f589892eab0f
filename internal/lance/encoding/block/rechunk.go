package block

import (
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/bitpack"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/slab"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// Stored is the encoding under which values in chunks can be told apart with the least work: strings keep
// their symbols, structs and lists are values of one width. What NewChunk(Stored(enc)) decodes, Rechunk encodes again under enc, an
// encoding that NewChunk takes.
func Stored(enc *pb.CompressiveEncoding) *pb.CompressiveEncoding {
	switch e := enc.GetEncoding().(type) {
	case *pb.CompressiveEncoding_Fsst:
		return e.Fsst.GetValues()
	case *pb.CompressiveEncoding_PackedStruct_:
		return e.PackedStruct.GetValues()
	case *pb.CompressiveEncoding_FixedSizeList_:
		if bits := plainBits(enc); bits > 0 && bits%8 == 0 && bits <= maxBits {
			return flatEnc(int(bits))
		}
	case *pb.CompressiveEncoding_General_:
		return &pb.CompressiveEncoding{Encoding: &pb.CompressiveEncoding_General_{General: &pb.CompressiveEncoding_General{
			Compression: e.General.GetCompression(), Values: Stored(e.General.GetValues())}}}
	}
	return enc
}

// plainBits is the width of fixed-size lists without validity; 0 of others.
func plainBits(enc *pb.CompressiveEncoding) uint64 {
	bits := uint64(1)
	for enc.GetFixedSizeList() != nil {
		e := enc.GetFixedSizeList()
		if e.GetHasValidity() || e.GetItemsPerValue() > maxValues {
			return 0
		}
		if bits *= e.GetItemsPerValue(); bits > maxBits {
			return 0
		}
		enc = e.GetValues()
	}
	if item := enc.GetFlat().GetBitsPerValue(); item > 1 && item <= maxBits {
		return bits * item
	}
	return 0 // of booleans a chunk may have more bytes than it needs
}

// Rechunk encodes values as chunks under a given encoding; for the values see Stored. With free, numbers that were packed or runs
// may be left as they are where that is smaller. The chunks may lie in the memory of mem, if any.
func Rechunk(v *Values, enc *pb.CompressiveEncoding, free bool, mem *slab.Arena) (*Chunks, error) {
	if err := v.checkWhole(); err != nil {
		return nil, err
	}
	if free && (enc.GetInlineBitpacking() != nil || enc.GetRle() != nil) {
		if v.Kind != Fixed || v.Bits != 8 && v.Bits != 16 && v.Bits != 32 && v.Bits != 64 {
			return nil, unsupported("%s of %s", Describe(enc), v.shape())
		}
		c, err := rechunk(v, enc, mem)
		if err == nil && c.cost() > int64(v.N*v.Bits/8)+chunkCost*int64(v.N/powerBelow(8*MaxChunkBytes/v.Bits)+1) {
			c, err = flatChunks(v, mem)
		} else if err == nil {
			c.Encoding = enc
		}
		return c, err
	}
	c, err := rechunk(v, enc, mem)
	if err != nil {
		return nil, named(enc, err)
	}
	c.Encoding = enc
	return c, nil
}

func rechunk(v *Values, enc *pb.CompressiveEncoding, mem *slab.Arena) (*Chunks, error) {
	e := enc.GetEncoding()
	switch v.Kind {
	case Fixed:
		whole := v.Bits == 8 || v.Bits == 16 || v.Bits == 32 || v.Bits == 64
		switch e.(type) {
		case *pb.CompressiveEncoding_Flat_, *pb.CompressiveEncoding_PackedStruct_, *pb.CompressiveEncoding_FixedSizeList_:
			return flatChunks(v, mem)
		case *pb.CompressiveEncoding_InlineBitpacking_:
			if whole {
				return inlineChunks(v, mem)
			}
		case *pb.CompressiveEncoding_Rle:
			if whole {
				return runChunks(v, mem)
			}
		case *pb.CompressiveEncoding_ByteStreamSplit_:
			if whole && v.Bits >= 32 {
				return splitChunks(v, mem)
			}
		}
	case Variable:
		strings := enc.GetVariable()
		if f := enc.GetFsst(); f != nil {
			strings = f.GetValues().GetVariable()
		}
		switch bits := strings.GetOffsets().GetFlat().GetBitsPerValue(); bits {
		case 32, 64:
			return cutStrings(v, int(bits/8), 0, mem)
		}
	case List:
		if _, ok := e.(*pb.CompressiveEncoding_FixedSizeList_); ok {
			return listChunks(v)
		}
	}
	if g := enc.GetGeneral(); g != nil {
		c, err := rechunk(v, g.GetValues(), mem)
		if err != nil {
			return nil, err
		}
		return compressEach(c, g.GetCompression())
	}
	return nil, unsupported("values of %s", v.shape())
}

// AppendValues appends values [from, to) of another block of the same shape, which is one of those that Stored leads to.
func (v *Values) AppendValues(src *Values, from, to int) error {
	if from < 0 || from > to || to > src.N {
		return corrupt("values %d to %d of %d", from, to, src.N)
	}
	if err := v.take(src); err != nil {
		return err
	}
	n := to - from
	if err := v.roomFor(n); err != nil {
		return err
	}
	return v.appendValues(src, from, n)
}

func (v *Values) appendValues(src *Values, from, n int) error {
	switch {
	case src.Kind == Fixed && src.Bits == 1:
		v.Data = appendBits(v.Data, v.N, src.Data, from, n)
	case src.Kind == Fixed:
		w := src.Bits / 8
		v.Data = append(v.Data, src.Data[from*w:(from+n)*w]...)
	case src.Kind == Variable:
		start, end := src.Offsets[from], src.Offsets[from+n]
		if err := v.room(end - start + 8*int64(n)); err != nil {
			return err
		}
		shift := int64(len(v.Data)) - start
		for i, added := 0, v.extendOffsets(n); i < n; i++ {
			added[i] = src.Offsets[from+1+i] + shift
		}
		v.Data = append(v.Data, src.Data[start:end]...)
	case src.Kind == List:
		if src.Valid != nil {
			v.appendValid(src.Valid, from*src.Dim, n)
		} else {
			v.appendValid(nil, 0, n)
		}
		if err := v.Items.appendValues(src.Items, from*src.Dim, n*src.Dim); err != nil {
			return err
		}
	default:
		return unsupported("taking values of %s", src.shape())
	}
	v.N += n
	return nil
}

// LevelEncoderOf makes an encoder for levels of at most max under a given encoding; nil for one that levels are not written in.
func LevelEncoderOf(enc *pb.CompressiveEncoding, max uint16) *LevelEncoder {
	e := &LevelEncoder{Encoding: enc, width: bitpack.Width([]byte{byte(max), byte(max >> 8)}, levelBits)}
	switch t := enc.GetEncoding().(type) {
	case *pb.CompressiveEncoding_Flat_:
		if t.Flat.GetBitsPerValue() != levelBits || t.Flat.GetData() != nil {
			return nil
		}
	case *pb.CompressiveEncoding_Rle:
		if t.Rle.GetValues().GetFlat().GetBitsPerValue() != levelBits || t.Rle.GetRunLengths().GetFlat().GetBitsPerValue() != 8 {
			return nil
		}
	case *pb.CompressiveEncoding_InlineBitpacking_:
		if t.InlineBitpacking.GetUncompressedBitsPerValue() != levelBits {
			return nil
		}
		e.inline = true
	case *pb.CompressiveEncoding_OutOfLineBitpacking_:
		width := int(t.OutOfLineBitpacking.GetValues().GetFlat().GetBitsPerValue())
		if t.OutOfLineBitpacking.GetUncompressedBitsPerValue() != levelBits || width < e.width || width > levelBits {
			return nil
		}
		e.width = width
	default:
		return nil
	}
	return e
}
