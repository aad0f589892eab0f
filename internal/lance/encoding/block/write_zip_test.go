package block

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
)

// widened is booleans with the byte each that full-zip pages give them.
func widened(v *Values) *Values {
	w := &Values{Kind: Fixed, Bits: 8, N: v.N}
	for i := range v.N {
		w.Data = append(w.Data, v.Data[i/8]>>(i%8)&1)
	}
	return w
}

func TestEncodeZip(t *testing.T) {
	for _, n := range []int{0, 1, 3, 1000, 5000} {
		for name, v := range sorts(n) {
			for _, compression := range []string{"", "none", "fsst", "lz4", "zstd"} {
				o := EncodeOptions{Minor: 1}
				o.Compression = compression
				z, err := EncodeZip(v, o)
				if err != nil {
					t.Fatalf("%d %s: %v", n, name, err)
				}
				want := v
				if v.Bits == 1 {
					want = widened(v)
				}
				if err := sameValues(z.decode(t), want); err != nil {
					t.Fatalf("%d %s as %s: %v", n, name, Describe(z.Encoding), err)
				}
			}
		}
	}
}

func TestZipChoice(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	noise := make([]byte, 1<<20)
	for i := range noise {
		noise[i] = byte(rng.Uint32())
	}
	long := texts(12, func(i int) string { return strings.Repeat("a value that is long enough ", 2000) })
	all := sorts(5000)
	for _, c := range []struct {
		name  string
		v     *Values
		hints Hints
		want  string
	}{
		{"long", long, Hints{}, "general(zstd, variable(flat(32)))"},
		{"long, lz4", long, Hints{Compression: "lz4"}, "general(zstd, variable(flat(32)))"},
		{"long, fsst", long, Hints{Compression: "fsst"}, "fsst(variable(flat(32)))"},
		{"long, none", long, Hints{Compression: "none"}, "variable(flat(32))"},
		{"noise", strs(string(noise), string(noise[1:])), Hints{}, "variable(flat(32))"},
		{"noise, zstd", strs(string(noise), string(noise[1:])), Hints{Compression: "zstd"}, "variable(flat(32))"},
		{"sentences", all["sentences"], Hints{}, "fsst(variable(flat(32)))"},
		{"vectors", all["vectors of 8"], Hints{}, "fixed-size list(8, flat(32))"},
	} {
		z, err := EncodeZip(c.v, EncodeOptions{Minor: 1, Hints: c.hints})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := Describe(z.Encoding); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		if err := sameValues(z.decode(t), c.v); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestEncodeStructs(t *testing.T) {
	n := 3000
	all := sorts(n)
	for name, c := range map[string]struct {
		fields []string
		chunks string // "" when refused
		zip    string
	}{
		"fixed":          {[]string{"i32 random", "f64 random", "i16 small"}, "packed struct(32, 64, 16, flat(112))", ""},
		"with a vector":  {[]string{"i32 random", "vectors of 8"}, "", "variable packed struct(flat(32), fixed-size list(8, flat(32)))"},
		"with a string":  {[]string{"i32 random", "bytes"}, "", "variable packed struct(flat(32), variable(flat(32)))"},
		"two strings":    {[]string{"few strings", "i64 random", "sentences"}, "", "variable packed struct(variable(flat(32)), flat(64), fsst(variable(flat(32))))"},
		"string, vector": {[]string{"bytes", "vectors of 8, nulls"}, "", "variable packed struct(variable(flat(32)), fixed-size list(8, validity, flat(32)))"},
	} {
		v := &Values{Kind: Struct, N: n}
		for _, f := range c.fields {
			v.Fields = append(v.Fields, all[f])
		}
		chunks, err := EncodeChunks(v, EncodeOptions{Minor: 1})
		switch {
		case c.chunks == "":
			if !errors.Is(err, ErrWide) {
				t.Errorf("%s: in chunks: %v", name, err)
			}
		case err != nil:
			t.Errorf("%s: %v", name, err)
		default:
			if d := Describe(chunks.Encoding); d != c.chunks {
				t.Errorf("%s: %s, want %s", name, d, c.chunks)
			}
			got := chunks.decode(t)
			for i, f := range v.Fields {
				if !bytes.Equal(got.Fields[i].Data, f.Data) {
					t.Errorf("%s: other bytes in field %d", name, i)
				}
			}
		}
		if _, err := EncodeZip(v, EncodeOptions{Minor: 1}); !errors.Is(err, column.ErrUnsupported) {
			t.Errorf("%s: zipped in 2.1: %v", name, err)
		}
		z, err := EncodeZip(v, EncodeOptions{Minor: 2})
		if c.zip == "" {
			if !errors.Is(err, column.ErrUnsupported) {
				t.Errorf("%s: zipped: %v", name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if d := Describe(z.Encoding); d != c.zip {
			t.Errorf("%s: %s, want %s", name, d, c.zip)
		}
		if err := sameValues(z.decode(t), v); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	odd := &Values{Kind: Struct, N: n, Fields: []*Values{all["bytes"], all["bool"]}}
	if _, err := EncodeZip(odd, EncodeOptions{Minor: 2}); !errors.Is(err, column.ErrUnsupported) {
		t.Errorf("booleans in a packed struct: %v", err)
	}
	v := &Values{Kind: Struct, N: n, Fields: []*Values{all["bytes"], all["sentences"]}}
	z, err := EncodeZip(v, EncodeOptions{Minor: 2, Fields: []EncodeOptions{{OffsetBits: 64}, {Hints: Hints{Compression: "none"}}}})
	if err != nil {
		t.Fatal(err)
	}
	if d := Describe(z.Encoding); d != "variable packed struct(variable(flat(64)), variable(flat(32)))" {
		t.Errorf("options of fields: %s", d)
	}
	if err := sameValues(z.decode(t), v); err != nil {
		t.Error(err)
	}
}
