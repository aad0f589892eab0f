package block

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// chunked decodes some chunks.
func chunked(t *testing.T, enc *pb.CompressiveEncoding, c *Chunks, take func(chunk int, n int) [][2]int) *Values {
	t.Helper()
	d, err := NewChunk(enc)
	if err != nil {
		t.Fatal(err)
	}
	v, whole := d.New(1<<30), d.New(1<<30)
	at := make([]int, len(c.Buffers))
	for i := range c.Counts {
		n, sizes := c.Chunk(i)
		var bufs [][]byte
		for k, s := range sizes {
			bufs = append(bufs, c.Buffers[k][at[k]:][:s])
			at[k] += int(s)
		}
		for j, r := range take(i, n) {
			if (i+j)%2 == 0 {
				err = d.Append(v, bufs, n, r[0], r[1])
			} else {
				*whole = *d.New(1 << 30)
				if err = d.Append(whole, bufs, n, 0, n); err == nil {
					err = v.AppendValues(whole, r[0], r[1])
				}
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	return v
}

func equalValues(a, b *Values) bool {
	if a.N != b.N || a.Kind != b.Kind {
		return false
	}
	switch a.Kind {
	case List:
		return (a.Valid == nil || bytes.Equal(a.Valid, b.Valid)) && equalValues(a.Items, b.Items)
	case Struct:
		return slices.EqualFunc(a.Fields, b.Fields, equalValues)
	}
	return bytes.Equal(a.Data, b.Data) && slices.Equal(a.Offsets, b.Offsets)
}

// Values taken as they are stored, and put into chunks of the same encoding, are those that are taken when they are decoded.
func TestRechunk(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 7))
	fixed := func(bits, n int, each func(i int) uint64) *Values {
		v := &Values{Kind: Fixed, Bits: bits, N: n}
		for i := range n {
			x := each(i)
			for b := range bits / 8 {
				v.Data = append(v.Data, byte(x>>(8*(b%8))))
			}
		}
		return v
	}
	texts := &Values{Kind: Variable, N: 9000, Offsets: []int64{0}}
	for i := range texts.N {
		texts.Data = fmt.Appendf(texts.Data, "a text of which there is more %d", i*i%1009)
		texts.Offsets = append(texts.Offsets, int64(len(texts.Data)))
	}
	items := fixed(32, 9000, func(int) uint64 { return rnd.Uint64() })
	bools := &Values{Kind: Fixed, Bits: 1, N: 9000, Data: make([]byte, 1125)}
	for i := range bools.Data {
		bools.Data[i] = byte(rnd.Uint32())
	}
	runs := fixed(16, 9000, func(i int) uint64 { return uint64(i / 70) })
	for name, c := range map[string]struct {
		v *Values
		o EncodeOptions
	}{
		"inline":       {fixed(64, 9000, func(i int) uint64 { return uint64(i) }), EncodeOptions{}},
		"flat":         {fixed(64, 9000, func(int) uint64 { return rnd.Uint64() }), EncodeOptions{}},
		"wide":         {fixed(128, 900, func(int) uint64 { return rnd.Uint64() }), EncodeOptions{}},
		"bools":        {bools, EncodeOptions{}},
		"runs":         {runs, EncodeOptions{}},
		"split":        {fixed(64, 9000, func(i int) uint64 { return uint64(i) << 40 }), EncodeOptions{Hints: Hints{Compression: "zstd", BSS: 1}}},
		"lz4":          {fixed(32, 9000, func(i int) uint64 { return uint64(i % 50) }), EncodeOptions{Hints: Hints{Compression: "lz4", RLEThreshold: -1}}},
		"symbols":      {texts, EncodeOptions{}},
		"texts":        {texts, EncodeOptions{Hints: Hints{Compression: "none"}}},
		"large texts":  {texts, EncodeOptions{OffsetBits: 64, Hints: Hints{Compression: "none"}}},
		"texts zstd":   {texts, EncodeOptions{Hints: Hints{Compression: "zstd"}}},
		"lists":        {&Values{Kind: List, Dim: 3, N: 3000, Items: items}, EncodeOptions{}},
		"lists nulls":  {&Values{Kind: List, Dim: 3, N: 3000, Items: items, Valid: bools.Data}, EncodeOptions{}},
		"lists bools":  {&Values{Kind: List, Dim: 9, N: 1000, Items: bools}, EncodeOptions{}},
		"lists of 16":  {&Values{Kind: List, Dim: 8, N: 1125, Items: bools}, EncodeOptions{}},
		"structs":      {&Values{Kind: Struct, N: 9000, Fields: []*Values{items, runs}}, EncodeOptions{}},
		"lists within": {&Values{Kind: List, Dim: 3, N: 1000, Items: &Values{Kind: List, Dim: 3, N: 3000, Items: items}}, EncodeOptions{}},
	} {
		t.Run(name, func(t *testing.T) {
			c.o.Minor = 2
			all, err := EncodeChunks(c.v, c.o)
			if err != nil {
				t.Fatal(err)
			}
			seed := uint64(0)
			take := func(chunk, n int) (out [][2]int) {
				rnd := rand.New(rand.NewPCG(seed, uint64(chunk)))
				for at := rnd.IntN(n); at < n; {
					to := at + 1 + rnd.IntN(n-at)
					out = append(out, [2]int{at, to})
					at = to + rnd.IntN(3)
				}
				return out
			}
			for seed = range 5 {
				want := chunkedPlain(t, all, take)
				some := chunked(t, Stored(all.Encoding), all, take)
				for _, free := range []bool{false, true} {
					again, err := Rechunk(some, all.Encoding, free, nil)
					if err != nil {
						t.Fatal(err)
					}
					if !free && Describe(again.Encoding) != Describe(all.Encoding) {
						t.Fatalf("%s, not %s", Describe(again.Encoding), Describe(all.Encoding))
					}
					got := chunkedPlain(t, again, func(_, n int) [][2]int { return [][2]int{{0, n}} })
					if !equalValues(want, got) {
						t.Fatalf("%s: other values", Describe(again.Encoding))
					}
				}
			}
		})
	}
}

// chunkedPlain decodes chunks in their own encoding.
func chunkedPlain(t *testing.T, c *Chunks, take func(chunk int, n int) [][2]int) *Values {
	t.Helper()
	d, err := NewChunk(c.Encoding)
	if err != nil {
		t.Fatal(err)
	}
	v := d.New(1 << 30)
	at := make([]int, len(c.Buffers))
	for i := range c.Counts {
		n, sizes := c.Chunk(i)
		var bufs [][]byte
		for k, s := range sizes {
			bufs = append(bufs, c.Buffers[k][at[k]:][:s])
			at[k] += int(s)
		}
		for _, r := range take(i, n) {
			if err := d.Append(v, bufs, n, r[0], r[1]); err != nil {
				t.Fatal(err)
			}
		}
	}
	return v
}

// Levels of any encoding that pages have are encoded the same way again.
func TestLevelEncoderOf(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	for _, enc := range []*pb.CompressiveEncoding{flatEnc(16), inlineEnc(16), outOfLineEnc(16, 3), outOfLineEnc(16, 9), runsEnc(16)} {
		e := LevelEncoderOf(enc, 5)
		if e == nil {
			t.Fatalf("no encoder for %s", Describe(enc))
		}
		w, err := NewWhole(enc)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{1, 100, 1024, 3000} {
			if enc.GetInlineBitpacking() != nil && n > 1024 {
				continue
			}
			levels := make([]uint16, n)
			for i := range levels {
				levels[i] = uint16(rnd.IntN(6))
			}
			got, err := AppendLevels(nil, w, e.Append(nil, levels), n, 1<<20)
			if err != nil || !slices.Equal(got, levels) {
				t.Fatalf("%d of %s: %v", n, Describe(enc), err)
			}
		}
	}
	for _, enc := range []*pb.CompressiveEncoding{flatEnc(8), inlineEnc(32), outOfLineEnc(16, 2), variableEnc(32), runsEnc(8)} {
		if LevelEncoderOf(enc, 5) != nil {
			t.Errorf("an encoder for %s", Describe(enc))
		}
	}
}
