package block

import (
	"errors"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"google.golang.org/protobuf/proto"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
)

// fuzzLimit bounds results, so that whatever is larger is found.
const fuzzLimit = 1 << 16

// sound checks that a block is what its fields say, so that Array can do without looking.
func sound(t *testing.T, v *Values) {
	t.Helper()
	switch v.Kind {
	case Fixed:
		if len(v.Data) != (v.N*v.Bits+7)/8 {
			t.Fatalf("%d values of %d bits in %d bytes", v.N, v.Bits, len(v.Data))
		}
	case Variable:
		if len(v.Offsets) != v.N+1 || v.Offsets[0] != 0 || v.Offsets[v.N] != int64(len(v.Data)) {
			t.Fatalf("%d values, %d offsets, %d bytes", v.N, len(v.Offsets), len(v.Data))
		}
		for i := range v.N {
			if v.Offsets[i] > v.Offsets[i+1] {
				t.Fatalf("offset %d behind %d", v.Offsets[i+1], v.Offsets[i])
			}
		}
	case List:
		if v.Items.N != v.N*v.Dim || v.Valid != nil && len(v.Valid) != (v.Items.N+7)/8 {
			t.Fatalf("%d lists of %d, %d items, %d bytes of validity", v.N, v.Dim, v.Items.N, len(v.Valid))
		}
		sound(t, v.Items)
	case Struct:
		for _, f := range v.Fields {
			if f.N != v.N {
				t.Fatalf("%d structs, %d values of a field", v.N, f.N)
			}
			sound(t, f)
		}
	default:
		t.Fatalf("kind %d", v.Kind)
	}
}

func outcome(t *testing.T, v *Values, n int, err error) {
	t.Helper()
	if err != nil {
		if !errors.Is(err, column.ErrCorrupt) && !errors.Is(err, column.ErrLimit) && !errors.Is(err, column.ErrUnsupported) {
			t.Fatalf("error without a class: %v", err)
		}
		return
	}
	if v.N != n {
		t.Fatalf("%d values, %d wanted", v.N, n)
	}
	if v.size() > fuzzLimit {
		t.Fatalf("%d bytes", v.size())
	}
	sound(t, v)
	for _, dt := range []arrow.DataType{arrow.PrimitiveTypes.Int32, arrow.BinaryTypes.String, arrow.FixedWidthTypes.Boolean, arrow.FixedSizeListOf(4, arrow.PrimitiveTypes.Float32)} {
		if a, err := v.Array(dt, nil, 0); err == nil && a.Len() != v.N {
			t.Fatalf("array of %d for %d values", a.Len(), v.N)
		}
	}
}

func bytesOf(tb testing.TB, e enc) []byte {
	tb.Helper()
	b, err := proto.Marshal(e)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

func FuzzChunk(f *testing.F) {
	for _, p := range realPages(f) {
		if m := p.layout.GetMiniBlock(); m != nil {
			for _, c := range p.chunks()[:1] {
				one := append(c.buffers[:len(c.buffers):len(c.buffers)], nil, nil)
				f.Add(bytesOf(f, m.GetValueCompression()), one[0], one[1], one[2], uint16(c.n), uint16(0), uint16(c.n))
			}
		}
	}
	for _, c := range chunkCases() {
		one := append(c.buffers[:len(c.buffers):len(c.buffers)], nil, nil)
		f.Add(bytesOf(f, c.enc), one[0], one[1], one[2], uint16(c.n), uint16(1), uint16(c.n))
	}
	f.Fuzz(func(t *testing.T, tree, b0, b1, b2 []byte, n, from, to uint16) {
		e := new(pbEncoding)
		if proto.Unmarshal(tree, e) != nil {
			return
		}
		Names(e)
		c, err := NewChunk(e)
		if err != nil || c.Buffers() > 3 {
			return
		}
		v := c.New(fuzzLimit)
		buffers := [][]byte{b0, b1, b2}[:c.Buffers()]
		err = c.Append(v, buffers, int(n), int(from), int(to))
		outcome(t, v, int(to)-int(from), err)
		if err == nil && v.AppendNulls(3) == nil && c.Append(v, buffers, int(n), int(from), int(to)) == nil {
			outcome(t, v, 2*(int(to)-int(from))+3, nil)
		}
	})
}

func FuzzZip(f *testing.F) {
	for _, p := range realPages(f) {
		if z := p.layout.GetFullZip(); z != nil {
			f.Add(bytesOf(f, z.GetValueCompression()), p.buffers[0][:min(len(p.buffers[0]), 2000)], uint16(z.GetBitsPerValue()/8))
		}
	}
	f.Add(bytesOf(f, structOf(fixedField(16, flatOf(16)), variableField(32, fsstOf(symbols(), variableOf(flatOf(32)))))), join(u16s(1), u32s(2), 0, 1), uint16(8))
	f.Add(bytesOf(f, generalOf(zstdScheme, variableOf(flatOf(32)))), zstdSized(f, "some text, some text"), uint16(100))
	f.Fuzz(func(t *testing.T, tree, data []byte, size uint16) {
		e := new(pbEncoding)
		if proto.Unmarshal(tree, e) != nil {
			return
		}
		z, err := NewZip(e)
		if err != nil {
			return
		}
		v := z.New(fuzzLimit)
		if z.Bits() > 0 {
			n := len(data) * 8 / z.Bits()
			outcome(t, v, n, z.AppendFixed(v, data[:n*(z.Bits()/8)], n))
			return
		}
		n := 0
		for len(data) > 0 {
			part := data[:min(len(data), max(int(size), 1))]
			data = data[len(part):]
			if err := z.AppendVariable(v, part); err != nil {
				outcome(t, v, n, err)
				return
			}
			n++
		}
		outcome(t, v, n, nil)
	})
}

func FuzzWhole(f *testing.F) {
	for _, p := range realPages(f) {
		if d := p.layout.GetMiniBlock().GetDictionary(); d != nil {
			f.Add(bytesOf(f, d), p.buffers[2], uint32(p.layout.GetMiniBlock().GetNumDictionaryItems()))
		}
	}
	f.Add(bytesOf(f, rleOf(flatOf(16), flatOf(8))), join(u64s(10), u16s(1, 1, 0, 0, 1), 0xff, 0xf5, 0xff, 0xf5, 24), uint32(1024))
	f.Add(bytesOf(f, outOfLineOf(16, flatOf(11))), join(packBlock(16, 11, false, 0, 1024), u16s(1024, 1025)), uint32(1026))
	f.Add(bytesOf(f, constantOf([]byte{1, 2})), []byte(nil), uint32(50))
	f.Fuzz(func(t *testing.T, tree, data []byte, n uint32) {
		e := new(pbEncoding)
		if proto.Unmarshal(tree, e) != nil {
			return
		}
		w, err := NewWhole(e)
		if err != nil {
			return
		}
		v, err := w.Decode(data, int(n), fuzzLimit)
		outcome(t, v, int(n), err)
		levels, levelErr := AppendLevels(nil, w, data, int(n), fuzzLimit)
		if err == nil && levelErr == nil && len(levels) != int(n) {
			t.Fatalf("%d levels, %d wanted", len(levels), n)
		}
		if err != nil && levelErr == nil {
			t.Fatalf("levels although %v", err)
		}
	})
}

func FuzzTaken(f *testing.F) {
	f.Add([]byte("abcdef"), []byte{0, 1, 2, 1}, byte(0), byte(2), uint16(4))
	f.Add([]byte("abcdefgh"), []byte{0, 0, 1, 0}, byte(1), byte(4), uint16(2))
	f.Fuzz(func(t *testing.T, items, indices []byte, kind, width byte, to uint16) {
		bytes := 1 << (kind % 4)
		ix := &Values{Kind: Fixed, Bits: 8 * bytes, N: len(indices) / bytes, Data: indices[:len(indices)/bytes*bytes]}
		w := max(int(width), 1)
		fixed := &Values{Kind: Fixed, Bits: 8 * w, N: len(items) / w, Data: items[:len(items)/w*w]}
		words := stringShape.empty(fuzzLimit)
		for len(items) > 0 {
			n := min(int(items[0]), len(items))
			words.Data = append(words.Data, items[:n]...)
			words.Offsets = append(words.Offsets, int64(len(words.Data)))
			words.N++
			items = items[max(n, 1):]
		}
		for _, dict := range []*Values{fixed, words} {
			v := &Values{Limit: fuzzLimit}
			outcome(t, v, int(to), AppendTaken(v, dict, ix, 0, int(to)))
		}
	})
}
