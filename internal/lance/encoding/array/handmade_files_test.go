package array

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/bitpack"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// packedFile has bit-packed pages of all kinds.
func packedFile(tb testing.TB) (*fileSpec, arrow.RecordBatch) {
	const rows = 1500
	s := newSheet(tb, rows)
	rng := rand.New(rand.NewPCG(1, 2))
	type kind struct {
		logical string
		typ     arrow.DataType
		w       uint64
		signed  bool
		nonNeg  bool
	}
	p := arrow.PrimitiveTypes
	for _, k := range []kind{
		{"int8", p.Int8, 3, true, false}, {"int16", p.Int16, 11, true, false}, {"int32", p.Int32, 17, true, false},
		{"int64", p.Int64, 33, true, false}, {"int64", p.Int64, 61, true, false}, {"int32", p.Int32, 8, true, false},
		{"uint8", p.Uint8, 5, false, false}, {"uint16", p.Uint16, 9, false, false}, {"uint32", p.Uint32, 31, false, false},
		{"uint64", p.Uint64, 63, false, false}, {"int32", p.Int32, 16, false, false}, {"uint64", p.Uint64, 1, false, false},
		{"uint8", p.Uint8, 3, false, true}, {"int16", p.Int16, 9, false, true}, {"uint32", p.Uint32, 20, false, true},
		{"int64", p.Int64, 40, false, true}, {"uint32", p.Uint32, 32, false, true}, {"uint64", p.Uint64, 1, false, true},
	} {
		all, _ := fixedBits(k.typ)
		values, kept, valid := make([]uint64, rows), make([]uint64, rows), make([]bool, rows)
		for i := range values {
			kept[i] = rng.Uint64() >> (64 - k.w)
			if i%5 == 0 {
				kept[i] = (^uint64(0) >> (64 - k.w)) * uint64(i%2)
			}
			values[i] = kept[i]
			if k.signed && kept[i]>>(k.w-1)&1 == 1 {
				values[i] |= ^uint64(0) << k.w
			}
			valid[i] = i%4 != 1 || i < rows/2
		}
		var c columnSpec
		for _, x := range pagesOf(rows) {
			v := kept[x[0]:x[1]]
			data, enc := packBits(v, k.w), packedBitsOf(k.w, all, 1, k.signed)
			if k.nonNeg {
				data, enc = transpose(tb, v, all, k.w), nonNegOf(k.w, all, 1)
			}
			c.pages = append(c.pages, pageSpec{uint64(len(v)), someNulls(flatOf(1, 0), enc), [][]byte{validBits(valid[x[0]:x[1]]), data}})
		}
		name := fmt.Sprintf("%s_%d", k.logical, k.w)
		if k.nonNeg {
			name += "_transposed"
		}
		s.add(name, k.logical, integers(k.typ, values, valid), c)
	}
	// Ends of strings, packed.
	text, want := words(rows, 3)
	var c columnSpec
	for _, x := range pagesOf(rows) {
		page := stringsPage(text[x[0]:x[1]])
		ends := make([]uint64, x[1]-x[0])
		for i := range ends {
			ends[i] = binary.LittleEndian.Uint64(page.buffers[0][i*8:])
		}
		page.enc.GetBinary().Ends = nonNegOf(20, 64, 0)
		page.buffers[0] = transpose(tb, ends, 64, 20)
		c.pages = append(c.pages, page)
	}
	s.add("text", "string", want, c)
	return s.done()
}

// transpose packs values in blocks of 1024.
func transpose(tb testing.TB, values []uint64, all, w uint64) []byte {
	tb.Helper()
	var out []byte
	for ; len(values) > 0; values = values[min(bitpack.Block, len(values)):] {
		in := make([]byte, bitpack.Block*all/8)
		for i, v := range values[:min(bitpack.Block, len(values))] {
			var b [8]byte
			binary.LittleEndian.PutUint64(b[:], v)
			copy(in[uint64(i)*all/8:], b[:all/8])
		}
		block := make([]byte, bitpack.Size(int(w)))
		if err := bitpack.Pack(block, in, int(all), int(w)); err != nil {
			tb.Fatal(err)
		}
		out = append(out, block...)
	}
	return out
}

// words are strings, some of them null.
func words(n, salt int) ([]*string, arrow.Array) {
	out := make([]*string, n)
	b := array.NewStringBuilder(memory.DefaultAllocator)
	for i := range out {
		if i%6 == salt {
			b.AppendNull()
			continue
		}
		s := fmt.Sprintf("w%04d", i*salt)[:i%5]
		out[i] = &s
		b.Append(s)
	}
	return out, b.NewArray()
}

// textsFile has strings of one length, and strings as lists of bytes.
func textsFile(tb testing.TB) (*fileSpec, arrow.RecordBatch) {
	const rows = 200
	s := newSheet(tb, rows)
	for _, k := range []struct {
		logical string
		typ     arrow.DataType
		w       int
	}{{"string", arrow.BinaryTypes.String, 3}, {"large_binary", arrow.BinaryTypes.LargeBinary, 5}, {"binary", arrow.BinaryTypes.Binary, 1}} {
		var data []byte
		valid := make([]bool, rows)
		for i := range rows {
			v := []byte(fmt.Sprintf("%05d", i*7))[5-k.w:]
			data = append(data, v...)
			valid[i] = i%9 != 4
		}
		var c columnSpec
		for _, x := range pagesOf(rows) {
			c.pages = append(c.pages, pageSpec{uint64(x[1] - x[0]), someNulls(flatOf(1, 0), fixedBinaryOf(uint32(k.w), flatOf(8, 1))),
				[][]byte{validBits(valid[x[0]:x[1]]), data[x[0]*k.w : x[1]*k.w]}})
		}
		s.add(fmt.Sprintf("%s_%d", k.logical, k.w), k.logical, evenArray(k.typ, data, k.w, valid), c)
	}
	text, want := words(rows, 2)
	var lists, items columnSpec
	for _, x := range pagesOf(rows) {
		p := stringsPage(text[x[0]:x[1]])
		lists.pages = append(lists.pages, pageSpec{p.rows, listEncoding(noNulls(flatOf(64, 0)), uint64(len(p.buffers[1]))+1, uint64(len(p.buffers[1]))), p.buffers[:1]})
		items.pages = append(items.pages, pageSpec{uint64(len(p.buffers[1])), noNulls(flatOf(8, 0)), p.buffers[1:]})
	}
	s.add("bytes", "string", want, lists, items)
	return s.done()
}

// evenArray makes strings of one length.
func evenArray(typ arrow.DataType, data []byte, w int, valid []bool) arrow.Array {
	n := len(valid)
	size, _ := offsetBytes(typ)
	var off []byte
	nulls := 0
	for i := range n + 1 {
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], uint64(i*w))
		off = append(off, b[:size]...)
		if i < n && !valid[i] {
			nulls++
		}
	}
	buffers := []*memory.Buffer{memory.NewBufferBytes(validBits(valid)), memory.NewBufferBytes(off), memory.NewBufferBytes(data)}
	return array.MakeFromData(array.NewData(typ, n, buffers, nil, nulls, 0))
}

// homesFile has buffers that belong to the column.
func homesFile(tb testing.TB) (*fileSpec, arrow.RecordBatch) {
	const rows = 90
	s := newSheet(tb, rows)
	values := make([]uint64, rows)
	for i := range values {
		values[i] = uint64(i * i)
	}
	want := integers(arrow.PrimitiveTypes.Int64, values, nil)
	s.add("column", "int64", want, columnSpec{
		buffers: [][]byte{{1, 2, 3}, u64s(values...)},
		pages:   []pageSpec{{rows, noNulls(flatAt(64, &pb.ArrayEncoding_Buffer{Index: 1, Home: pb.ArrayEncoding_Buffer_COLUMN})), nil}},
	})
	return s.done()
}

// constantFile has constants, a dictionary of integers, zones, an empty page, and a
// buffer of the file.
func constantFile(tb testing.TB) (*fileSpec, arrow.RecordBatch) {
	const rows = 40
	s := newSheet(tb, rows)
	sevens := make([]uint64, rows)
	valid := make([]bool, rows)
	keyed := make([]uint64, rows)
	keys := make([]byte, rows)
	for i := range sevens {
		sevens[i], valid[i] = 0x0708, i%3 > 0
		keys[i] = byte(i % 3)
		keyed[i] = []uint64{0, 100, 200}[i%3]
	}
	s.add("same", "uint16", integers(arrow.PrimitiveTypes.Uint16, sevens, valid), columnSpec{pages: []pageSpec{
		{rows, someNulls(flatOf(1, 0), constantOf([]byte{8, 7})), [][]byte{validBits(valid)}}}})
	b := array.NewBooleanBuilder(memory.DefaultAllocator)
	t := array.NewStringBuilder(memory.DefaultAllocator)
	for range rows {
		b.Append(true)
		t.Append("same")
	}
	s.add("yes", "bool", b.NewArray(), columnSpec{pages: []pageSpec{{10, constantOf([]byte{1}), nil}, {30, noNulls(constantOf([]byte{1})), nil}}})
	s.add("text", "string", t.NewArray(), columnSpec{pages: []pageSpec{{rows, constantOf([]byte("same")), nil}}})
	s.add("keyed", "int32", integers(arrow.PrimitiveTypes.Int32, keyed, valid), columnSpec{pages: []pageSpec{
		{rows, dictOf(noNulls(flatOf(8, 0)), noNulls(flatOf(32, 1)), 2), [][]byte{keys, {100, 0, 0, 0, 200, 0, 0, 0}}}}})
	s.file.globals = [][]byte{{9}, bytes.Repeat([]byte{8, 7}, rows)}
	s.add("file", "uint16", integers(arrow.PrimitiveTypes.Uint16, sevens, nil), columnSpec{pages: []pageSpec{
		{rows, noNulls(flatAt(16, &pb.ArrayEncoding_Buffer{Index: 2, Home: pb.ArrayEncoding_Buffer_FILE})), nil}}})
	s.add("zones", "uint16", integers(arrow.PrimitiveTypes.Uint16, sevens, nil), columnSpec{
		pages: []pageSpec{
			{0, noNulls(flatOf(16, 0)), [][]byte{nil}}, // some writers left empty pages
			{rows, noNulls(flatOf(16, 0)), [][]byte{bytes.Repeat([]byte{8, 7}, rows)}},
		},
		wrap: func(e *pb.ColumnEncoding) *pb.ColumnEncoding {
			return &pb.ColumnEncoding{Encoding: &pb.ColumnEncoding_ZoneIndex_{ZoneIndex: &pb.ColumnEncoding_ZoneIndex{RowsPerZone: 10, Inner: e}}}
		},
	})
	return s.done()
}
