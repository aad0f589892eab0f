package block

import (
	"errors"
	"testing"
)

// shapedOf makes a block of raw bytes: of one of many kinds, with values of up to some bytes.
func shapedOf(data []byte, kind, size uint8) *Values {
	widths := []int{8, 16, 24, 32, 64, 128}
	switch k := int(kind) % 10; {
	case k < len(widths):
		n := len(data) * 8 / widths[k]
		return &Values{Kind: Fixed, Bits: widths[k], N: n, Data: data[:n*widths[k]/8]}
	case k == 6:
		return &Values{Kind: Fixed, Bits: 1, N: len(data) * 8, Data: data}
	case k == 7:
		dim := int(size)%9 + 1
		items := shapedOf(data, size%6, size)
		items.N -= items.N % dim
		v := &Values{Kind: List, Dim: dim, N: items.N / dim, Items: items}
		if size%2 == 0 {
			v.Valid = data
			for len(v.Valid)*8 < items.N {
				v.Valid = append(v.Valid[:len(v.Valid):len(v.Valid)], data...)
			}
		}
		return v
	}
	v := stringShape.empty(0)
	v.Data = data
	for at := 0; at < len(data); v.N++ {
		at = min(at+int(data[at])%(int(size)+1)+v.N%2, len(data))
		v.Offsets = append(v.Offsets, int64(at))
	}
	return v
}

func FuzzEncode(f *testing.F) {
	seed := make([]byte, 3000)
	for i := range seed {
		seed[i] = byte(i / 7 % 5)
	}
	for k := range uint8(10) {
		f.Add(seed, k, uint8(10+k), uint8(k%5))
	}
	f.Fuzz(oneEncode)
}

// oneEncode encodes a block in each place, and decodes it.
func oneEncode(t *testing.T, data []byte, kind, size, compression uint8) {
	v := shapedOf(data, kind, size)
	if v.N == 0 {
		return
	}
	o := EncodeOptions{Minor: 1 + int(kind)%2, OffsetBits: 32 << (size % 2)}
	o.Compression, o.BSS = []string{"", "none", "fsst", "lz4", "zstd"}[compression%5], autoBSS
	c, err := EncodeChunks(v, o)
	if err == nil {
		err = sameValues(c.decode(t), v)
	} else if errors.Is(err, ErrWide) {
		err = nil
	}
	if err != nil {
		t.Fatalf("chunks: %v", err)
	}
	z, err := EncodeZip(v, o)
	if err != nil {
		t.Fatalf("zip: %v", err)
	}
	want := v
	if v.Bits == 1 {
		want = widened(v)
	}
	if err := sameValues(z.decode(t), want); err != nil {
		t.Fatalf("zip as %s: %v", Describe(z.Encoding), err)
	}
	if v.Kind == List {
		return
	}
	enc, b, err := EncodeWhole(v, o)
	if err != nil {
		t.Fatalf("whole: %v", err)
	}
	w, err := NewWhole(enc)
	if err != nil {
		t.Fatal(err)
	}
	got, err := w.Decode(b, v.N, unlimited)
	if err == nil {
		err = sameValues(got, v)
	}
	if err != nil {
		t.Fatalf("whole as %s: %v", Describe(enc), err)
	}
	if dict, indices, ok := BuildDictionary(v, o); ok {
		taken := dict.empty(unlimited)
		if err := AppendTaken(taken, dict, indices, 0, v.N); err != nil {
			t.Fatal(err)
		}
		if err := sameValues(taken, v); err != nil {
			t.Fatalf("dictionary: %v", err)
		}
	}
}
