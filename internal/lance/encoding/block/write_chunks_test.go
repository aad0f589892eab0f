package block

import (
	"errors"
	"strings"
	"testing"
)

var manySizes = []int{1, 2, 3, 63, 1024, 1025, 4097}

func TestEncodeChunks(t *testing.T) {
	for _, n := range manySizes {
		for name, v := range sorts(n) {
			for _, minor := range []int{1, 2} {
				for _, compression := range []string{"", "none", "fsst", "lz4", "zstd"} {
					o := EncodeOptions{Minor: minor}
					o.Compression, o.BSS = compression, autoBSS
					c, err := EncodeChunks(v, o)
					if err != nil {
						if !errors.Is(err, ErrWide) {
							t.Fatalf("%d %s, %q: %v", n, name, compression, err)
						}
						continue
					}
					if err := sameValues(c.decode(t), v); err != nil {
						t.Fatalf("%d %s as %s: %v", n, name, Describe(c.Encoding), err)
					}
					again, err := EncodeChunks(v, o)
					if err != nil || again.cost() != c.cost() || Describe(again.Encoding) != Describe(c.Encoding) {
						t.Fatalf("%d %s: not the same twice: %v", n, name, err)
					}
				}
			}
		}
	}
}

// What is chosen when nothing is asked for.
func TestChoice(t *testing.T) {
	all := sorts(20000)
	for name, want := range map[string]string{
		"bool":           "flat(1)",
		"u8 random":      "flat(8)",
		"u8 small":       "inline bit-packing(8)",
		"i16 small":      "inline bit-packing(16)",
		"i32 random":     "flat(32)",
		"i32 sorted":     "inline bit-packing(32)",
		"i64 random":     "flat(64)",
		"i64 small":      "inline bit-packing(64)",
		"i64 0 and 1":    "inline bit-packing(64)",
		"i64 runs":       "rle(flat(64), flat(8))",
		"i64 long runs":  "rle(flat(64), flat(8))",
		"i64 negative":   "flat(64)",
		"timestamp":      "inline bit-packing(64)",
		"f32 random":     "inline bit-packing(32)",
		"f64 random":     "inline bit-packing(64)",
		"decimal":        "flat(128)",
		"24 bits":        "flat(24)",
		"short strings":  "fsst(variable(flat(32)))",
		"empty strings":  "variable(flat(32))",
		"bytes":          "variable(flat(32))",
		"sentences":      "fsst(variable(flat(32)))",
		"vectors of 8":   "fixed-size list(8, flat(32))",
		"lists of lists": "fixed-size list(2, validity, fixed-size list(3, validity, flat(16)))",
	} {
		for minor := 1; minor <= 2; minor++ {
			c, err := EncodeChunks(all[name], EncodeOptions{Minor: minor})
			if err != nil {
				t.Errorf("%s: %v", name, err)
			} else if got := Describe(c.Encoding); got != want {
				t.Errorf("%s: %s, want %s", name, got, want)
			}
		}
	}
}

// What a field asks for.
func TestChoiceByHints(t *testing.T) {
	all := sorts(20000)
	for _, c := range []struct {
		name  string
		hints Hints
		want  string
	}{
		{"i64 small", Hints{Compression: "none"}, "flat(64)"},
		{"i64 random", Hints{Compression: "zstd"}, "flat(64)"}, // as it does not shrink
		{"f64 normal", Hints{Compression: "zstd", BSS: 1}, "general(zstd, byte-stream-split(flat(64)))"},
		{"f64 normal", Hints{Compression: "lz4", BSS: autoBSS}, "general(lz4, byte-stream-split(flat(64)))"},
		{"i64 0 and 1", Hints{RLEThreshold: 0.9}, "inline bit-packing(64)"}, // which is smaller
		{"i64 runs", Hints{RLEThreshold: 0.001}, "inline bit-packing(64)"},
		{"i64 runs", Hints{RLEThreshold: 0.1}, "rle(flat(64), flat(8))"},
		{"i64 runs", Hints{RLEThreshold: -1}, "inline bit-packing(64)"},
		{"i64 runs", Hints{Compression: "lz4"}, "rle(flat(64), flat(8))"}, // which leaves nothing to compress
		{"sentences", Hints{Compression: "none"}, "variable(flat(32))"},
		{"sentences", Hints{Compression: "zstd"}, "general(zstd, fsst(variable(flat(32))))"},
		{"sentences", Hints{Compression: "lz4"}, "fsst(variable(flat(32)))"}, // which leaves nothing to compress
		{"mostly nothing", Hints{Compression: "zstd"}, "general(zstd, variable(flat(32)))"},
		{"short strings", Hints{Compression: "fsst"}, "fsst(variable(flat(32)))"},
		{"bytes", Hints{Compression: "fsst"}, "variable(flat(32))"},
	} {
		got, err := EncodeChunks(all[c.name], EncodeOptions{Minor: 2, Hints: c.hints})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		} else if d := Describe(got.Encoding); d != c.want {
			t.Errorf("%s, %+v: %s, want %s", c.name, c.hints, d, c.want)
		}
	}
}

func TestEncodeLarge(t *testing.T) {
	for name, v := range sorts(5000) {
		if v.Kind != Variable {
			continue
		}
		c, err := EncodeChunks(v, EncodeOptions{Minor: 2, OffsetBits: 64})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(Describe(c.Encoding), "variable(flat(64))") {
			t.Errorf("%s: %s", name, Describe(c.Encoding))
		}
		if err := sameValues(c.decode(t), v); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestEncodeChunkBytes(t *testing.T) {
	v := sorts(4000)["bytes"]
	few := 0
	for _, aim := range []int{1, 100, 1000, 4096, 8192, 1 << 20} {
		c, err := EncodeChunks(v, EncodeOptions{Minor: 2, Hints: Hints{ChunkBytes: aim}})
		if err != nil {
			t.Fatal(err)
		}
		if err := sameValues(c.decode(t), v); err != nil {
			t.Errorf("%d: %v", aim, err)
		}
		for i, n := range c.Counts {
			if n > 2 && int(c.Sizes[i]) > aim+4 {
				t.Errorf("%d values in %d bytes where %d are aimed at", n, c.Sizes[i], aim)
			}
		}
		if few != 0 && len(c.Counts) > few {
			t.Errorf("%d chunks of %d bytes, fewer than that of smaller ones", len(c.Counts), aim)
		}
		few = len(c.Counts)
	}
}

// Blocks that are a part of another.
func TestEncodePart(t *testing.T) {
	all := sorts(9000)["short strings"]
	part := &Values{Kind: Variable, N: 8000, Offsets: all.Offsets[500:8501], Data: all.Data}
	c, err := EncodeChunks(part, EncodeOptions{Minor: 2})
	if err != nil {
		t.Fatal(err)
	}
	if err := sameValues(c.decode(t), part); err != nil {
		t.Error(err)
	}
	for _, h := range []Hints{{}, {Compression: "none"}, {Compression: "zstd"}} {
		z, err := EncodeZip(part, EncodeOptions{Minor: 2, Hints: h})
		if err != nil {
			t.Fatal(err)
		}
		if err := sameValues(z.decode(t), part); err != nil {
			t.Error(err)
		}
	}
}

func TestEncodeWide(t *testing.T) {
	long := strings.Repeat("x", 9000)
	for name, v := range map[string]*Values{
		"fixed":   fixed(8*10000, 3),
		"list":    lists(3000, fixed(32, 9000)),
		"strings": strs(long, long, long),
	} {
		if _, err := EncodeChunks(v, EncodeOptions{Minor: 1}); !errors.Is(err, ErrWide) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, v := range map[string]*Values{
		"fixed":   fixed(8*8000, 3),
		"list":    lists(2000, fixed(32, 6000)),
		"strings": strs(long[:5000], long[:6000], "", long, "a", "b"),
	} {
		c, err := EncodeChunks(v, EncodeOptions{Minor: 1})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if err := sameValues(c.decode(t), v); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
