package block

import (
	"sync"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/bitpack"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// whole is a tree of encodings as a Whole.
type whole struct{ chunk }

// NewWhole makes a decoder of buffers that are one block.
func NewWhole(enc *pb.CompressiveEncoding) (Whole, error) {
	d, err := wholeDecoder(enc, 0)
	if err != nil {
		return nil, named(enc, err)
	}
	return &whole{chunk{enc: enc, decoder: d, like: d.shape()}}, nil
}

func (w *whole) Decode(data []byte, n int, limit int64) (*Values, error) {
	v := w.New(limit)
	if err := w.Append(v, [][]byte{data}, n, 0, n); err != nil {
		return nil, err
	}
	return v, nil
}

func wholeDecoder(enc *pb.CompressiveEncoding, depth int) (decoder, error) {
	if depth > maxDepth {
		return nil, unsupported("more than %d encodings inside each other", maxDepth)
	}
	switch e := enc.GetEncoding().(type) {
	case *pb.CompressiveEncoding_Flat_:
		return newFlat(e.Flat)
	case *pb.CompressiveEncoding_InlineBitpacking_:
		return newInline(e.InlineBitpacking)
	case *pb.CompressiveEncoding_OutOfLineBitpacking_:
		return newOutOfLine(e.OutOfLineBitpacking)
	case *pb.CompressiveEncoding_Variable_:
		v, err := newVariable(e.Variable)
		return wholeVariable{v}, err
	case *pb.CompressiveEncoding_Constant_:
		if len(e.Constant.Value) > maxBits/8 {
			return nil, unsupported("constant of %d bytes", len(e.Constant.Value))
		}
		return constant{e.Constant.Value}, nil
	case *pb.CompressiveEncoding_Rle:
		r, err := newRuns(e.Rle)
		return wholeRuns{r}, err
	case *pb.CompressiveEncoding_General_:
		inner, err := wholeDecoder(e.General.GetValues(), depth+1)
		if err != nil {
			return nil, err
		}
		return newCompressed(e.General, inner)
	case *pb.CompressiveEncoding_FixedSizeList_:
		if d, err := newList(e.FixedSizeList, depth); err != nil || d.buffers() == 1 {
			return d, err
		}
	}
	return nil, unsupported("%s in a single buffer", Describe(enc))
}

// levels keeps blocks for AppendLevels between calls.
var levels = sync.Pool{New: func() any { return new(Values) }}

// AppendLevels decodes n values of 16 bits, as levels are, and appends them to dst. It allocates
// nothing but room in dst.
func AppendLevels(dst []uint16, w Whole, data []byte, n int, limit int64) ([]uint16, error) {
	own, ok := w.(*whole)
	if !ok {
		v, err := w.Decode(data, n, limit)
		if err != nil {
			return dst, err
		}
		return v.levels(dst)
	}
	v := levels.Get().(*Values)
	defer levels.Put(v)
	*v = Values{Limit: limit, Data: v.Data[:0], Kind: own.like.Kind, Bits: own.like.Bits}
	if v.Kind != Fixed || v.Bits != 16 {
		return dst, named(own.enc, corrupt("levels of %s", own.like.shape()))
	}
	s := borrow()
	defer s.giveBack()
	s.buffers = append(s.buffers[:0], data)
	if err := own.Append(v, s.buffers, n, 0, n); err != nil {
		return dst, err
	}
	return v.levels(dst)
}

func (v *Values) levels(dst []uint16) ([]uint16, error) {
	if v.Kind != Fixed || v.Bits != 16 {
		return dst, corrupt("levels of %s", v.shape())
	}
	have := len(dst)
	if n := have + v.N; n <= cap(dst) {
		dst = dst[:n]
	} else {
		dst = append(dst, make([]uint16, v.N)...)
	}
	copy(arrow.Uint16Traits.CastToBytes(dst[have:]), v.Data)
	return dst, nil
}

// outOfLine is bit-packed values of one width known beforehand.
type outOfLine struct{ bits, width int }

func newOutOfLine(e *pb.CompressiveEncoding_OutOfLineBitpacking) (outOfLine, error) {
	b, f := e.GetUncompressedBitsPerValue(), e.GetValues().GetFlat()
	switch {
	case b != 8 && b != 16 && b != 32 && b != 64:
		return outOfLine{}, unsupported("bit-packed values of %d bits", b)
	case f == nil || f.GetData() != nil:
		return outOfLine{}, unsupported("bit-packing with values of %s", Describe(e.GetValues()))
	case f.GetBitsPerValue() > b:
		return outOfLine{}, corrupt("%d of %d bits kept", f.GetBitsPerValue(), b)
	}
	return outOfLine{int(b), int(f.GetBitsPerValue())}, nil
}

func (p outOfLine) buffers() int   { return 1 }
func (p outOfLine) shape() *Values { return &Values{Kind: Fixed, Bits: p.bits} }

func (p outOfLine) append(dst *Values, buffers [][]byte, n, _, _ int) error {
	data, err := bitpack.UnpackFixed(dst.Data, buffers[0], p.bits, p.width, n)
	if err != nil {
		return err
	}
	dst.Data = data
	dst.N += n
	return nil
}

// constant is one value for all, or that they are null. The buffer is of no interest.
type constant struct{ value []byte }

func (c constant) buffers() int   { return 1 }
func (c constant) shape() *Values { return &Values{Kind: Fixed, Bits: 8 * len(c.value)} }

func (c constant) append(dst *Values, _ [][]byte, n, _, _ int) error {
	if len(c.value) == 0 {
		dst.appendNulls(n)
		return nil
	}
	longer, out := extend(dst.Data, n*len(c.value))
	for at := copy(out, c.value); at < len(out); at *= 2 {
		copy(out[at:], out[:at])
	}
	dst.Data = longer
	dst.N += n
	return nil
}

// wholeVariable is the width of an offset in bits, where the bytes start, n+1 offsets
// from there, and the bytes. The first two are as wide as an offset.
type wholeVariable struct{ variable }

func (v wholeVariable) append(dst *Values, buffers [][]byte, n, _, _ int) error {
	b := buffers[0]
	head := (n + 3) * v.bytes
	if len(b) < head {
		return corrupt("%d bytes for the offsets of %d values", len(b), n)
	}
	if bits, start := v.offset(b, 0), v.offset(b, 1); bits != 8*v.bytes || start != head {
		return corrupt("offsets of %d bits, bytes from %d for %d values", bits, start, n)
	}
	offsets, data := b[2*v.bytes:head], b[head:]
	first, last := v.offset(offsets, 0), v.offset(offsets, n)
	if first > last || last > len(data) {
		return corrupt("%d values from %d to %d in %d bytes", n, first, last, len(data))
	}
	if err := dst.room(int64(last-first) + 8*int64(n)); err != nil {
		return err
	}
	have := len(dst.Offsets)
	dst.extendOffsets(n)
	if err := v.shift(dst.Offsets[have:], offsets[v.bytes:], first, last, int64(len(dst.Data))); err != nil {
		dst.Offsets = dst.Offsets[:have]
		return err
	}
	dst.Data = append(dst.Data, data[first:last]...)
	dst.N += n
	return nil
}
