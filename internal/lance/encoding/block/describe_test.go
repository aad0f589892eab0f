package block

import (
	"slices"
	"testing"
)

func TestDescribe(t *testing.T) {
	for _, c := range []struct {
		enc   enc
		want  string
		names []string
	}{
		{generalOf(zstdScheme, variableOf(flatOf(32))), "general(zstd, variable(flat(32)))", []string{"general", "zstd", "variable", "flat"}},
		{fsstOf(symbols(), variableOf(flatOf(64))), "fsst(variable(flat(64)))", []string{"fsst", "variable", "flat"}},
		{rleOf(flatOf(16), flatOf(8)), "rle(flat(16), flat(8))", []string{"rle", "flat", "flat"}},
		{outOfLineOf(16, flatOf(2)), "out-of-line bit-packing(16, flat(2))", []string{"out-of-line bit-packing", "flat"}},
		{inlineOf(64), "inline bit-packing(64)", []string{"inline bit-packing"}},
		{listOf(6, true, listOf(4, false, flatOf(32))), "fixed-size list(6, validity, fixed-size list(4, flat(32)))", []string{"fixed-size list", "fixed-size list", "flat"}},
		{packedOf(flatOf(96), 32, 64), "packed struct(32, 64, flat(96))", []string{"packed struct", "flat"}},
		{structOf(fixedField(32, flatOf(32)), variableField(32, variableOf(flatOf(32)))), "variable packed struct(flat(32), variable(flat(32)))",
			[]string{"variable packed struct", "flat", "variable", "flat"}},
		{generalOf(lz4Scheme, splitOf(flatOf(32))), "general(lz4, byte-stream-split(flat(32)))", []string{"general", "lz4", "byte-stream-split", "flat"}},
		{dictionaryOf(flatOf(8), variableOf(flatOf(32)), 7), "dictionary(7, flat(8), variable(flat(32)))", []string{"dictionary", "flat", "variable", "flat"}},
		{constantOf(nil), "constant(null)", []string{"constant"}},
		{constantOf([]byte{1}), "constant", []string{"constant"}},
		{generalOf(9, nil), "general(scheme 9, unknown)", []string{"general", "scheme 9", "unknown"}},
		{nil, "unknown", []string{"unknown"}},
	} {
		if got := Describe(c.enc); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
		if got := Names(c.enc); !slices.Equal(got, c.names) {
			t.Errorf("%s: %v, want %v", c.want, got, c.names)
		}
	}
}
