package fsst

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// joined puts strings behind each other.
func joined(all []string) (data []byte, offsets []int64) {
	offsets = append(offsets, 0)
	for _, s := range all {
		data = append(data, s...)
		offsets = append(offsets, int64(len(data)))
	}
	return data, offsets
}

// kinds are strings of many sorts, about 200 kB each.
func kinds() map[string][]string {
	rng := rand.New(rand.NewPCG(3, 7))
	words := strings.Fields("the quick brown fox jumps over a lazy dog while seventeen vectors of an index are searched by nobody in particular")
	sorts := map[string]func(i int) string{
		"urls": func(i int) string {
			return fmt.Sprintf("https://example.com/users/%d/items/%d?page=%d", rng.IntN(1000), rng.IntN(1e6), rng.IntN(20))
		},
		"uuids": func(i int) string {
			return fmt.Sprintf("%08x-%04x-4%03x-%04x-%012x", rng.Uint32(), rng.IntN(1<<16), rng.IntN(1<<12), rng.IntN(1<<16), rng.Uint64()>>16)
		},
		"names": func(i int) string { return fmt.Sprintf("name %d", rng.IntN(1e6)) },
		"text": func(i int) string {
			var b []string
			for range 30 + rng.IntN(60) {
				b = append(b, words[rng.IntN(len(words))])
			}
			return strings.Join(b, " ")
		},
		"zeros": func(i int) string { return strings.Repeat("\x00", rng.IntN(40)) },
		"random": func(i int) string {
			b := make([]byte, rng.IntN(60))
			for i := range b {
				b[i] = byte(rng.Uint32())
			}
			return string(b)
		},
		"mostly empty": func(i int) string {
			if i%50 == 0 {
				return "some value of a column " + fmt.Sprint(i)
			}
			return ""
		},
	}
	out := map[string][]string{}
	for name, f := range sorts {
		for i, n := 0, 0; n < 200<<10 && i < 200000; i++ {
			s := f(i)
			n += len(s)
			out[name] = append(out[name], s)
		}
	}
	return out
}

func TestTrain(t *testing.T) {
	for name, all := range kinds() {
		data, offsets := joined(all)
		e := Train(data, offsets)
		if name == "random" {
			if e != nil {
				t.Errorf("%s: a table, ratio %.3f", name, e.Ratio())
			}
			continue
		}
		if e == nil {
			t.Errorf("%s: no table", name)
			continue
		}
		ends := make([]int64, len(offsets))
		packed := e.AppendStrings([]byte("head"), data, offsets, ends)
		if string(packed[:4]) != "head" || ends[0] != 0 || ends[len(ends)-1] != int64(len(packed)-4) {
			t.Fatalf("%s: %d bytes, from %d to %d", name, len(packed), ends[0], ends[len(ends)-1])
		}
		packed = packed[4:]
		table, err := Parse(e.Table())
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range all {
			got, err := table.Append(nil, packed[ends[i]:ends[i+1]])
			if err != nil || string(got) != s {
				t.Fatalf("%s: %q becomes %q, %v", name, s, got, err)
			}
		}
		if again := Train(data, offsets); !bytes.Equal(again.Table(), e.Table()) {
			t.Errorf("%s: another table for the same strings", name)
		}
		ratio := float64(len(packed)) / float64(len(data))
		if ratio > 1.15*e.Ratio()+.01 {
			t.Errorf("%s: ratio %.3f, of the sample %.3f", name, ratio, e.Ratio())
		}
		t.Logf("%s: ratio %.3f, %d symbols", name, ratio, len(e.symbols))
	}
	if e := Train(nil, []int64{0}); e != nil {
		t.Error("a table without strings")
	}
	if e := Train(nil, nil); e != nil {
		t.Error("a table without offsets")
	}
}

func FuzzEncode(f *testing.F) {
	f.Add([]byte("hello hello hello hello hello hello"), uint8(3))
	f.Add([]byte("ab\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00ab"), uint8(9))
	f.Fuzz(func(t *testing.T, data []byte, step uint8) {
		offsets := []int64{0}
		for at := 0; at < len(data); {
			at = min(at+int(step)%13+len(offsets)%3, len(data))
			if len(offsets) > 4*len(data)+4 {
				at = len(data)
			}
			offsets = append(offsets, int64(at))
		}
		e := Train(data, offsets)
		if e == nil {
			return
		}
		table, err := Parse(e.Table())
		if err != nil {
			t.Fatal(err)
		}
		ends := make([]int64, len(offsets))
		packed := e.AppendStrings(nil, data, offsets, ends)
		for i := range len(offsets) - 1 {
			want := data[offsets[i]:offsets[i+1]]
			got, err := table.Append(nil, packed[ends[i]:ends[i+1]])
			if err != nil || !bytes.Equal(got, want) {
				t.Fatalf("%q becomes %q, %v", want, got, err)
			}
			if one := e.Append(nil, want); !bytes.Equal(one, packed[ends[i]:ends[i+1]]) {
				t.Fatalf("%q alone becomes %q", want, one)
			}
		}
	})
}

func BenchmarkEncode(b *testing.B) {
	all := kinds()
	for _, name := range []string{"urls", "text", "names"} {
		data, offsets := joined(all[name])
		b.Run("train "+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Train(data, offsets)
			}
		})
		b.Run(name, func(b *testing.B) {
			e := Train(data, offsets)
			ends := make([]int64, len(offsets))
			dst := make([]byte, 0, 2*len(data)+8)
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				e.AppendStrings(dst, data, offsets, ends)
			}
		})
	}
}
