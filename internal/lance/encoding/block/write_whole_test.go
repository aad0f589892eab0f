package block

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
)

func TestEncodeWhole(t *testing.T) {
	for _, n := range []int{1, 2, 50, 3000} {
		for name, v := range sorts(n) {
			if v.Kind == List {
				if _, _, err := EncodeWhole(v, EncodeOptions{Minor: 2}); err == nil {
					t.Errorf("%s: no error", name)
				}
				continue
			}
			for _, o := range []EncodeOptions{{Minor: 1}, {Minor: 2}, {Minor: 2, OffsetBits: 64}, {Minor: 2, Hints: Hints{Compression: "zstd", Level: 9}}, {Minor: 2, Hints: Hints{Compression: "none"}}} {
				enc, b, err := EncodeWhole(v, o)
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				if enc.GetGeneral() != nil && (o.Minor == 1 || o.Compression == "none") {
					t.Errorf("%s, %+v: %s", name, o, Describe(enc))
				}
				w, err := NewWhole(enc)
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				got, err := w.Decode(b, v.N, unlimited)
				if err != nil {
					t.Fatalf("%s as %s: %v", name, Describe(enc), err)
				}
				if err := sameValues(got, v); err != nil {
					t.Fatalf("%s as %s: %v", name, Describe(enc), err)
				}
			}
		}
	}
}

func TestLevelEncoder(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for _, n := range []int{1, 5, 64, 70, 700, 1024, 1025, 5000, 30000} {
		for _, most := range []uint64{1, 2, 3, 4, 9, 65535} {
			levels := make([]uint16, n)
			clustered := n%2 == 1 || n == 5000
			for i := range levels {
				levels[i] = uint16(rng.Uint64N(most + 1))
				if clustered && i > 0 && i%301 != 0 {
					levels[i] = levels[i-1]
				}
			}
			minor := 1 + int(most)%2
			e := NewLevelEncoder(levels, EncodeOptions{Minor: minor})
			if runs := e.Encoding.GetRle() != nil; runs != (clustered && minor == 2 && n > 1000) && n > 100 {
				t.Errorf("%d levels up to %d, clustered: %t, in 2.%d: %s", n, most, clustered, minor, Describe(e.Encoding))
			}
			w, err := NewWhole(e.Encoding)
			if err != nil {
				t.Fatal(err)
			}
			var got []uint16
			size := 0
			for rest := levels; len(rest) > 0; {
				k := min(1+rng.IntN(3000), len(rest))
				b := e.Append([]byte("head"), rest[:k])[4:]
				size += len(b)
				if got, err = AppendLevels(got, w, b, k, unlimited); err != nil {
					t.Fatalf("%d levels up to %d as %s: %v", n, most, Describe(e.Encoding), err)
				}
				rest = rest[k:]
			}
			if !slices.Equal(got, levels) {
				t.Fatalf("%d levels up to %d as %s: not the same", n, most, Describe(e.Encoding))
			}
			if size > 2*n {
				t.Errorf("%d levels up to %d as %s: %d bytes", n, most, Describe(e.Encoding), size)
			}
		}
	}
	levels := make([]uint16, 2000)
	dst := make([]byte, 0, 8000)
	for minor := 1; minor <= 2; minor++ {
		e := NewLevelEncoder(levels, EncodeOptions{Minor: minor})
		if n := testing.AllocsPerRun(20, func() { e.Append(dst, levels) }); n != 0 {
			t.Errorf("%s: %v allocations", Describe(e.Encoding), n)
		}
	}
	if b := AppendPlain(nil, []uint16{1, 258}); string(b) != "\x01\x00\x02\x01" {
		t.Errorf("%x", b)
	}
}

func TestBuildDictionary(t *testing.T) {
	for _, n := range []int{1, 99, 100, 20000} {
		for name, v := range sorts(n) {
			for minor := 1; minor <= 2; minor++ {
				dict, indices, ok := BuildDictionary(v, EncodeOptions{Minor: minor})
				want := n >= 100 && (name == "few strings" || name == "decimal few" || name == "1000 strings" && n > 1000 || name == "f64 distinct" && n > 1000 && minor == 2 ||
					name == "mostly nothing" || name == "i64 negative" && minor == 2)
				if want != ok && name != "empty strings" && name != "i64 runs" && name != "i64 long runs" && n != 100 {
					t.Errorf("%d %s in 2.%d: %t", n, name, minor, ok)
				}
				if !ok {
					continue
				}
				if indices.N != v.N || indices.Bits != 32 || minor == 1 && v.Kind == Fixed && v.Bits != 128 {
					t.Fatalf("%s in 2.%d: %d indices of %d bits", name, minor, indices.N, indices.Bits)
				}
				got := dict.empty(unlimited)
				if err := AppendTaken(got, dict, indices, 0, n); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				if err := sameValues(got, v); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				seen := map[string]bool{}
				next := uint32(0)
				for i := range n {
					if k := binary.LittleEndian.Uint32(indices.Data[4*i:]); k > next {
						t.Fatalf("%s: index %d is %d, the first of which there are %d", name, i, k, next)
					} else if k == next {
						next++
					}
				}
				d := dictionary{v: dict}
				for i := range dict.N {
					if s := string(d.value(i)); seen[s] {
						t.Fatalf("%s: %q twice", name, s)
					} else {
						seen[s] = true
					}
				}
			}
		}
	}
}

func TestDictionaryHints(t *testing.T) {
	v := texts(10000, func(i int) string { return fmt.Sprint("some words, ", i%3000) })
	for _, c := range []struct {
		h    Hints
		want bool
	}{
		{Hints{}, true},
		{Hints{DictRatio: 0.1}, false},
		{Hints{DictRatio: 1}, true},
		{Hints{DictDivisor: 3}, true},
		{Hints{DictDivisor: 4}, false},
	} {
		if _, _, ok := BuildDictionary(v, EncodeOptions{Minor: 1, Hints: c.h}); ok != c.want {
			t.Errorf("%+v: %t", c.h, ok)
		}
	}
	few := ints(64, 10000, func(i int) uint64 { return uint64(i) % 7 })
	if _, _, ok := BuildDictionary(few, EncodeOptions{Minor: 2}); ok {
		t.Error("a dictionary where bit-packing does the same")
	}
	if _, _, ok := BuildDictionary(few, EncodeOptions{Minor: 2, FullZip: true}); !ok {
		t.Error("no dictionary of few values that would be in a full-zip page")
	}
	if _, _, ok := BuildDictionary(few, EncodeOptions{Minor: 2, Hints: Hints{Compression: "none"}}); !ok {
		t.Error("no dictionary of few values that are not to be compressed")
	}
	o := EncodeOptions{Minor: 2, OffsetBits: 64, Hints: Hints{Compression: "zstd", BSS: 1, DictCompression: "none"}}
	dict, indices, ok := BuildDictionary(v, o)
	if !ok || indices.Bits != 64 {
		t.Fatalf("large strings: %t, %+v", ok, indices)
	}
	enc, _, err := EncodeWhole(dict, o.ForDictionary())
	if err != nil || Describe(enc) != "variable(flat(64))" {
		t.Errorf("%s, %v", Describe(enc), err)
	}
	c, err := EncodeChunks(indices, o.ForIndices())
	if err != nil || strings.Contains(Describe(c.Encoding), "split") {
		t.Errorf("%s, %v", Describe(c.Encoding), err)
	}
}

func TestParseHints(t *testing.T) {
	md := func(kv ...string) arrow.Metadata {
		var k, v []string
		for i := 0; i < len(kv); i += 2 {
			k, v = append(k, kv[i]), append(v, kv[i+1])
		}
		return arrow.NewMetadata(k, v)
	}
	for _, c := range []struct {
		md   arrow.Metadata
		want Hints
		ok   bool
	}{
		{md(), Hints{BSS: autoBSS}, true},
		{md("other", "x", "lance-encoding:structural-encoding", "fullzip"), Hints{BSS: autoBSS}, true},
		{md(keyCompression, "zstd", keyLevel, "7", keyBSS, "ON"), Hints{Compression: "zstd", Level: 7, BSS: 1}, true},
		{md(keyCompression, "brotli"), Hints{BSS: autoBSS}, false},
		{md(keyRLE, "0.25", keyBSS, "off"), Hints{RLEThreshold: .25}, true},
		{md(keyRLE, "0", keyBSS, "auto"), Hints{RLEThreshold: -1, BSS: autoBSS}, true},
		{md(keyRLE, "NaN"), Hints{BSS: autoBSS}, false},
		{md(keyDictDivisor, "20", keyDictRatio, "0.5", keyDictCompression, "none", keyDictLevel, "3"),
			Hints{BSS: autoBSS, DictDivisor: 20, DictRatio: .5, DictCompression: "none", DictLevel: 3}, true},
		{md(keyDictRatio, "1.5", keyLevel, "3"), Hints{BSS: autoBSS, Level: 3}, false},
		{md(keyChunk, "8000"), Hints{BSS: autoBSS, ChunkBytes: 8000}, true},
		{md(keyChunk, "1000000"), Hints{BSS: autoBSS, ChunkBytes: 1000000}, true},
		{md(keyChunk, "-1"), Hints{BSS: autoBSS}, false},
		{md(keyBSS, "perhaps"), Hints{BSS: autoBSS}, false},
	} {
		got, err := ParseHints(c.md)
		if got != c.want || (err == nil) != c.ok {
			t.Errorf("%v: %+v, %v", c.md, got, err)
		}
	}
}
