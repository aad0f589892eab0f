package array

import (
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// fuzzFields are the fields that pages are read as.
func fuzzFields() []column.Field {
	p := arrow.PrimitiveTypes
	struc := field("x", arrow.StructOf(arrow.Field{Name: "a", Type: p.Int32}, arrow.Field{Name: "b", Type: arrow.FixedSizeListOf(2, p.Int16)}))
	struc.Packed, struc.Children = true, nil
	out := []column.Field{struc}
	for _, t := range []arrow.DataType{
		p.Int8, p.Uint16, p.Int32, p.Float64, arrow.FixedWidthTypes.Boolean, &arrow.FixedSizeBinaryType{ByteWidth: 3}, arrow.Null,
		arrow.BinaryTypes.String, arrow.BinaryTypes.LargeBinary, arrow.FixedSizeListOf(3, p.Float32),
		arrow.FixedSizeListOf(2, arrow.FixedSizeListOf(3, arrow.FixedWidthTypes.Boolean)),
		&arrow.DictionaryType{IndexType: p.Int8, ValueType: arrow.BinaryTypes.String},
		&arrow.DictionaryType{IndexType: p.Uint16, ValueType: p.Int32},
		arrow.ListOf(p.Uint8), arrow.LargeListOf(arrow.BinaryTypes.String), &arrow.Decimal128Type{Precision: 10, Scale: 2},
	} {
		out = append(out, field("x", t))
	}
	return out
}

// FuzzPage reads pages of any encoding out of any bytes: as any field, twice, so
// that several pages are put together. The second column holds items of lists.
func FuzzPage(f *testing.F) {
	all := fuzzFields()
	seeds := 0
	add := func(p pageSpec) {
		enc, err := proto.Marshal(p.enc)
		if err != nil {
			f.Fatal(err)
		}
		var data []byte
		cuts := [2]uint16{}
		for i, b := range p.buffers {
			data = append(data, b[:min(len(b), 400)]...)
			if i < 2 {
				cuts[i] = uint16(len(data))
			}
		}
		seeds++
		for i, x := range all { // the fields that the page can be read as, and another one
			meta := &pb.ColumnMetadata_Page{BufferOffsets: make([]uint64, 9), BufferSizes: make([]uint64, 9)}
			_, err := (&compiler{&page{of: &col{file: new(datafile.File)}, meta: meta}}).values(x.Type, p.enc, maxDepth)
			if _, lists := offsetBytes(x.Type); err == nil || i == seeds%len(all) || lists && p.enc.GetList() != nil {
				f.Add(enc, data, cuts[0], cuts[1], uint16(min(p.rows, 100)), uint8(i))
			}
		}
	}
	seedPages(f, add)
	f.Fuzz(func(t *testing.T, enc, data []byte, cut1, cut2, rows uint16, kind uint8) {
		e := new(pb.ArrayEncoding)
		if proto.Unmarshal(enc, e) != nil || len(data) > 1<<16 {
			return
		}
		n := uint64(len(data))
		a, b := min(uint64(cut1), n), min(uint64(cut2), n)
		a, b = min(a, b), max(a, b)
		page := &pb.ColumnMetadata_Page{
			BufferOffsets: []uint64{0, a, b}, BufferSizes: []uint64{a, b - a, n - b}, Length: uint64(rows),
			Encoding: wrapped(t, "ArrayEncoding", e),
		}
		items := &pb.ColumnMetadata_Page{BufferOffsets: []uint64{0}, BufferSizes: []uint64{n}, Length: n, Encoding: wrapped(t, "ArrayEncoding", flatOf(8, 0))}
		if field := all[int(kind)%len(all)]; field.Type.ID() == arrow.LARGE_LIST {
			items.Length = 10
			items.Encoding = wrapped(t, "ArrayEncoding", binaryOf(flatOf(64, 0), flatOf(8, 0), 1<<20))
		}
		values := wrapped(t, "ColumnEncoding", &pb.ColumnEncoding{Encoding: &pb.ColumnEncoding_Values{Values: &emptypb.Empty{}}})
		file := &datafile.File{
			Major: 2, Descriptor: &pb.FileDescriptor{Length: 2 * uint64(rows)}, DataEnd: n,
			GlobalBuffers: []datafile.Span{{Pos: 0, Size: n}},
			Columns: []*pb.ColumnMetadata{
				{Encoding: values, Pages: []*pb.ColumnMetadata_Page{page, page}, BufferOffsets: []uint64{0}, BufferSizes: []uint64{n}},
				{Encoding: values, Pages: []*pb.ColumnMetadata_Page{items}},
			},
		}
		readAll(t, func() (column.Reader, error) { return Open(file, all[int(kind)%len(all)]) }, &source{b: data}, 1<<20)
	})
}

// seedPages calls add for a page of each encoding, made by Lance and by hand.
func seedPages(f *testing.F, add func(pageSpec)) {
	for _, kind := range kinds {
		fx := readFixture(f, "14.0.2", kind)
		seen := map[string]bool{}
		for _, c := range fx.file.Columns {
			for _, m := range c.GetPages() {
				e, err := (&page{meta: m}).decode()
				if err != nil {
					f.Fatal(err)
				}
				if text := describe(e); seen[text] {
					continue
				} else {
					seen[text] = true
				}
				p := pageSpec{rows: m.GetLength(), enc: e}
				for i, pos := range m.GetBufferOffsets() {
					p.buffers = append(p.buffers, fx.raw[pos:][:m.GetBufferSizes()[i]])
				}
				add(p)
			}
		}
	}
	for _, make := range []func(testing.TB) (*fileSpec, arrow.RecordBatch){packedFile, textsFile, constantFile} {
		spec, _ := make(f)
		for _, c := range spec.columns {
			add(c.pages[len(c.pages)-1])
		}
	}
}
