package block

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
)

func TestWhole(t *testing.T) {
	v32, v64 := variableOf(flatOf(32)), variableOf(flatOf(64))
	rle := rleOf(flatOf(16), flatOf(8))
	for _, c := range []struct {
		name string
		enc  enc
		n    int
		data []byte
		want []byte // nil when corrupt
		ends []int64
	}{
		{"flat", flatOf(64), 2, u64s(1, 2), u64s(1, 2), nil},
		{"flat, cut", flatOf(64), 2, u64s(1, 2)[:15], nil, nil},
		{"inline", inlineOf(16), 1000, packBlock(16, 10, true, 0, 1000), ramp(16, 1000), nil},
		{"out of line", outOfLineOf(16, flatOf(12)), 2048, join(packBlock(16, 12, false, 0, 1024), packBlock(16, 12, false, 1024, 1024)), ramp(16, 2048), nil},
		{"out of line, packed rest", outOfLineOf(16, flatOf(11)), 2000, join(packBlock(16, 11, false, 0, 1024), packBlock(16, 11, false, 1024, 976)), ramp(16, 2000), nil},
		{"out of line, plain rest", outOfLineOf(16, flatOf(11)), 1030, join(packBlock(16, 11, false, 0, 1024), u16s(1024, 1025, 1026, 1027, 1028, 1029)), ramp(16, 1030), nil},
		{"out of line, cut", outOfLineOf(16, flatOf(11)), 1024, packBlock(16, 11, false, 0, 1024)[1:], nil, nil},
		{"out of line, rest missing", outOfLineOf(16, flatOf(11)), 1030, packBlock(16, 11, false, 0, 1024), nil, nil},
		{"out of line, width 0", outOfLineOf(16, flatOf(0)), 1024, nil, make([]byte, 2048), nil},
		// The next two are a chunk's levels by Lance 14.0.2.
		{"runs", rle, 1024, join(u64s(10), u16s(1, 1, 0, 0, 1), 0xff, 0xf5, 0xff, 0xf5, 24), slices.Concat(rep(1, 500), rep(0, 500), rep(1, 24)), nil},
		{"runs, short", rle, 64, join(u64s(2), u16s(1), 64), rep(1, 64), nil},
		{"runs, size too large", rle, 64, join(u64s(4), u16s(1), 64), nil, nil},
		{"runs, size too small", rle, 64, join(u64s(0), u16s(1), 64), nil, nil},
		{"runs, no size", rle, 64, []byte{1, 2}, nil, nil},
		{"constant", constantOf([]byte{7, 0}), 3, nil, u16s(7, 7, 7), nil},
		{"constant null", constantOf(nil), 3, nil, []byte{}, nil},
		{"variable", v32, 2, join(u32s(32, 20, 0, 2, 3), "abc"), []byte("abc"), []int64{0, 2, 3}},
		{"variable, not from 0", v32, 2, join(u32s(32, 20, 1, 2, 3), "abc"), []byte("bc"), []int64{0, 1, 2}},
		{"variable, 64 bits", v64, 1, join(u64s(64, 32, 0, 2), "ab"), []byte("ab"), []int64{0, 2}},
		{"variable, other width", v64, 1, join(u64s(32, 32, 0, 2), "ab"), nil, nil},
		{"variable, bytes elsewhere", v32, 2, join(u32s(32, 16, 0, 2, 3), "abc"), nil, nil},
		{"variable, other count", v32, 3, join(u32s(32, 20, 0, 2, 3), "abc"), nil, nil},
		{"variable, falling", v32, 2, join(u32s(32, 20, 0, 4, 3), "abc"), nil, nil},
		{"variable, end outside", v32, 2, join(u32s(32, 20, 0, 2, 4), "abc"), nil, nil},
		{"variable, cut", v32, 2, u32s(32, 20, 0, 2), nil, nil},
		{"zstd of variable", generalOf(zstdScheme, v32), 1, zstdSized(t, string(join(u32s(32, 16, 0, 6), "foobar"))), []byte("foobar"), []int64{0, 6}},
		{"zstd of runs", generalOf(zstdScheme, rle), 64, zstdSized(t, string(join(u64s(2), u16s(1), 64))), rep(1, 64), nil},
		{"zstd of variable, corrupt inside", generalOf(zstdScheme, v32), 1, zstdSized(t, string(join(u32s(32, 16, 0, 7), "foobar"))), nil, nil},
		{"zstd of flat", generalOf(zstdScheme, flatOf(16)), 3, zstdSized(t, string(u16s(1, 2, 3))), u16s(1, 2, 3), nil},
		{"zstd of flat, other count", generalOf(zstdScheme, flatOf(16)), 2, zstdSized(t, string(u16s(1, 2, 3))), nil, nil},
	} {
		w, err := NewWhole(c.enc)
		if err != nil {
			t.Fatal(err)
		}
		v, err := w.Decode(c.data, c.n, unlimited)
		if c.want == nil {
			if !errors.Is(err, column.ErrCorrupt) {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		if err != nil || v.N != c.n || !bytes.Equal(v.Data, c.want) || !slices.Equal(v.Offsets, c.ends) {
			t.Errorf("%s: %+v, %v", c.name, v, err)
			continue
		}
		if v.size() > 0 {
			if _, err := w.Decode(c.data, c.n, v.size()); err != nil {
				t.Errorf("%s: exactly what is allowed: %v", c.name, err)
			}
			if _, err := w.Decode(c.data, c.n, v.size()-1); !errors.Is(err, column.ErrLimit) {
				t.Errorf("%s: a byte more than allowed: %v", c.name, err)
			}
		}
		levels, err := AppendLevels([]uint16{9}, w, c.data, c.n, unlimited)
		if v.Kind == Fixed && v.Bits == 16 {
			if err != nil || levels[0] != 9 || !bytes.Equal(u16s(levels[1:]...), c.want) {
				t.Errorf("%s as levels: %v, %v", c.name, levels, err)
			}
		} else if !errors.Is(err, column.ErrCorrupt) {
			t.Errorf("%s as levels: %v", c.name, err)
		}
	}
}

func rep(v uint16, n int) (b []byte) { return bytes.Repeat(u16s(v), n) }

// A count from a file that nothing in the buffer bears out must not be allocated.
func TestWholeCount(t *testing.T) {
	for _, e := range []enc{constantOf([]byte{1, 2, 3, 4}), outOfLineOf(64, flatOf(0)), constantOf([]byte{1}), rleOf(flatOf(8), flatOf(8))} {
		w, err := NewWhole(e)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{1 << 28, 1 << 30, 1 << 50, 1 << 62, -1} {
			if _, err := w.Decode(nil, n, 1<<20); !errors.Is(err, column.ErrLimit) && !errors.Is(err, column.ErrCorrupt) {
				t.Errorf("%s, %d values: %v", Describe(e), n, err)
			}
		}
	}
}

func TestAppendLevelsAllocates(t *testing.T) {
	w, err := NewWhole(outOfLineOf(16, flatOf(11)))
	if err != nil {
		t.Fatal(err)
	}
	data := packBlock(16, 11, false, 0, 1024)
	dst := make([]uint16, 0, 1024)
	if n := testing.AllocsPerRun(100, func() {
		if _, err := AppendLevels(dst, w, data, 1024, unlimited); err != nil {
			t.Fatal(err)
		}
	}); n > 4 { // a race build empties pools at random
		t.Errorf("%v allocations", n)
	}
}
