package block

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/objects/dirstore"
)

const unlimited = 1 << 40

// realPage is the only page of a column of a file by real Lance, without levels.
type realPage struct {
	name    string
	layout  *pb.PageLayout
	buffers [][]byte
	want    arrow.Array
}

// realPages reads the fixtures.
func realPages(tb testing.TB) []realPage {
	tb.Helper()
	var pages []realPage
	for _, base := range []string{"encodings_21", "encodings_22"} {
		store, err := dirstore.New("testdata", dirstore.Options{})
		if err != nil {
			tb.Fatal(err)
		}
		f, err := datafile.Open(context.Background(), store, base+".lance")
		if err != nil {
			tb.Fatal(err)
		}
		want := expected(tb, "testdata/"+base+".arrow")
		for i, c := range f.Columns {
			page := c.GetPages()[0]
			if len(c.GetPages()) != 1 {
				tb.Fatalf("%s: column %d has %d pages", base, i, len(c.GetPages()))
			}
			p := realPage{name: base + "/" + want.ColumnName(i), layout: new(pb.PageLayout), want: want.Column(i)}
			var a anypb.Any
			if err := proto.Unmarshal(page.GetEncoding().GetDirect().GetEncoding(), &a); err != nil {
				tb.Fatal(err)
			}
			if err := proto.Unmarshal(a.GetValue(), p.layout); err != nil {
				tb.Fatal(err)
			}
			for k, pos := range page.GetBufferOffsets() {
				b := make([]byte, page.GetBufferSizes()[k])
				if err := f.Reader.ReadAt(context.Background(), b, int64(pos)); err != nil {
					tb.Fatal(err)
				}
				p.buffers = append(p.buffers, b)
			}
			pages = append(pages, p)
		}
		if err := f.Close(); err != nil {
			tb.Fatal(err)
		}
	}
	return pages
}

func expected(tb testing.TB, name string) arrow.RecordBatch {
	tb.Helper()
	file, err := os.Open(name)
	if err != nil {
		tb.Fatal(err)
	}
	defer file.Close()
	r, err := ipc.NewFileReader(file)
	if err != nil {
		tb.Fatal(err)
	}
	rec, err := r.RecordBatch(0)
	if err != nil {
		tb.Fatal(err)
	}
	return rec
}

// realChunk is the value buffers of a chunk and its number of values.
type realChunk struct {
	buffers [][]byte
	n       int
}

// chunks splits a mini-block page without levels.
func (p realPage) chunks() []realChunk {
	m, le := p.layout.GetMiniBlock(), binary.LittleEndian
	var chunks []realChunk
	left, data := int(m.GetNumItems()), p.buffers[1]
	word := 2
	if m.GetHasLargeChunk() {
		word = 4
	}
	number := func(b []byte) int {
		if word == 2 {
			return int(le.Uint16(b))
		}
		return int(le.Uint32(b))
	}
	for at := 0; at < len(p.buffers[0]); at += word {
		w := number(p.buffers[0][at:])
		size := (w>>4 + 1) * 8
		b := data[:size]
		data = data[size:]
		c := realChunk{n: 1 << (w & 15)}
		if w&15 == 0 {
			c.n = left
		}
		left -= c.n
		pos := (2 + word*int(m.GetNumBuffers()) + 7) &^ 7
		for k := range int(m.GetNumBuffers()) {
			n := number(b[2+word*k:])
			c.buffers = append(c.buffers, b[pos:pos+n:pos+n])
			pos = (pos + n + 7) &^ 7
		}
		chunks = append(chunks, c)
	}
	return chunks
}

// decode reads rows [from, to) of the page.
func (p realPage) decode(tb testing.TB, from, to int) arrow.Array {
	tb.Helper()
	var v *Values
	if m := p.layout.GetMiniBlock(); m != nil {
		c, err := NewChunk(m.GetValueCompression())
		if err != nil {
			tb.Fatalf("%s: %v", p.name, err)
		}
		if c.Buffers() != int(m.GetNumBuffers()) {
			tb.Fatalf("%s: %d buffers, %d in the file", p.name, c.Buffers(), m.GetNumBuffers())
		}
		v = c.New(unlimited)
		at := 0
		for _, chunk := range p.chunks() {
			lo, hi := max(from-at, 0), min(to-at, chunk.n)
			if lo < hi {
				if err := c.Append(v, chunk.buffers, chunk.n, lo, hi); err != nil {
					tb.Fatalf("%s: %v", p.name, err)
				}
			}
			at += chunk.n
		}
		if d := m.GetDictionary(); d != nil {
			w, err := NewWhole(d)
			if err != nil {
				tb.Fatalf("%s: %v", p.name, err)
			}
			dict, err := w.Decode(p.buffers[2], int(m.GetNumDictionaryItems()), unlimited)
			if err != nil {
				tb.Fatalf("%s: %v", p.name, err)
			}
			indices := v
			v = &Values{Limit: unlimited}
			if err := AppendTaken(v, dict, indices, 0, indices.N); err != nil {
				tb.Fatalf("%s: %v", p.name, err)
			}
		}
	} else {
		v = p.zip(tb, from, to)
	}
	a, err := v.Array(p.want.DataType(), nil, 0)
	if err != nil {
		tb.Fatalf("%s: %v", p.name, err)
	}
	return a
}

// zip reads rows of a full-zip page.
func (p realPage) zip(tb testing.TB, from, to int) *Values {
	tb.Helper()
	f := p.layout.GetFullZip()
	z, err := NewZip(f.GetValueCompression())
	if err != nil {
		tb.Fatalf("%s: %v", p.name, err)
	}
	v := z.New(unlimited)
	if z.Bits() != int(f.GetBitsPerValue()) {
		tb.Fatalf("%s: values of %d bits, %d in the file", p.name, z.Bits(), f.GetBitsPerValue())
	}
	if z.Bits() > 0 {
		row := z.Bits() / 8
		if err := z.AppendFixed(v, p.buffers[0][from*row:to*row], to-from); err != nil {
			tb.Fatalf("%s: %v", p.name, err)
		}
		return v
	}
	data, bytes := p.buffers[0], int(f.GetBitsPerOffset()/8)
	for i := range to {
		var w [8]byte
		copy(w[:bytes], data)
		n := int(binary.LittleEndian.Uint64(w[:]))
		if i >= from {
			if err := z.AppendVariable(v, data[bytes:bytes+n]); err != nil {
				tb.Fatalf("%s, row %d: %v", p.name, i, err)
			}
		}
		data = data[bytes+n:]
	}
	return v
}

func TestRealPages(t *testing.T) {
	seen := make(map[string]int)
	for _, p := range realPages(t) {
		for _, e := range []*pb.CompressiveEncoding{
			p.layout.GetMiniBlock().GetValueCompression(), p.layout.GetMiniBlock().GetDictionary(), p.layout.GetFullZip().GetValueCompression(),
		} {
			if e != nil {
				for _, n := range Names(e) {
					seen[n]++
				}
			}
		}
		n := p.want.Len()
		for _, r := range [][2]int{{0, n}, {0, 1}, {n - 1, n}, {1, n - 1}, {1023, 1025}, {511, 700}, {777, 777}} {
			got := p.decode(t, r[0], r[1])
			want := array.NewSlice(p.want, int64(r[0]), int64(r[1]))
			if !array.Equal(got, want) {
				t.Errorf("%s, rows %v: got\n%s\nwant\n%s", p.name, r, short(got), short(want))
				break
			}
		}
	}
	for _, n := range []string{"flat", "variable", "inline bit-packing", "fsst", "rle", "byte-stream-split", "general", "lz4", "zstd", "fixed-size list", "packed struct", "variable packed struct", "constant"} {
		if seen[n] == 0 {
			t.Errorf("no fixture has %s", n)
		}
	}
}

func short(a arrow.Array) string {
	s := fmt.Sprint(a)
	return s[:min(len(s), 400)] + strings.Repeat("…", min(1, len(s)/401))
}
