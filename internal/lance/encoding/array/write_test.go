package array

import (
	"encoding/binary"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// pageSpec is a page to write: an encoding and the buffers that it names.
type pageSpec struct {
	rows    uint64
	enc     *pb.ArrayEncoding
	buffers [][]byte
}

// columnSpec is a column to write.
type columnSpec struct {
	pages   []pageSpec
	buffers [][]byte
	// wrap changes the column's encoding.
	wrap func(*pb.ColumnEncoding) *pb.ColumnEncoding
}

// fileSpec is a data file of version 2.0 to write, following the format's
// description and nothing of the reader.
type fileSpec struct {
	schema  *pb.Schema
	rows    uint64
	columns []columnSpec
	// globals are buffers of the file; the schema comes first.
	globals [][]byte
	// front is what the file begins with: values of blobs.
	front []byte
}

func det(tb testing.TB, m proto.Message) []byte {
	tb.Helper()
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// wrapped is an encoding as it stands in the metadata.
func wrapped(tb testing.TB, name string, m proto.Message) *pb.Encoding {
	b := det(tb, &anypb.Any{TypeUrl: "/lance.encodings." + name, Value: det(tb, m)})
	return &pb.Encoding{Location: &pb.Encoding_Direct_{Direct: &pb.Encoding_Direct{Encoding: b}}}
}

func (f *fileSpec) write(tb testing.TB) []byte {
	tb.Helper()
	le := binary.LittleEndian
	b := slices.Clone(f.front)
	put := func(buffers [][]byte) (pos, size []uint64) {
		for _, x := range buffers {
			for len(b)%64 != 0 {
				b = append(b, 0)
			}
			pos, size = append(pos, uint64(len(b))), append(size, uint64(len(x)))
			b = append(b, x...)
		}
		return pos, size
	}
	metas := make([]*pb.ColumnMetadata, len(f.columns))
	for i, c := range f.columns {
		enc := &pb.ColumnEncoding{Encoding: &pb.ColumnEncoding_Values{Values: &emptypb.Empty{}}}
		if c.wrap != nil {
			enc = c.wrap(enc)
		}
		m := &pb.ColumnMetadata{Encoding: wrapped(tb, "ColumnEncoding", enc)}
		var row uint64
		for _, p := range c.pages {
			pos, size := put(p.buffers)
			m.Pages = append(m.Pages, &pb.ColumnMetadata_Page{
				BufferOffsets: pos, BufferSizes: size, Length: p.rows, Priority: row,
				Encoding: wrapped(tb, "ArrayEncoding", p.enc),
			})
			row += p.rows
		}
		m.BufferOffsets, m.BufferSizes = put(c.buffers)
		metas[i] = m
	}
	globals := append([][]byte{det(tb, &pb.FileDescriptor{Schema: f.schema, Length: f.rows})}, f.globals...)
	gpos, gsize := put(globals)
	start := uint64(len(b))
	var columns []byte
	for _, m := range metas {
		x := det(tb, m)
		columns = le.AppendUint64(le.AppendUint64(columns, uint64(len(b))), uint64(len(x)))
		b = append(b, x...)
	}
	colStart := uint64(len(b))
	b = append(b, columns...)
	bufStart := uint64(len(b))
	for i := range gpos {
		b = le.AppendUint64(le.AppendUint64(b, gpos[i]), gsize[i])
	}
	b = le.AppendUint64(le.AppendUint64(le.AppendUint64(b, start), colStart), bufStart)
	b = le.AppendUint32(le.AppendUint32(b, uint32(len(globals))), uint32(len(f.columns)))
	b = le.AppendUint16(le.AppendUint16(b, 0), 3)
	return append(b, "LANC"...)
}

// schemaOf describes fields the way a file does.
func schemaOf(fields ...*pb.Field) *pb.Schema {
	for i, f := range fields {
		f.Id = int32(i)
	}
	return &pb.Schema{Fields: fields}
}

func pbField(name, logical string, parent int32) *pb.Field {
	f := &pb.Field{Name: name, LogicalType: logical, ParentId: parent, Nullable: true, Type: pb.Field_LEAF, Encoding: pb.Field_PLAIN}
	switch logical {
	case "string", "binary", "large_string", "large_binary":
		f.Encoding = pb.Field_VAR_BINARY
	}
	return f
}

func bufferOf(i uint32) *pb.ArrayEncoding_Buffer { return &pb.ArrayEncoding_Buffer{Index: i} }

func flatOf(bits uint64, buffer uint32) *pb.ArrayEncoding {
	return flatAt(bits, bufferOf(buffer))
}

func flatAt(bits uint64, b *pb.ArrayEncoding_Buffer) *pb.ArrayEncoding {
	return &pb.ArrayEncoding{Encoding: &pb.ArrayEncoding_Flat_{Flat: &pb.ArrayEncoding_Flat{BitsPerValue: bits, Buffer: b}}}
}

func noNulls(e *pb.ArrayEncoding) *pb.ArrayEncoding {
	return &pb.ArrayEncoding{Encoding: &pb.ArrayEncoding_Nullable_{Nullable: &pb.ArrayEncoding_Nullable{
		Nullability: &pb.ArrayEncoding_Nullable_NoNulls_{NoNulls: &pb.ArrayEncoding_Nullable_NoNulls{Values: e}}}}}
}

func someNulls(valid, e *pb.ArrayEncoding) *pb.ArrayEncoding {
	return &pb.ArrayEncoding{Encoding: &pb.ArrayEncoding_Nullable_{Nullable: &pb.ArrayEncoding_Nullable{
		Nullability: &pb.ArrayEncoding_Nullable_SomeNulls_{SomeNulls: &pb.ArrayEncoding_Nullable_SomeNulls{Validity: valid, Values: e}}}}}
}

func allNulls() *pb.ArrayEncoding {
	return &pb.ArrayEncoding{Encoding: &pb.ArrayEncoding_Nullable_{Nullable: &pb.ArrayEncoding_Nullable{
		Nullability: &pb.ArrayEncoding_Nullable_AllNulls_{AllNulls: &pb.ArrayEncoding_Nullable_AllNulls{}}}}}
}

func binaryOf(ends, bytes *pb.ArrayEncoding, adjust uint64) *pb.ArrayEncoding {
	return &pb.ArrayEncoding{Encoding: &pb.ArrayEncoding_Binary_{Binary: &pb.ArrayEncoding_Binary{Ends: ends, Bytes: bytes, NullAdjustment: adjust}}}
}

func listEncoding(ends *pb.ArrayEncoding, adjust, items uint64) *pb.ArrayEncoding {
	return &pb.ArrayEncoding{Encoding: &pb.ArrayEncoding_List_{List: &pb.ArrayEncoding_List{Offsets: ends, NullAdjustment: adjust, NumItems: items}}}
}

func fslOf(dim uint32, items *pb.ArrayEncoding) *pb.ArrayEncoding {
	return &pb.ArrayEncoding{Encoding: &pb.ArrayEncoding_FixedSizeList_{FixedSizeList: &pb.ArrayEncoding_FixedSizeList{Dimension: dim, Items: items}}}
}

func dictOf(keys, items *pb.ArrayEncoding, n uint32) *pb.ArrayEncoding {
	return &pb.ArrayEncoding{Encoding: &pb.ArrayEncoding_Dictionary_{Dictionary: &pb.ArrayEncoding_Dictionary{Keys: keys, Items: items, NumItems: n}}}
}

func packedBitsOf(w, all uint64, buffer uint32, signed bool) *pb.ArrayEncoding {
	return &pb.ArrayEncoding{Encoding: &pb.ArrayEncoding_Bitpacked_{Bitpacked: &pb.ArrayEncoding_Bitpacked{
		CompressedBitsPerValue: w, UncompressedBitsPerValue: all, Buffer: bufferOf(buffer), Signed: signed}}}
}

func nonNegOf(w, all uint64, buffer uint32) *pb.ArrayEncoding {
	return &pb.ArrayEncoding{Encoding: &pb.ArrayEncoding_BitpackedForNonNeg_{BitpackedForNonNeg: &pb.ArrayEncoding_BitpackedForNonNeg{
		CompressedBitsPerValue: w, UncompressedBitsPerValue: all, Buffer: bufferOf(buffer)}}}
}

func fixedBinaryOf(w uint32, bytes *pb.ArrayEncoding) *pb.ArrayEncoding {
	return &pb.ArrayEncoding{Encoding: &pb.ArrayEncoding_FixedSizeBinary_{FixedSizeBinary: &pb.ArrayEncoding_FixedSizeBinary{ByteWidth: w, Bytes: bytes}}}
}

func constantOf(v []byte) *pb.ArrayEncoding {
	return &pb.ArrayEncoding{Encoding: &pb.ArrayEncoding_Constant_{Constant: &pb.ArrayEncoding_Constant{Value: v}}}
}

// u64s are numbers as they are stored.
func u64s(v ...uint64) []byte {
	var b []byte
	for _, x := range v {
		b = binary.LittleEndian.AppendUint64(b, x)
	}
	return b
}

// packBits packs values as bit-packed pages do: one behind the other, lowest bit first.
func packBits(values []uint64, w uint64) []byte {
	out := make([]byte, (uint64(len(values))*w+7)/8)
	for i, v := range values {
		for j := range w {
			at := uint64(i)*w + j
			out[at/8] |= byte(v>>j&1) << (at % 8)
		}
	}
	return out
}

// bits packs what is not null.
func validBits(valid []bool) []byte {
	v := make([]uint64, len(valid))
	for i, ok := range valid {
		if ok {
			v[i] = 1
		}
	}
	return packBits(v, 1)
}

// stringsPage is a binary page of strings; nil ones are null.
func stringsPage(values []*string) pageSpec {
	var data []byte
	ends := make([]uint64, len(values))
	for i, s := range values {
		if s != nil {
			data = append(data, *s...)
		}
		ends[i] = uint64(len(data))
	}
	adjust := uint64(len(data)) + 1
	for i, s := range values {
		if s == nil {
			ends[i] += adjust
		}
	}
	return pageSpec{uint64(len(values)), binaryOf(noNulls(flatOf(64, 0)), flatOf(8, 1), adjust), [][]byte{u64s(ends...), data}}
}
