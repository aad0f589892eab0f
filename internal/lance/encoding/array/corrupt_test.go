package array

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// TestContradictions has pages that contradict themselves: each is an error that
// says what was found.
func TestContradictions(t *testing.T) {
	p, text := arrow.PrimitiveTypes, arrow.BinaryTypes.String
	ends := func(v ...uint64) pageSpec {
		return pageSpec{uint64(len(v)), binaryOf(flatOf(64, 0), flatOf(8, 1), 100), [][]byte{u64s(v...), []byte("abcdefghij")}}
	}
	zstd := &pb.ArrayEncoding{Encoding: &pb.ArrayEncoding_Flat_{Flat: &pb.ArrayEncoding_Flat{
		BitsPerValue: 8, Buffer: bufferOf(1), Compression: &pb.ArrayEncoding_Compression{Scheme: "zstd"}}}}
	scheme := &pb.ArrayEncoding{Encoding: &pb.ArrayEncoding_Flat_{Flat: &pb.ArrayEncoding_Flat{
		BitsPerValue: 64, Buffer: bufferOf(0), Compression: &pb.ArrayEncoding_Compression{Scheme: "brotli"}}}}
	deep := flatOf(64, 0)
	for range 2 * maxDepth {
		deep = noNulls(deep)
	}
	one := [][]byte{make([]byte, 64), make([]byte, 64)}
	list := arrow.ListOf(p.Uint8)
	struc := arrow.StructOf(arrow.Field{Name: "a", Type: p.Int32}, arrow.Field{Name: "b", Type: p.Int64})
	packed := func(e ...*pb.ArrayEncoding) *pb.ArrayEncoding {
		return &pb.ArrayEncoding{Encoding: &pb.ArrayEncoding_PackedStruct_{PackedStruct: &pb.ArrayEncoding_PackedStruct{Inner: e, Buffer: bufferOf(0)}}}
	}
	fsst := &pb.ArrayEncoding{Encoding: &pb.ArrayEncoding_Fsst{Fsst: &pb.ArrayEncoding_FSST{Binary: ends(1).enc, SymbolTable: []byte("x")}}}
	for _, c := range []struct {
		name string
		typ  arrow.DataType
		page pageSpec
		want error
		says string
	}{
		{"another width", p.Int32, pageSpec{2, flatOf(64, 0), one}, column.ErrCorrupt, "32 bits"},
		{"no buffer of that number", p.Int64, pageSpec{2, flatOf(64, 7), one}, column.ErrCorrupt, "buffer 7 of the page, which has 2"},
		{"no buffer of the column", p.Int64, pageSpec{2, flatAt(64, &pb.ArrayEncoding_Buffer{Home: pb.ArrayEncoding_Buffer_COLUMN}), one}, column.ErrCorrupt, "of the column"},
		{"no buffer of the file", p.Int64, pageSpec{2, flatAt(64, &pb.ArrayEncoding_Buffer{Index: 5, Home: pb.ArrayEncoding_Buffer_FILE}), one}, column.ErrCorrupt, "of the file"},
		{"home unknown", p.Int64, pageSpec{2, flatAt(64, &pb.ArrayEncoding_Buffer{Home: 9}), one}, column.ErrUnsupported, "home 9"},
		{"no buffer", p.Int64, pageSpec{2, flatAt(64, nil), one}, column.ErrCorrupt, "no buffer"},
		{"short buffer", p.Int64, pageSpec{9, flatOf(64, 0), one}, column.ErrCorrupt, "buffer of 64 bytes"},
		{"short validity", p.Int64, pageSpec{8, someNulls(flatOf(1, 1), flatOf(64, 0)), [][]byte{one[0], nil}}, column.ErrCorrupt, "1 bits"},
		{"validity of bytes", p.Int64, pageSpec{8, someNulls(flatOf(8, 1), flatOf(64, 0)), one}, column.ErrUnsupported, "validity"},
		{"odd width", p.Int64, pageSpec{2, flatOf(13, 0), one}, column.ErrUnsupported, "13 bits"},
		{"compression unknown", p.Int64, pageSpec{2, scheme, one}, column.ErrUnsupported, "brotli"},
		{"nothing", p.Int64, pageSpec{2, &pb.ArrayEncoding{}, one}, column.ErrUnsupported, "unknown"},
		{"nullability unknown", p.Int64, pageSpec{2, &pb.ArrayEncoding{Encoding: &pb.ArrayEncoding_Nullable_{Nullable: &pb.ArrayEncoding_Nullable{}}}, one}, column.ErrUnsupported, "nullability"},
		{"too deep", p.Int64, pageSpec{2, deep, one}, column.ErrCorrupt, "within each other"},
		{"strings for numbers", p.Int64, ends(1, 2), column.ErrUnsupported, "binary"},
		{"numbers for strings", text, pageSpec{2, flatOf(64, 0), one}, column.ErrCorrupt, "flat(64)"},
		{"numbers for nulls", arrow.Null, pageSpec{2, flatOf(64, 0), one}, column.ErrCorrupt, "null"},
		{"ends fall", text, ends(3, 2), column.ErrCorrupt, "fall from 3 to 2"},
		{"ends fall and rise", text, ends(3, 2, 5), column.ErrCorrupt, "fall from 3 to 2"},
		{"end beyond the bytes", text, ends(3, 11), column.ErrCorrupt, "buffer of 10 bytes"},
		{"end beyond the adjustment", text, ends(3, 250, 5), column.ErrCorrupt, "end 250"},
		{"no adjustment", text, pageSpec{1, binaryOf(flatOf(64, 0), flatOf(8, 1), 0), ends(1).buffers}, column.ErrCorrupt, "nothing added"},
		{"ends of 32 bits", text, pageSpec{1, binaryOf(flatOf(32, 0), flatOf(8, 1), 9), ends(1).buffers}, column.ErrCorrupt, "ends of 32 bits"},
		{"bytes of 16 bits", text, pageSpec{1, binaryOf(flatOf(64, 0), flatOf(16, 1), 9), ends(1).buffers}, column.ErrCorrupt, "bytes of 16 bits"},
		{"nulls among ends", text, pageSpec{1, binaryOf(allNulls(), flatOf(8, 1), 9), ends(1).buffers}, column.ErrUnsupported, "nullable(all)"},
		{"not compressed", text, pageSpec{1, binaryOf(flatOf(64, 0), zstd, 100), ends(1).buffers}, column.ErrCorrupt, "ZSTD"},
		{"no symbol table", text, pageSpec{1, fsst, ends(1).buffers}, column.ErrCorrupt, "symbol table"},
		{"strings of another length", text, pageSpec{2, fixedBinaryOf(5, flatOf(32, 0)), one}, column.ErrCorrupt, "5 bytes"},
		{"strings of a length beyond the buffer", text, pageSpec{2, fixedBinaryOf(50, flatOf(8, 0)), one}, column.ErrCorrupt, "buffer of 64"},
		{"items of another number", arrow.FixedSizeListOf(3, p.Uint8), pageSpec{2, fslOf(4, flatOf(8, 0)), one}, column.ErrCorrupt, "4 items"},
		{"no items", arrow.FixedSizeListOf(3, p.Uint8), pageSpec{2, flatOf(24, 0), one}, column.ErrCorrupt, "flat(24)"},
		{"nothing kept", p.Int32, pageSpec{2, packedBitsOf(0, 32, 0, false), one}, column.ErrCorrupt, "0 bits"},
		{"more kept than there is", p.Int32, pageSpec{2, packedBitsOf(33, 32, 0, false), one}, column.ErrCorrupt, "33 bits"},
		{"packed values of an odd width", p.Int32, pageSpec{2, packedBitsOf(3, 24, 0, false), one}, column.ErrUnsupported, "24 bits"},
		{"short packed buffer", p.Int32, pageSpec{52, packedBitsOf(10, 32, 0, false), one}, column.ErrCorrupt, "buffer of 64"},
		{"short block", p.Int32, pageSpec{2, nonNegOf(10, 32, 0), one}, column.ErrCorrupt, "blocks of 1024"},
		{"key beyond the items", text, pageSpec{2, dictOf(flatOf(8, 0), ends(1).enc, 1), [][]byte{{1, 2}, {}}}, column.ErrCorrupt, ""},
		{"keys of 24 bits", text, pageSpec{2, dictOf(flatOf(24, 0), allNulls(), 1), one}, column.ErrCorrupt, "keys of 24 bits"},
		{"a dictionary of lists", arrow.FixedSizeListOf(3, p.Uint8), pageSpec{2, dictOf(flatOf(8, 0), allNulls(), 1), one}, column.ErrUnsupported, "dictionary for"},
		{"keys of another width", &arrow.DictionaryType{IndexType: p.Int16, ValueType: text}, pageSpec{2, dictOf(flatOf(8, 0), allNulls(), 1), one}, column.ErrCorrupt, "keys of 8 bits"},
		{"negative key", &arrow.DictionaryType{IndexType: p.Int8, ValueType: text}, pageSpec{2, dictOf(flatOf(8, 0), allNulls(), 1), [][]byte{{0, 0xff}}}, column.ErrCorrupt, "key 255"},
		{"no dictionary", &arrow.DictionaryType{IndexType: p.Int8, ValueType: text}, pageSpec{2, flatOf(8, 0), one}, column.ErrCorrupt, "flat(8)"},
		{"fewer fields", struc, pageSpec{2, packed(flatOf(32, 0)), one}, column.ErrCorrupt, "1 fields"},
		{"fields of another width", struc, pageSpec{2, packed(flatOf(32, 0), flatOf(32, 0)), one}, column.ErrCorrupt, "64 bits"},
		{"packed nulls", struc, pageSpec{2, packed(flatOf(32, 0), someNulls(flatOf(1, 0), flatOf(64, 0))), one}, column.ErrUnsupported, "packed as"},
		{"short packed rows", struc, pageSpec{6, packed(flatOf(32, 0), flatOf(64, 0)), one}, column.ErrCorrupt, "buffer of 64"},
		{"no list", list, pageSpec{2, flatOf(64, 0), one}, column.ErrCorrupt, "something else"},
		{"lists end early", list, pageSpec{2, listEncoding(flatOf(64, 0), 10, 4), [][]byte{u64s(1, 3)}}, column.ErrCorrupt, "item 3 of 4"},
		{"lists end late", list, pageSpec{2, listEncoding(flatOf(64, 0), 10, 4), [][]byte{u64s(1, 5)}}, column.ErrCorrupt, "item 5 of 4"},
		{"lists fall", list, pageSpec{3, listEncoding(flatOf(64, 0), 10, 4), [][]byte{u64s(3, 2, 4)}}, column.ErrCorrupt, "fall from 3 to 2"},
		{"lists without adjustment", list, pageSpec{1, listEncoding(flatOf(64, 0), 0, 4), [][]byte{u64s(4)}}, column.ErrCorrupt, "nothing added"},
		{"other items", list, pageSpec{1, listEncoding(flatOf(64, 0), 10, 5), [][]byte{u64s(5)}}, column.ErrCorrupt, "its lists in column 0 have 5"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := field("x", c.typ)
			f.Packed = c.typ == struc
			f.Children = nil
			spec := &fileSpec{schema: schemaOf(), rows: c.page.rows, columns: []columnSpec{{pages: []pageSpec{c.page}}}}
			if c.typ == list {
				f = field("x", c.typ)
				spec.columns = append(spec.columns, columnSpec{pages: []pageSpec{{4, flatOf(8, 0), [][]byte{{1, 2, 3, 4}}}}})
			}
			raw := spec.write(t)
			r, err := Open(openBytes(t, raw), f)
			if err == nil {
				_ = r.Need(0, r.Rows())
				_ = r.Pages()
				_, err = r.Read(t.Context(), &source{b: raw}, 0, r.Rows(), 1<<20)
			}
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
				t.Fatalf("%v, want %v with %q", err, c.want, c.says)
			}
			if !strings.Contains(err.Error(), "column 0") {
				t.Errorf("no column in %q", err)
			}
		})
	}
}

// known tells whether an error is one that a reader may return.
func known(err error) bool {
	return errors.Is(err, column.ErrCorrupt) || errors.Is(err, column.ErrUnsupported) || errors.Is(err, column.ErrLimit)
}

// readAll reads a field, and checks what comes out against the rules of Arrow.
func readAll(t testing.TB, open func() (column.Reader, error), src column.Source, limit int64) {
	r, err := open()
	if err != nil {
		if !known(err) {
			t.Fatalf("opening: %v", err)
		}
		return
	}
	_ = r.Pages()
	n := r.Rows()
	for _, x := range [][2]uint64{{0, n}, {n / 3, n - n/3}, {n / 2, n/2 + min(n-n/2, 3)}} {
		if x[0] > x[1] {
			continue
		}
		_ = r.Need(x[0], x[1])
		a, err := r.Read(t.Context(), src, x[0], x[1], limit)
		if err != nil {
			if !known(err) {
				t.Fatalf("rows %d to %d: %v", x[0], x[1], err)
			}
			continue
		}
		// Lance hands out strings that are no UTF-8 as they are, too.
		if err := array.ValidateFull(a); err != nil && !strings.Contains(err.Error(), "utf8") {
			t.Fatalf("rows %d to %d: %v", x[0], x[1], err)
		}
		if got := bytesOf(a.Data()); got > limit {
			t.Fatalf("%d bytes, limit %d", got, limit)
		}
		a.Release()
	}
}

// TestFlippedBits flips bits of whole files: there is an error, or there are some values.
func TestFlippedBits(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, kind := range kinds {
		fx := readFixture(t, "14.0.2", kind)
		all := fields(fx.rows.Schema())
		for range 150 {
			raw := append([]byte(nil), fx.raw...)
			at := rng.IntN(len(raw))
			if rng.IntN(2) == 0 { // half of them in the metadata
				at = int(fx.file.DataEnd) + rng.IntN(len(raw)-int(fx.file.DataEnd))
			}
			raw[at] ^= 1 << rng.IntN(8)
			f, err := tryBytes(t, raw)
			if err != nil {
				continue
			}
			for _, field := range all {
				readAll(t, func() (column.Reader, error) { return Open(f, field) }, &source{b: raw}, 1<<20)
			}
		}
	}
}
