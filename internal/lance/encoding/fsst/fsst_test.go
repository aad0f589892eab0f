package fsst

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// store lays a table out as in a file.
func store(compressed byte, symbols ...string) []byte {
	b := make([]byte, TableSize)
	b[0], b[3] = byte(len(symbols)), compressed
	binary.LittleEndian.PutUint32(b[4:], magic)
	for i, s := range symbols {
		copy(b[8+8*i:], s)
		b[8+8*len(symbols)+i] = byte(len(s))
	}
	return b
}

// encode compresses with the longest symbols, greedily.
func encode(s string, symbols ...string) []byte {
	var out []byte
	for len(s) > 0 {
		best := -1
		for i, sym := range symbols {
			if strings.HasPrefix(s, sym) && (best < 0 || len(sym) > len(symbols[best])) {
				best = i
			}
		}
		if best < 0 {
			out = append(out, escape, s[0])
			s = s[1:]
			continue
		}
		out = append(out, byte(best))
		s = s[len(symbols[best]):]
	}
	return out
}

var words = []string{"lance", "a", "tabletop", "0123", "xy", " "}

func TestAppend(t *testing.T) {
	table, err := Parse(store(1, words...))
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for n := range 300 {
		var s string
		for range n {
			if w := rng.IntN(len(words) + 2); w < len(words) {
				s += words[w]
			} else {
				s += string([]byte{byte(rng.IntN(256))})
			}
		}
		in := encode(s, words...)
		if l, err := table.Length(in); err != nil || l != len(s) {
			t.Fatalf("%q: length %d, error %v", s, l, err)
		}
		for _, capacity := range []int{0, 4, 5, 20, 40, 200, 5000} {
			out, err := table.Append(append(make([]byte, 0, capacity), "head"...), in)
			if err != nil || string(out) != "head"+s {
				t.Fatalf("%q, capacity %d: %q, error %v", s, capacity, out, err)
			}
		}
	}
}

func TestAppendCorrupt(t *testing.T) {
	table, err := Parse(store(1, words...))
	if err != nil {
		t.Fatal(err)
	}
	for name, in := range map[string][]byte{
		"unknown code":                 {0, 1, 6, 2},
		"unknown code in a long run":   append(bytes.Repeat([]byte{0, 1, 2}, 100), 200, 1, 1, 1, 1),
		"escape at the end":            {0, 1, 255},
		"escape at the end, long":      append(bytes.Repeat([]byte{5}, 100), 255),
		"escape, after whole escape":   {255, 255, 255},
		"unknown code 254, the last":   {1, 254},
		"unknown code as first of all": {100},
	} {
		if _, err := table.Length(in); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: length: %v", name, err)
		}
		for _, capacity := range []int{0, 100, 10000} {
			if out, err := table.Append(make([]byte, 0, capacity), in); !errors.Is(err, ErrCorrupt) {
				t.Errorf("%s, capacity %d: %q, %v", name, capacity, out, err)
			}
		}
	}
}

func TestStoredAsIs(t *testing.T) {
	table, err := Parse(store(0))
	if err != nil {
		t.Fatal(err)
	}
	out, err := table.Append([]byte("a"), []byte{255, 0, 7})
	if err != nil || !bytes.Equal(out, []byte{'a', 255, 0, 7}) {
		t.Errorf("%v, %v", out, err)
	}
	if n, err := table.Length([]byte{255, 0, 7}); n != 3 || err != nil {
		t.Errorf("length %d, %v", n, err)
	}
}

func TestParse(t *testing.T) {
	good := store(1, words...)
	for name, change := range map[string]func([]byte) []byte{
		"short":          func(b []byte) []byte { return b[:len(b)-1] },
		"long":           func(b []byte) []byte { return append(b, 0) },
		"empty":          func([]byte) []byte { return nil },
		"magic":          func(b []byte) []byte { b[4]++; return b },
		"kind":           func(b []byte) []byte { b[3] = 2; return b },
		"empty symbol":   func(b []byte) []byte { b[8+8*6+2] = 0; return b },
		"symbol of nine": func(b []byte) []byte { b[8+8*6+2] = 9; return b },
		"more symbols":   func(b []byte) []byte { b[0] = 255; return b },
	} {
		if _, err := Parse(change(slices.Clone(good))); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Parse(good); err != nil {
		t.Error(err)
	}
}

func FuzzAppend(f *testing.F) {
	f.Add(store(1, words...), encode("lance tabletop 0123 ü", words...), uint16(7))
	f.Add(store(0), []byte("plain"), uint16(0))
	f.Add(store(1), []byte{255, 1, 255}, uint16(100))
	f.Fuzz(func(t *testing.T, stored, in []byte, capacity uint16) {
		table, err := Parse(stored)
		if err != nil {
			return
		}
		n, lengthErr := table.Length(in)
		out, err := table.Append(make([]byte, 0, capacity), in)
		if (err == nil) != (lengthErr == nil) {
			t.Fatalf("length says %v, append %v", lengthErr, err)
		}
		if err != nil {
			return
		}
		if len(out) != n || n > MaxSymbol*len(in) || cap(out) > int(capacity)+16*len(in)+2048 {
			t.Fatalf("%d bytes, %d announced, from %d, capacity %d", len(out), n, len(in), cap(out))
		}
		// One code at a time must come to the same.
		var slow []byte
		for i := 0; i < len(in); i++ {
			part := in[i : i+1]
			if table.compressed && in[i] == escape {
				part = in[i : i+2]
				i++
			}
			if slow, err = table.Append(slow, part); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(slow, out) {
			t.Fatalf("%q in one go, %q code by code", out, slow)
		}
	})
}

func BenchmarkAppend(b *testing.B) {
	table, err := Parse(store(1, words...))
	if err != nil {
		b.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for name, escapes := range map[string]int{"plain": 0, "escapes": 20} {
		b.Run(name, func(b *testing.B) {
			var in [][]byte
			total := 0
			for range 1000 {
				var s []byte
				for range 5 + rng.IntN(20) {
					if rng.IntN(100) < escapes {
						s = append(s, escape)
					}
					s = append(s, byte(rng.IntN(len(words))))
				}
				n, err := table.Length(s)
				if err != nil {
					b.Fatal(err)
				}
				in, total = append(in, s), total+n
			}
			out := make([]byte, 0, total+64)
			b.SetBytes(int64(total))
			b.ResetTimer()
			for range b.N {
				out = out[:0]
				for _, s := range in {
					if out, err = table.Append(out, s); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
