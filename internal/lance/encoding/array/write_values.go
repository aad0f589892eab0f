package array

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/bitutil"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// pageWriter encodes pages. The zero value is ready.
type pageWriter struct {
	wish    compression
	buffers [][]byte
	// Working memory, used again for each page: ends of strings, keys, what is put together, what is compressed.
	ends, keys, made, compressed []byte
}

// keptBytes is the most working memory of one kind that is kept for the next page.
const keptBytes = 4 * column.PageBytes

// reset makes ready for the next page, or keeps nothing but working memory.
func (w *pageWriter) reset(c compression) {
	clear(w.buffers)
	w.wish, w.buffers = c, w.buffers[:0]
	for _, b := range []*[]byte{&w.ends, &w.keys, &w.made, &w.compressed} {
		if *b = (*b)[:0]; cap(*b) > keptBytes {
			*b = nil
		}
	}
}

// encode encodes values as a page.
func (w *pageWriter) encode(typ arrow.DataType, in []piece, seen *distinct) (*pb.ArrayEncoding, error) {
	switch t := column.Storage(typ).(type) {
	case *arrow.DictionaryType:
		return w.dictionary(t, in, seen)
	case *arrow.StructType:
		return w.packedStruct(t, in)
	default:
		if isVariable(t) {
			return w.strings(t, in)
		}
		return w.values(t, in), nil
	}
}

// flat adds a buffer of values of some bits.
func (w *pageWriter) flat(bits uint64, b []byte) *pb.ArrayEncoding {
	w.buffers = append(w.buffers, b)
	return &pb.ArrayEncoding{Encoding: &pb.ArrayEncoding_Flat_{Flat: &pb.ArrayEncoding_Flat{
		BitsPerValue: bits, Buffer: &pb.ArrayEncoding_Buffer{Index: uint32(len(w.buffers) - 1)},
	}}}
}

// values encodes values of one width, or lists of a fixed size, with what is null.
func (w *pageWriter) values(typ arrow.DataType, in []piece) *pb.ArrayEncoding {
	rows, nulls := countNulls(in)
	switch {
	case nulls == rows && rows > 0:
		return allAreNull()
	case nulls > 0:
		valid := w.flat(1, w.validity(in, rows))
		return someNull(valid, w.plain(typ, in))
	}
	return withoutNulls(w.plain(typ, in))
}

// plain encodes values whatever is null.
func (w *pageWriter) plain(typ arrow.DataType, in []piece) *pb.ArrayEncoding {
	typ = column.Storage(typ)
	if l, ok := typ.(*arrow.FixedSizeListType); ok {
		items := w.values(column.Storage(l.Elem()), kids(in, 0, int(l.Len())))
		return &pb.ArrayEncoding{Encoding: &pb.ArrayEncoding_FixedSizeList_{FixedSizeList: &pb.ArrayEncoding_FixedSizeList{
			Dimension: uint32(l.Len()), Items: items,
		}}}
	}
	bits, _ := fixedBits(typ)
	if bits == 1 {
		return w.flat(1, w.bits(in))
	}
	parts := make([][]byte, 0, len(in))
	for _, p := range in {
		parts = append(parts, p.fixed(int(bits/8)))
	}
	return w.flat(bits, w.join(parts))
}

// join puts pieces together. One alone is not copied.
func (w *pageWriter) join(parts [][]byte) []byte {
	if len(parts) == 1 {
		return parts[0]
	}
	size := 0
	for _, p := range parts {
		size += len(p)
	}
	out := w.room(size)[:0]
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}

// room is n bytes of working memory, whose values are any.
func (w *pageWriter) room(n int) []byte {
	if len(w.made)+n > cap(w.made) {
		w.made = make([]byte, 0, max(n, cap(w.made)+cap(w.made)/4)) // what was handed out of the old one stays
	}
	w.made = w.made[:len(w.made)+n]
	return w.made[len(w.made)-n : len(w.made) : len(w.made)]
}

// bits puts booleans together.
func (w *pageWriter) bits(in []piece) []byte {
	return w.bitmap(countRows(in), in, func(p piece) []byte { return p.data.Buffers()[1].Bytes() })
}

// validity puts together what is not null.
func (w *pageWriter) validity(in []piece, rows int) []byte {
	return w.bitmap(rows, in, piece.valid)
}

// bitmap puts bits together; all are set where there are none.
func (w *pageWriter) bitmap(rows int, in []piece, of func(piece) []byte) []byte {
	if rows == 0 {
		return nil
	}
	out := w.room((rows + 7) / 8)
	out[len(out)-1] = 0
	at := 0
	for _, p := range in {
		if p.n == 0 {
			continue
		}
		if b := of(p); b != nil {
			bitutil.CopyBitmap(b, p.from, p.n, out, at)
		} else {
			bitutil.SetBitsTo(out, int64(at), int64(p.n), true)
		}
		at += p.n
	}
	if rows%8 != 0 {
		out[len(out)-1] &= 1<<(rows%8) - 1
	}
	return out
}

func withoutNulls(e *pb.ArrayEncoding) *pb.ArrayEncoding {
	return nullableOf(&pb.ArrayEncoding_Nullable{Nullability: &pb.ArrayEncoding_Nullable_NoNulls_{
		NoNulls: &pb.ArrayEncoding_Nullable_NoNulls{Values: e}}})
}

func someNull(valid, e *pb.ArrayEncoding) *pb.ArrayEncoding {
	return nullableOf(&pb.ArrayEncoding_Nullable{Nullability: &pb.ArrayEncoding_Nullable_SomeNulls_{
		SomeNulls: &pb.ArrayEncoding_Nullable_SomeNulls{Validity: valid, Values: e}}})
}

func allAreNull() *pb.ArrayEncoding {
	return nullableOf(&pb.ArrayEncoding_Nullable{Nullability: &pb.ArrayEncoding_Nullable_AllNulls_{
		AllNulls: &pb.ArrayEncoding_Nullable_AllNulls{}}})
}

func nullableOf(n *pb.ArrayEncoding_Nullable) *pb.ArrayEncoding {
	return &pb.ArrayEncoding{Encoding: &pb.ArrayEncoding_Nullable_{Nullable: n}}
}
