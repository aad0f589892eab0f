package general

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

const (
	lz4Scheme  = pb.BufferCompression_LZ4
	zstdScheme = pb.BufferCompression_ZSTD
)

func lz4Block(tb testing.TB, b []byte) []byte {
	tb.Helper()
	out := make([]byte, lz4.CompressBlockBound(len(b)))
	n, err := lz4.CompressBlock(b, out, nil)
	if err != nil {
		tb.Fatal(err)
	}
	if n == 0 { // does not shrink: one run of literals
		out = []byte{0xf0}
		l := len(b) - 15
		for ; l >= 255; l -= 255 {
			out = append(out, 255)
		}
		out = append(append(out, byte(l)), b...)
		n = len(out)
	}
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(b))), out[:n]...)
}

func zstdFrame(tb testing.TB, b []byte, o ...zstd.EOption) []byte {
	tb.Helper()
	e, err := zstd.NewWriter(nil, o...)
	if err != nil {
		tb.Fatal(err)
	}
	defer e.Close()
	return e.EncodeAll(b, nil)
}

// zstdStream makes a frame that does not tell its size.
func zstdStream(tb testing.TB, b []byte) []byte {
	tb.Helper()
	var out bytes.Buffer
	e, err := zstd.NewWriter(&out)
	if err != nil {
		tb.Fatal(err)
	}
	for part := range bytes.Lines(append(bytes.Clone(b), '\n')) {
		if _, err := e.Write(part); err != nil {
			tb.Fatal(err)
		}
		if err := e.Flush(); err != nil {
			tb.Fatal(err)
		}
	}
	if err := e.Close(); err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}

func sized(b []byte, size int) []byte {
	return append(binary.LittleEndian.AppendUint64(nil, uint64(size)), b...)
}

func random(n int) []byte {
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}

func TestAppend(t *testing.T) {
	for name, b := range map[string][]byte{
		"text":    []byte(strings.Repeat("a page of a column\n", 500)),
		"zeros":   make([]byte, 1<<20),
		"random":  random(5000),
		"one":     {7},
		"unequal": append(random(100), make([]byte, 100)...),
	} {
		forms := map[string][]byte{
			"zstd":        sized(zstdFrame(t, b), len(b)),
			"zstd bare":   zstdFrame(t, b),
			"zstd stream": zstdStream(t, b),
		}
		if len(b) > 15 {
			forms["lz4"] = lz4Block(t, b)
		}
		for form, in := range forms {
			scheme, want := zstdScheme, b
			if form == "lz4" {
				scheme = lz4Scheme
			}
			if form == "zstd stream" {
				want = append(bytes.Clone(b), '\n')
			}
			out, err := Append([]byte("head"), in, scheme, int64(len(want)))
			if err != nil || string(out[:4]) != "head" || !bytes.Equal(out[4:], want) {
				t.Errorf("%s, %s: %d bytes, error %v", name, form, len(out), err)
			}
			out, err = Append([]byte("head"), in, scheme, int64(len(want)-1))
			if !errors.Is(err, ErrLimit) || string(out) != "head" {
				t.Errorf("%s, %s, a byte more than allowed: %d bytes, error %v", name, form, len(out), err)
			}
			for _, cut := range []int{1, 2, 3, len(in) / 2, len(in) - 1} {
				if out, err := Append(nil, in[:cut], scheme, 1<<30); cut < len(in) && err == nil {
					t.Errorf("%s, %s: %d of %d bytes make %d", name, form, cut, len(in), len(out))
				}
			}
		}
	}
}

// The bytes are the first chunk of a page by Lance 14.0.2: 1024 32-bit integers, 50 of
// each, byte-stream-split.
func TestRealBytes(t *testing.T) {
	in, err := hex.DecodeString("001000000000000028b52ffd60000ffd0100b800000102030405060708090a0b0c0d0e0f101112131400161000fcf3a53e2366244667c48cc4e88c9891189d113312a3336246627446cc488cce8815b501")
	if err != nil {
		t.Fatal(err)
	}
	out, err := Append(nil, in, zstdScheme, 4096)
	if err != nil || len(out) != 4096 {
		t.Fatalf("%d bytes, %v", len(out), err)
	}
	for i, b := range out {
		if want := byte(i / 50); i < 1024 && b != want || i >= 1024 && b != 0 {
			t.Fatalf("byte %d is %d", i, b)
		}
	}
}

func TestAppendCorrupt(t *testing.T) {
	text := []byte(strings.Repeat("a page of a column\n", 500))
	block := lz4Block(t, text)
	le := binary.LittleEndian
	size := func(n uint32) []byte {
		b := bytes.Clone(block)
		le.PutUint32(b, n)
		return b
	}
	for name, c := range map[string]struct {
		scheme pb.BufferCompression_Scheme
		in     []byte
		want   error
	}{
		"lz4, size too large":      {lz4Scheme, size(uint32(len(text) + 1)), ErrCorrupt},
		"lz4, size too small":      {lz4Scheme, size(uint32(len(text) - 1)), ErrCorrupt},
		"lz4, size impossible":     {lz4Scheme, size(0xffffffff), ErrCorrupt},
		"lz4, bytes for nothing":   {lz4Scheme, size(0), ErrCorrupt},
		"zstd, size too large":     {zstdScheme, sized(zstdFrame(t, text), len(text)+1), ErrCorrupt},
		"zstd, size too small":     {zstdScheme, sized(zstdFrame(t, text), len(text)-1), ErrCorrupt},
		"zstd, size impossible":    {zstdScheme, sized(zstdFrame(t, text), 1<<62), ErrCorrupt},
		"zstd, size negative":      {zstdScheme, sized(zstdFrame(t, text), -1), ErrCorrupt},
		"zstd, not a frame":        {zstdScheme, sized(text, 10), ErrCorrupt},
		"zstd, size and no frame":  {zstdScheme, sized(nil, 10), ErrCorrupt},
		"unknown scheme":           {7, text, ErrScheme},
		"unspecified scheme":       {0, text, ErrScheme},
		"lz4, more than the limit": {lz4Scheme, lz4Block(t, make([]byte, 2<<20)), ErrLimit},
	} {
		out, err := Append([]byte("head"), c.in, c.scheme, 1<<20)
		if !errors.Is(err, c.want) || string(out) != "head" {
			t.Errorf("%s: %d bytes, error %v", name, len(out), err)
		}
	}
}

func TestNothing(t *testing.T) {
	for name, c := range map[string]struct {
		scheme pb.BufferCompression_Scheme
		in     []byte
	}{
		"lz4, no bytes":         {lz4Scheme, nil},
		"zstd, no bytes":        {zstdScheme, nil},
		"lz4, empty block":      {lz4Scheme, []byte{0, 0, 0, 0, 0}},
		"zstd, empty frame":     {zstdScheme, sized(zstdFrame(t, nil, zstd.WithZeroFrames(true)), 0)},
		"zstd, size and no end": {zstdScheme, sized(nil, 0)},
	} {
		if out, err := Append([]byte("head"), c.in, c.scheme, 0); err != nil || string(out) != "head" {
			t.Errorf("%s: %d bytes, error %v", name, len(out), err)
		}
	}
}

func FuzzAppend(f *testing.F) {
	text := []byte(strings.Repeat("a page of a column\n", 50))
	f.Add(lz4Block(f, text), true, uint32(1<<20))
	f.Add(sized(zstdFrame(f, text), len(text)), false, uint32(1<<20))
	f.Add(zstdStream(f, text), false, uint32(1<<20))
	f.Fuzz(func(t *testing.T, in []byte, fast bool, limit uint32) {
		scheme := zstdScheme
		if fast {
			scheme = lz4Scheme
		}
		limit &= 1<<24 - 1
		out, err := Append(nil, in, scheme, int64(limit))
		if len(out) > int(limit) || err != nil && len(out) > 0 || cap(out) > 2*int(limit)+64 {
			t.Fatalf("%d bytes, capacity %d, limit %d, %v", len(out), cap(out), limit, err)
		}
	})
}

func BenchmarkAppend(b *testing.B) {
	text := []byte(strings.Repeat("a page of a column, and another\n", 128))
	for name, in := range map[string][]byte{"lz4": lz4Block(b, text), "zstd": sized(zstdFrame(b, text), len(text))} {
		b.Run(name, func(b *testing.B) {
			scheme := zstdScheme
			if name == "lz4" {
				scheme = lz4Scheme
			}
			out := make([]byte, 0, len(text))
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Append(out, in, scheme, 1<<20); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
