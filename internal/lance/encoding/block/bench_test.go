package block

import (
	"math/rand/v2"
	"testing"
)

// BenchmarkChunk decodes whole real chunks behind each other; bytes are those of the result.
func BenchmarkChunk(b *testing.B) {
	for _, p := range realPages(b) {
		m := p.layout.GetMiniBlock()
		if m == nil || p.name[:12] != "encodings_22" {
			continue
		}
		b.Run(p.name[13:], func(b *testing.B) {
			c, err := NewChunk(m.GetValueCompression())
			if err != nil {
				b.Fatal(err)
			}
			chunks := p.chunks()
			v := c.New(unlimited)
			read := func() {
				for _, chunk := range chunks {
					if err := c.Append(v, chunk.buffers, chunk.n, 0, chunk.n); err != nil {
						b.Fatal(err)
					}
				}
			}
			read()
			b.SetBytes(v.size())
			b.ReportAllocs()
			for b.Loop() {
				v.reset()
				read()
			}
		})
	}
}

// reset empties a block and keeps its memory.
func (v *Values) reset() {
	v.N, v.Data = 0, v.Data[:0]
	if v.Kind == Variable {
		v.Offsets = v.Offsets[:1]
	}
	if v.Valid != nil {
		v.Valid = v.Valid[:0]
	}
	if v.Items != nil {
		v.Items.reset()
	}
	for _, f := range v.Fields {
		f.reset()
	}
}

func BenchmarkZip(b *testing.B) {
	for _, p := range realPages(b) {
		f := p.layout.GetFullZip()
		if f == nil {
			continue
		}
		b.Run(p.name[13:], func(b *testing.B) {
			z := mustZip(b, f.GetValueCompression())
			v := z.New(unlimited)
			data, width := p.buffers[0], int(f.GetBitsPerOffset()/8)
			var values [][]byte
			for z.Bits() == 0 && len(data) > 0 {
				n := int(data[0]) | int(data[1])<<8 | int(data[2])<<16
				values = append(values, data[width:width+n])
				data = data[width+n:]
			}
			read := func() {
				if z.Bits() > 0 {
					if err := z.AppendFixed(v, data, len(data)/(z.Bits()/8)); err != nil {
						b.Fatal(err)
					}
				}
				for _, value := range values {
					if err := z.AppendVariable(v, value); err != nil {
						b.Fatal(err)
					}
				}
			}
			read()
			b.SetBytes(v.size())
			b.ReportAllocs()
			for b.Loop() {
				v.reset()
				read()
			}
		})
	}
}

func BenchmarkTaken(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	words := strs("lance", "column", "", "a longer string than the others", "chunk", "page", "x", "dictionary")
	ix := &Values{Kind: Fixed, Bits: 32, N: 8192}
	for range ix.N {
		ix.Data = append(ix.Data, u32s(rng.Uint32N(8))...)
	}
	for name, dict := range map[string]*Values{"strings": words, "u64": fixed(64, 8), "u32": fixed(32, 8), "16 bytes": fixed(128, 8)} {
		b.Run(name, func(b *testing.B) {
			v := dict.empty(unlimited)
			if err := AppendTaken(v, dict, ix, 0, ix.N); err != nil {
				b.Fatal(err)
			}
			b.SetBytes(v.size())
			b.ReportAllocs()
			for b.Loop() {
				v.reset()
				if err := AppendTaken(v, dict, ix, 0, ix.N); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkLevels(b *testing.B) {
	for name, c := range map[string]struct {
		enc  enc
		data []byte
	}{
		"bit-packed": {outOfLineOf(16, flatOf(1)), packBlock(16, 1, false, 0, 1024)},
		"runs":       {rleOf(flatOf(16), flatOf(8)), join(u64s(10), u16s(1, 1, 0, 0, 1), 0xff, 0xf5, 0xff, 0xf5, 24)},
	} {
		b.Run(name, func(b *testing.B) {
			w, err := NewWhole(c.enc)
			if err != nil {
				b.Fatal(err)
			}
			dst := make([]uint16, 0, 1024)
			b.SetBytes(2048)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := AppendLevels(dst, w, c.data, 1024, unlimited); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
