package bitpack

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
)

// some makes n values of wide bits, none above width bits and one that has them all.
func some(rng *rand.Rand, n, wide, width int) []byte {
	b := make([]byte, n*wide/8)
	for i := range n {
		v := rng.Uint64() & (1<<width - 1)
		if width == 64 {
			v = rng.Uint64()
		}
		if i == n/2 {
			v = 1<<width - 1
		}
		for k := range wide / 8 {
			b[i*wide/8+k] = byte(v >> (8 * k))
		}
	}
	return b
}

func TestWriteEveryWidth(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 6))
	for _, wide := range []int{8, 16, 32, 64} {
		for width := range wide + 1 {
			for _, n := range []int{1, 7, 500, 1023, 1024, 1025, 1900, 2048} {
				name := fmt.Sprintf("%d values of %d bits, %d kept", n, wide, width)
				values := some(rng, n, wide, width)
				if got := Width(values, wide); got != width {
					t.Fatalf("%s: width %d", name, got)
				}
				packed, err := AppendFixed([]byte("head"), values, wide, width)
				if err != nil || string(packed[:4]) != "head" {
					t.Fatalf("%s: %v", name, err)
				}
				if most := n / Block * Size(width); len(packed)-4 > most+min(Size(width), n%Block*wide/8) {
					t.Fatalf("%s: %d bytes", name, len(packed))
				}
				got, err := UnpackFixed(nil, packed[4:], wide, width, n)
				if err != nil || !bytes.Equal(got, values) {
					t.Fatalf("%s: fixed: %d bytes, %v", name, len(got), err)
				}
				if n > Block {
					continue
				}
				inline, err := AppendInline([]byte("head"), values, wide, width)
				if err != nil || string(inline[:4]) != "head" {
					t.Fatalf("%s: %v", name, err)
				}
				w, block, rest, err := Inline(inline[4:], wide)
				if err != nil || w != width || len(rest) != 0 {
					t.Fatalf("%s: inline: width %d, %d left, %v", name, w, len(rest), err)
				}
				whole := make([]byte, Size(wide))
				if err := Unpack(whole, block, wide, w); err != nil || !bytes.Equal(whole[:len(values)], values) {
					t.Fatalf("%s: inline: %v", name, err)
				}
			}
		}
	}
}

func TestWriteRefuses(t *testing.T) {
	for name, f := range map[string]func() ([]byte, error){
		"odd width of values":     func() ([]byte, error) { return AppendFixed(nil, make([]byte, 3), 24, 1) },
		"more bits than there":    func() ([]byte, error) { return AppendFixed(nil, make([]byte, 2), 16, 17) },
		"part of a value":         func() ([]byte, error) { return AppendFixed(nil, make([]byte, 3), 16, 1) },
		"inline, part of a value": func() ([]byte, error) { return AppendInline(nil, make([]byte, 3), 16, 1) },
		"inline, too many":        func() ([]byte, error) { return AppendInline(nil, make([]byte, 2050), 16, 1) },
		"inline, negative":        func() ([]byte, error) { return AppendInline(nil, make([]byte, 2), 16, -1) },
	} {
		if b, err := f(); !errors.Is(err, ErrSize) || len(b) != 0 {
			t.Errorf("%s: %d bytes, %v", name, len(b), err)
		}
	}
}

func TestWriteAllocates(t *testing.T) {
	values := some(rand.New(rand.NewPCG(1, 1)), 1000, 32, 9)
	dst := make([]byte, 0, 8<<10)
	if n := testing.AllocsPerRun(20, func() {
		if _, err := AppendInline(dst, values, 32, Width(values, 32)); err != nil {
			t.Fatal(err)
		}
		if _, err := AppendFixed(dst, values, 32, 9); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkWrite(b *testing.B) {
	for _, c := range []struct{ wide, width int }{{16, 1}, {32, 10}, {64, 7}, {64, 41}} {
		b.Run(fmt.Sprintf("%d to %d", c.wide, c.width), func(b *testing.B) {
			values := some(rand.New(rand.NewPCG(1, 1)), Block, c.wide, c.width)
			dst := make([]byte, 0, len(values)+8)
			b.SetBytes(int64(len(values)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := AppendInline(dst, values, c.wide, Width(values, c.wide)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
