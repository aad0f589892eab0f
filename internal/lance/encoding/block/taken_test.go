package block

import (
	"bytes"
	"errors"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
)

func TestAppendTaken(t *testing.T) {
	words := strs("zero", "", "two")
	for name, ix := range map[string]*Values{
		"8 bits":  {Kind: Fixed, Bits: 8, N: 5, Data: []byte{2, 0, 1, 2, 2}},
		"16 bits": {Kind: Fixed, Bits: 16, N: 5, Data: u16s(2, 0, 1, 2, 2)},
		"32 bits": {Kind: Fixed, Bits: 32, N: 5, Data: u32s(2, 0, 1, 2, 2)},
		"64 bits": {Kind: Fixed, Bits: 64, N: 5, Data: u64s(2, 0, 1, 2, 2)},
	} {
		v := &Values{Limit: unlimited}
		for _, r := range [][2]int{{0, 2}, {2, 2}, {1, 5}} {
			if err := AppendTaken(v, words, ix, r[0], r[1]); err != nil {
				t.Fatal(err)
			}
		}
		if string(v.Data) != "twozerozerotwotwo" || v.N != 6 || v.Offsets[4] != 11 || v.Offsets[5] != 14 {
			t.Errorf("%s: %d values %q, %v", name, v.N, v.Data, v.Offsets)
		}
		for _, dict := range []*Values{fixed(16, 3), fixed(32, 3), fixed(64, 3), fixed(128, 3), fixed(24, 3)} {
			v := &Values{Limit: unlimited}
			if err := AppendTaken(v, dict, ix, 1, 4); err != nil {
				t.Fatal(err)
			}
			w := dict.Bits / 8
			if want := join(dict.Data[:w], dict.Data[w:2*w], dict.Data[2*w:3*w]); !bytes.Equal(v.Data, want) || v.N != 3 || v.Bits != dict.Bits {
				t.Errorf("%s of %d bits: %v, want %v", name, dict.Bits, v.Data, want)
			}
		}
		few := strs("zero", "one")
		if err := AppendTaken(&Values{Limit: unlimited}, few, ix, 0, 5); !errors.Is(err, column.ErrCorrupt) {
			t.Errorf("%s, index 2 of 2: %v", name, err)
		}
		if err := AppendTaken(&Values{Limit: unlimited}, few, ix, 1, 3); err != nil {
			t.Errorf("%s, an index that is not wanted: %v", name, err)
		}
		if err := AppendTaken(&Values{Limit: 8*6 + 13 - 1}, words, ix, 0, 5); !errors.Is(err, column.ErrLimit) {
			t.Errorf("%s, a byte more than allowed: %v", name, err)
		}
	}
	for name, c := range map[string]struct {
		dict, ix *Values
		from, to int
		want     error
	}{
		"negative index":        {words, &Values{Kind: Fixed, Bits: 32, N: 1, Data: u32s(0xffffffff)}, 0, 1, column.ErrCorrupt},
		"no dictionary":         {strs(), &Values{Kind: Fixed, Bits: 8, N: 1, Data: []byte{0}}, 0, 1, column.ErrCorrupt},
		"strings as indices":    {words, words, 0, 1, column.ErrCorrupt},
		"bits as indices":       {words, &Values{Kind: Fixed, Bits: 1, N: 8, Data: []byte{0}}, 0, 1, column.ErrCorrupt},
		"range":                 {words, fixed(8, 3), 2, 4, column.ErrCorrupt},
		"range, backwards":      {words, fixed(8, 3), 2, 1, column.ErrCorrupt},
		"dictionary of lists":   {lists(2, fixed(8, 6)), fixed(8, 3), 0, 3, column.ErrUnsupported},
		"dictionary of one bit": {fixed(1, 3), fixed(8, 3), 0, 3, column.ErrUnsupported},
	} {
		if err := AppendTaken(&Values{Limit: unlimited}, c.dict, c.ix, c.from, c.to); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := AppendTaken(fixed(16, 3), fixed(32, 3), fixed(8, 3), 0, 3); !errors.Is(err, column.ErrCorrupt) {
		t.Errorf("values of another width: %v", err)
	}
}
