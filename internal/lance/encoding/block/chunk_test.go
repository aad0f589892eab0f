package block

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/bitpack"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
)

// packBlock bit-packs numbers from first on, with their width in front when inline.
func packBlock(bits, width int, inline bool, first uint64, n int) []byte {
	values := make([]byte, bitpack.Size(bits))
	for i := range n {
		copy(values[i*bits/8:(i+1)*bits/8], u64s((first+uint64(i))&(1<<width-1)))
	}
	packed := make([]byte, bitpack.Size(width))
	if err := bitpack.Pack(packed, values, bits, width); err != nil {
		panic(err)
	}
	if !inline {
		return packed
	}
	return append(u64s(uint64(width))[:bits/8], packed...)
}

type chunkCase struct {
	name    string
	enc     enc
	n       int
	buffers [][]byte
	// want is the data of n values, or nil when the chunk is corrupt.
	want []byte
	ends []int64
}

func chunkCases() []chunkCase {
	v32, v64 := variableOf(flatOf(32)), variableOf(flatOf(64))
	fsst := fsstOf(symbols(), v32)
	b := func(parts ...any) [][]byte { return [][]byte{join(parts...)} }
	return []chunkCase{
		{"flat", flatOf(16), 3, b(u16s(1, 2, 3)), u16s(1, 2, 3), nil},
		{"flat, a byte less", flatOf(16), 3, b(1, 0, 2, 0, 3), nil, nil},
		{"flat, a byte more", flatOf(16), 3, b(u16s(1, 2, 3), 0), nil, nil},
		{"flat, another buffer", flatOf(16), 3, [][]byte{u16s(1, 2, 3), nil}, nil, nil},
		{"bits", flatOf(1), 10, b(0x55, 0x03), []byte{0x55, 0x03}, nil},
		{"bits, padded", flatOf(1), 10, b(0x55, 0x03, make([]byte, 6)), []byte{0x55, 0x03}, nil},
		{"bits, a byte less", flatOf(1), 10, b(0x55), nil, nil},
		{"bits, far too many", flatOf(1), 10, b(make([]byte, 100)), nil, nil},
		{"variable", v32, 3, b(u32s(16, 17, 17, 20), "abcd"), []byte("abcd"), []int64{1, 1, 4}},
		{"variable, padded", v32, 2, b(u32s(12, 13, 14), "ab", 0, 0), []byte("ab"), []int64{1, 2}},
		{"variable, 64 bits", v64, 1, b(u64s(16, 18), "ab"), []byte("ab"), []int64{2}},
		{"variable, too few offsets", v32, 3, b(u32s(16, 17, 17)), nil, nil},
		{"variable, falling offset", v32, 3, b(u32s(16, 19, 17, 20), "abcd"), nil, nil},
		{"variable, end outside", v32, 2, b(u32s(12, 13, 17), "abcd"), nil, nil},
		{"variable, middle outside", v32, 2, b(u32s(12, 90, 16), "abcd"), nil, nil},
		{"variable, start elsewhere", v32, 2, b(u32s(13, 13, 16), "abcd"), nil, nil},
		{"variable, bytes left over", v32, 1, b(u32s(8, 9), "aaaaaaaaa"), nil, nil},
		{"variable, 64 bits, negative", v64, 2, b(u64s(24, 1<<63+24, 26), "ab"), nil, nil},
		{"variable, no bytes", v32, 2, [][]byte{nil}, nil, nil},
		{"fsst", fsst, 3, b(u32s(16, 18, 18, 21), 0, 1, 1, 255, "q"), []byte("abxyzxyzq"), []int64{5, 5, 9}},
		{"fsst, unknown code", fsst, 1, b(u32s(8, 9), 7), nil, nil},
		{"fsst, escape at the end", fsst, 1, b(u32s(8, 9), 255), nil, nil},
		{"inline", inlineOf(32), 1024, b(packBlock(32, 11, true, 0, 1024)), ramp(32, 1024), nil},
		{"inline, part of a block", inlineOf(64), 700, b(packBlock(64, 10, true, 0, 700)), ramp(64, 700), nil},
		{"inline, two blocks", inlineOf(16), 1500, b(packBlock(16, 12, true, 0, 1024), packBlock(16, 11, true, 1024, 476)), ramp(16, 1500), nil},
		{"inline, no width", inlineOf(32), 5, b(1, 0), nil, nil},
		{"inline, too wide", inlineOf(32), 5, b(u32s(33), make([]byte, 33*128)), nil, nil},
		{"inline, a byte less", inlineOf(32), 1024, b(packBlock(32, 11, true, 0, 1024)[:1411]), nil, nil},
		{"inline, a block more", inlineOf(32), 1024, b(packBlock(32, 11, true, 0, 1024), packBlock(32, 1, true, 0, 1)), nil, nil},
		{"runs", rleOf(flatOf(16), flatOf(8)), 9, [][]byte{u16s(7, 8, 9), {3, 2, 4}}, u16s(7, 7, 7, 8, 8, 9, 9, 9, 9), nil},
		{"runs of bytes", rleOf(flatOf(8), flatOf(8)), 300, [][]byte{{1, 1, 2}, {255, 40, 5}}, append(bytes.Repeat([]byte{1}, 295), 2, 2, 2, 2, 2), nil},
		{"runs, the last cut", rleOf(flatOf(32), flatOf(8)), 4, [][]byte{u32s(7, 8), {3, 200}}, u32s(7, 7, 7, 8), nil},
		{"runs, too few", rleOf(flatOf(16), flatOf(8)), 10, [][]byte{u16s(7, 8, 9), {3, 2, 4}}, nil, nil},
		{"runs, one more", rleOf(flatOf(16), flatOf(8)), 5, [][]byte{u16s(7, 8, 9), {3, 2, 4}}, nil, nil},
		{"runs, a length more", rleOf(flatOf(16), flatOf(8)), 9, [][]byte{u16s(7, 8, 9), {3, 2, 4, 1}}, nil, nil},
		{"runs, one buffer", rleOf(flatOf(16), flatOf(8)), 9, [][]byte{u16s(7, 8, 9)}, nil, nil},
		{"split", splitOf(flatOf(32)), 2, b("adbecf", "gh"), []byte("abcgdefh"), nil},
		{"split, 64 bits", splitOf(flatOf(64)), 2, b("aAbBcCdDeEfFgGhH"), []byte("abcdefghABCDEFGH"), nil},
		{"split, a byte less", splitOf(flatOf(32)), 2, b("adbecfg"), nil, nil},
	}
}

// ramp is 0, 1, … as integers.
func ramp(bits, n int) []byte {
	var b []byte
	for i := range n {
		b = append(b, u64s(uint64(i))[:bits/8]...)
	}
	return b
}

func TestChunk(t *testing.T) {
	for _, c := range chunkCases() {
		t.Run(c.name, func(t *testing.T) {
			d, err := NewChunk(c.enc)
			if err != nil {
				t.Fatal(err)
			}
			if c.want == nil {
				err := d.Append(d.New(unlimited), c.buffers, c.n, 0, c.n)
				if !errors.Is(err, column.ErrCorrupt) {
					t.Errorf("accepted: %v", err)
				}
				return
			}
			for _, r := range [][2]int{{0, c.n}, {0, 0}, {0, 1}, {c.n - 1, c.n}, {1, c.n}, {c.n / 3, c.n / 2}} {
				v := d.New(unlimited)
				// Twice, so that the second time there is something before it.
				for i := range 2 {
					if err := d.Append(v, c.buffers, c.n, r[0], r[1]); err != nil {
						t.Fatalf("values %v: %v", r, err)
					}
					if v.N != (i+1)*(r[1]-r[0]) {
						t.Fatalf("values %v: %d", r, v.N)
					}
				}
				if err := same(v, c, r); err != nil {
					t.Errorf("values %v: %v", r, err)
				}
			}
			for _, r := range [][2]int{{-1, 1}, {2, 1}, {0, c.n + 1}} {
				if err := d.Append(d.New(unlimited), c.buffers, c.n, r[0], r[1]); !errors.Is(err, column.ErrCorrupt) {
					t.Errorf("values %v accepted: %v", r, err)
				}
			}
		})
	}
}

// same compares a block of twice the values of a range.
func same(v *Values, c chunkCase, r [2]int) error {
	count := r[1] - r[0]
	for k := range 2 * count {
		i := r[0] + k%count
		switch {
		case v.Kind == Variable:
			start := int64(0)
			if i > 0 {
				start = c.ends[i-1]
			}
			if got, want := v.Data[v.Offsets[k]:v.Offsets[k+1]], c.want[start:c.ends[i]]; !bytes.Equal(got, want) {
				return fmt.Errorf("value %d is %q, want %q", k, got, want)
			}
		case v.Bits == 1:
			if got, want := v.Data[k/8]>>(k%8)&1, c.want[i/8]>>(i%8)&1; got != want {
				return fmt.Errorf("bit %d is %d", k, got)
			}
		default:
			w := v.Bits / 8
			if got, want := v.Data[k*w:(k+1)*w], c.want[i*w:(i+1)*w]; !bytes.Equal(got, want) {
				return fmt.Errorf("value %d is %v, want %v", k, got, want)
			}
		}
	}
	return nil
}

// A limit that is one byte too small must stop a chunk, and the exact one must not.
func TestChunkLimit(t *testing.T) {
	for _, c := range chunkCases() {
		if c.want == nil {
			continue
		}
		d, err := NewChunk(c.enc)
		if err != nil {
			t.Fatal(err)
		}
		v := d.New(unlimited)
		if err := d.Append(v, c.buffers, c.n, 0, c.n); err != nil {
			t.Fatal(err)
		}
		need := v.size()
		if err := d.Append(d.New(need), c.buffers, c.n, 0, c.n); err != nil {
			t.Errorf("%s: %d bytes allowed: %v", c.name, need, err)
		}
		if err := d.Append(d.New(need-1), c.buffers, c.n, 0, c.n); !errors.Is(err, column.ErrLimit) {
			t.Errorf("%s: %d bytes where %d are allowed: %v", c.name, need, need-1, err)
		}
	}
}

func TestPacked(t *testing.T) {
	d, err := NewChunk(packedOf(flatOf(16+32+64+24), 16, 32, 64, 24))
	if err != nil {
		t.Fatal(err)
	}
	rows := join("aabbbbccccccccddd", "AABBBBCCCCCCCCDDD", "11222233333333444")
	v := d.New(unlimited)
	if err := d.Append(v, [][]byte{rows}, 3, 1, 3); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"AA11", "BBBB2222", "CCCCCCCC33333333", "DDD444"} {
		if got := string(v.Fields[i].Data); got != want || v.Fields[i].N != 2 {
			t.Errorf("field %d: %d values %q", i, v.Fields[i].N, got)
		}
	}
	if err := d.Append(v, [][]byte{rows[1:]}, 3, 0, 3); !errors.Is(err, column.ErrCorrupt) {
		t.Errorf("a byte less: %v", err)
	}
	if err := d.Append(d.New(33), [][]byte{rows}, 3, 1, 3); !errors.Is(err, column.ErrLimit) {
		t.Errorf("34 bytes where 33 are allowed: %v", err)
	}
}

// Pages of one column may differ in whether there is validity, and items may all be null.
func TestListsBehindEachOther(t *testing.T) {
	plain, err := NewChunk(listOf(3, false, flatOf(8)))
	if err != nil {
		t.Fatal(err)
	}
	valid, err := NewChunk(listOf(3, true, flatOf(8)))
	if err != nil {
		t.Fatal(err)
	}
	null, err := NewZip(listOf(3, true, constantOf(nil)))
	if err != nil {
		t.Fatal(err)
	}
	steps := map[string]func(v *Values) error{
		"p": func(v *Values) error { return plain.Append(v, [][]byte{[]byte("abcdef")}, 2, 0, 2) },
		"v": func(v *Values) error { return valid.Append(v, [][]byte{{0b101}, []byte("ghi")}, 1, 0, 1) },
		"n": func(v *Values) error { return null.AppendFixed(v, []byte{0, 0}, 2) },
		"0": func(v *Values) error { return v.AppendNulls(1) },
	}
	data := map[string]string{"p": "abcdef", "v": "ghi", "n": "\x00\x00\x00\x00\x00\x00", "0": "\x00\x00\x00"}
	bits := map[string]string{"p": "111111", "v": "101", "n": "000000", "0": "111"}
	for _, order := range []string{"p", "pp", "pv", "vp", "vpv", "np", "pn", "nv", "vn", "0v", "p0v", "nn", "n0p", "pvnpvn0"} {
		for _, start := range []*Values{plain.New(unlimited), valid.New(unlimited), null.New(unlimited)} {
			v := start
			wantData, wantBits := "", ""
			for _, s := range order {
				if err := steps[string(s)](v); err != nil {
					t.Fatalf("%s: %v", order, err)
				}
				wantData += data[string(s)]
				wantBits += bits[string(s)]
			}
			if v.N*3 != len(wantBits) || v.Items.N != len(wantBits) || !v.Items.null() && string(v.Items.Data) != wantData {
				t.Fatalf("%s: %d lists, %d items %q", order, v.N, v.Items.N, v.Items.Data)
			}
			got := ""
			for i := range v.Items.N {
				b := byte(1)
				if v.Valid != nil {
					b = v.Valid[i/8] >> (i % 8) & 1
				}
				got += string('0' + b)
			}
			if got != wantBits {
				t.Errorf("%s: validity %s, want %s", order, got, wantBits)
			}
		}
	}
}
