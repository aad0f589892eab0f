package bitpack

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"testing"
)

var types = []int{8, 16, 32, 64}

// get and set access value i of an array of integers of any width.
func get(b []byte, bits, i int) uint64 {
	var w [8]byte
	copy(w[:bits/8], b[i*bits/8:])
	return binary.LittleEndian.Uint64(w[:])
}

func set(b []byte, bits, i int, v uint64) {
	var w [8]byte
	binary.LittleEndian.PutUint64(w[:], v)
	copy(b[i*bits/8:(i+1)*bits/8], w[:])
}

// reference packs bit by bit, following the description of the layout alone.
func reference(values []byte, bits, width int) []byte {
	packed := make([]byte, Size(width))
	lanes := Block / bits
	for lane := range lanes {
		for row := range bits {
			v := get(values, bits, 16*order[row/8]+128*(row%8)+lane)
			for b := range width {
				at := row*width + b
				word, bit := at/bits*lanes+lane, at%bits
				packed[(word*bits+bit)/8] |= byte(v>>b&1) << (bit % 8)
			}
		}
	}
	return packed
}

func values(rng *rand.Rand, bits, width, n int) []byte {
	b := make([]byte, n*bits/8)
	for i := range n {
		if width > 0 {
			set(b, bits, i, rng.Uint64()>>(64-width))
		}
	}
	return b
}

func TestUnpackEveryWidth(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, bits := range types {
		for width := range bits + 1 {
			want := values(rng, bits, width, Block)
			packed := reference(want, bits, width)
			got := bytes.Repeat([]byte{0xa5}, Size(bits))
			if err := Unpack(got, packed, bits, width); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%d of %d bits: unpacked to other values", width, bits)
			}
			again := bytes.Repeat([]byte{0xa5}, Size(width))
			if err := Pack(again, want, bits, width); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(again, packed) {
				t.Errorf("%d of %d bits: packed to other bytes", width, bits)
			}
		}
	}
}

// The bytes are the start of a chunk of a file by Lance 14.0.2: one definition level in five
// hundred runs, and 32-bit row numbers.
func TestRealBytes(t *testing.T) {
	levels, err := hex.DecodeString("0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f8f0f8f0f8f0f8f0f8f0f8f0f8f0f8f0f8f0f8f0f8f0f8f0f870f870f870f870f870f870f87")
	if err != nil {
		t.Fatal(err)
	}
	packed := make([]byte, Size(1))
	copy(packed, levels) // what is left of the group stays unknown
	got := make([]byte, Size(16))
	if err := Unpack(got, packed, 16, 1); err != nil {
		t.Fatal(err)
	}
	for i := range 512 { // rows of the lanes that are known
		if lane := i % 64; lane < len(levels)/2 && i%128 < 64 {
			if v := get(got, 16, i); v != uint64(1-i/500) {
				t.Errorf("level %d is %d", i, v)
			}
		}
	}
}

func TestInline(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, bits := range types {
		for _, width := range []int{0, 1, bits - 1, bits} {
			want := values(rng, bits, width, Block)
			b := make([]byte, bits/8)
			b[0] = byte(width)
			b = append(append(b, reference(want, bits, width)...), 1, 2, 3)
			w, packed, rest, err := Inline(b, bits)
			if err != nil || w != width || !bytes.Equal(rest, []byte{1, 2, 3}) || len(packed) != Size(width) {
				t.Errorf("%d of %d bits: width %d, %d packed, rest %v, error %v", width, bits, w, len(packed), rest, err)
			}
			for _, cut := range []int{0, bits/8 - 1, len(b) - 4} {
				if _, _, _, err := Inline(b[:cut], bits); err == nil && cut < bits/8+Size(width) {
					t.Errorf("%d of %d bits: %d bytes of %d accepted", width, bits, cut, len(b))
				}
			}
		}
		tooWide := make([]byte, 2000*8)
		tooWide[0] = byte(bits) + 1
		if _, _, _, err := Inline(tooWide, bits); err == nil {
			t.Errorf("%d of %d bits accepted", bits+1, bits)
		}
	}
}

func TestUnpackFixed(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, bits := range types {
		for _, width := range []int{1, bits/2 + 1, bits - 1} {
			for _, n := range []int{0, 1, 63, 1000, 1024, 1025, 3000, 4096} {
				want := values(rng, bits, width, n)
				padded := append(bytes.Clone(want), make([]byte, Size(bits))...)
				var whole []byte
				for i := range n / Block {
					whole = append(whole, reference(padded[i*Size(bits):][:Size(bits)], bits, width)...)
				}
				rest := n / Block * Size(bits)
				frames := map[string][]byte{"plain": append(bytes.Clone(whole), want[rest:]...)}
				if n%Block != 0 && Size(width) != len(want)-rest {
					frames["packed"] = append(bytes.Clone(whole), reference(padded[rest:][:Size(bits)], bits, width)...)
				}
				for name, src := range frames {
					got, err := UnpackFixed([]byte("head"), src, bits, width, n)
					if err != nil || string(got[:4]) != "head" || !bytes.Equal(got[4:], want) {
						t.Errorf("%d values, %d of %d bits, remainder %s: error %v", n, width, bits, name, err)
					}
					if _, err := UnpackFixed(nil, append(src, 0), bits, width, n); err == nil && len(src)+1 != len(frames["plain"]) && len(src)+1 != len(frames["packed"]) {
						t.Errorf("%d values, %d of %d bits: a byte too many accepted", n, width, bits)
					}
				}
			}
		}
	}
	for _, bad := range [][3]int{{12, 1, 1}, {8, 9, 1}, {8, -1, 1}, {8, 1, -1}, {64, 1, 1 << 62}} {
		if _, err := UnpackFixed(nil, make([]byte, 128), bad[0], bad[1], bad[2]); err == nil {
			t.Errorf("%v accepted", bad)
		}
	}
}

func FuzzUnpack(f *testing.F) {
	f.Add([]byte{3, 0, 0, 0, 1, 2, 3}, byte(2), byte(3), uint16(1024))
	f.Add(make([]byte, 1024), byte(3), byte(8), uint16(1500))
	f.Fuzz(func(t *testing.T, b []byte, kind, width byte, n uint16) {
		bits := types[kind%4]
		if w, packed, rest, err := Inline(b, bits); err == nil {
			out := make([]byte, Size(bits))
			if err := Unpack(out, packed, bits, w); err != nil {
				t.Fatalf("a block that Inline found: %v", err)
			}
			if len(packed)+len(rest)+bits/8 != len(b) {
				t.Fatal("bytes lost")
			}
			again := make([]byte, Size(w))
			if err := Pack(again, out, bits, w); err != nil || !bytes.Equal(again, packed) {
				t.Fatalf("packing again makes other bytes, error %v", err)
			}
		}
		if out, err := UnpackFixed(nil, b, bits, int(width), int(n)); err == nil && len(out) != int(n)*bits/8 {
			t.Fatalf("%d values of %d bits in %d bytes", n, bits, len(out))
		}
	})
}

func BenchmarkUnpack(b *testing.B) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, bits := range types {
		for _, width := range []int{1, bits/2 - 1, bits / 2, bits - 1} {
			b.Run(fmt.Sprintf("u%d/%d", bits, width), func(b *testing.B) {
				packed := reference(values(rng, bits, width, Block), bits, width)
				out := make([]byte, Size(bits))
				b.SetBytes(int64(len(out)))
				for b.Loop() {
					if err := Unpack(out, packed, bits, width); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
