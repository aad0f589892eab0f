package general

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

func TestCompress(t *testing.T) {
	for name, b := range map[string][]byte{
		"nothing": {},
		"one":     {7},
		"ten":     random(10),
		"15":      random(15),
		"270":     random(270),
		"text":    []byte(strings.Repeat("a page of a column\n", 500)),
		"zeros":   make([]byte, 1<<20),
		"random":  random(70000),
		"unequal": append(random(100), make([]byte, 100)...),
	} {
		for _, scheme := range []pb.BufferCompression_Scheme{lz4Scheme, zstdScheme} {
			for _, level := range []int{-5, 0, 1, 3, 22} {
				in := bytes.Clone(b)
				out, err := Compress([]byte("head"), in, scheme, level)
				if err != nil || string(out[:4]) != "head" {
					t.Fatalf("%s, %v: %v", name, scheme, err)
				}
				if !bytes.Equal(in, b) {
					t.Errorf("%s, %v: the input was changed", name, scheme)
				}
				if most := len(b) + len(b)/200 + 24; len(out)-4 > most {
					t.Errorf("%s, %v: %d bytes of %d", name, scheme, len(out)-4, len(b))
				}
				if name == "text" && len(out) > len(b)/10 {
					t.Errorf("%s, %v: %d bytes of %d", name, scheme, len(out)-4, len(b))
				}
				got, err := Append([]byte("head"), out[4:], scheme, int64(len(b)))
				if err != nil || !bytes.Equal(got[4:], b) {
					t.Errorf("%s, %v, level %d: %d bytes, %v", name, scheme, level, len(got)-4, err)
				}
				again, err := Compress(nil, b, scheme, level)
				if err != nil || !bytes.Equal(again, out[4:]) {
					t.Errorf("%s, %v, level %d: not the same bytes twice", name, scheme, level)
				}
			}
		}
	}
	for _, scheme := range []pb.BufferCompression_Scheme{0, 9} {
		if out, err := Compress([]byte("head"), []byte("x"), scheme, 0); !errors.Is(err, ErrScheme) || string(out) != "head" {
			t.Errorf("scheme %d: %d bytes, %v", scheme, len(out), err)
		}
	}
}

func TestCompressConcurrently(t *testing.T) {
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			b := bytes.Repeat(random(40+i), 100)
			for _, scheme := range []pb.BufferCompression_Scheme{lz4Scheme, zstdScheme} {
				out, err := Compress(nil, b, scheme, 0)
				if err != nil {
					t.Error(err)
				}
				if got, err := Append(nil, out, scheme, 1<<20); err != nil || !bytes.Equal(got, b) {
					t.Errorf("%v: %v", scheme, err)
				}
			}
		})
	}
	wg.Wait()
}

func FuzzCompress(f *testing.F) {
	f.Add([]byte("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaabcabcabcabcabcabc"), true)
	f.Add([]byte{}, false)
	f.Fuzz(func(t *testing.T, b []byte, fast bool) {
		scheme := zstdScheme
		if fast {
			scheme = lz4Scheme
		}
		out, err := Compress(nil, b, scheme, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Append(nil, out, scheme, int64(len(b))); err != nil || !bytes.Equal(got, b) {
			t.Fatalf("%d bytes, %v", len(got), err)
		}
	})
}

func BenchmarkCompress(b *testing.B) {
	text := []byte(strings.Repeat("a page of a column, and another\n", 128))
	for _, scheme := range []pb.BufferCompression_Scheme{lz4Scheme, zstdScheme} {
		for name, in := range map[string][]byte{"text": text, "random": random(4096)} {
			b.Run(fmt.Sprint(scheme, " ", name), func(b *testing.B) {
				out := make([]byte, 0, 2*len(in))
				b.SetBytes(int64(len(in)))
				b.ReportAllocs()
				for b.Loop() {
					if _, err := Compress(out, in, scheme, 0); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
