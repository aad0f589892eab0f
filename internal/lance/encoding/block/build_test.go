package block

import (
	"errors"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
)

// Where an encoding may stand: c in a chunk, z in a full-zip page, w in a buffer of its own.
func TestBuild(t *testing.T) {
	v32 := variableOf(flatOf(32))
	deep := flatOf(8)
	for range 40 {
		deep = generalOf(zstdScheme, deep)
	}
	deepList := flatOf(8)
	for range 40 {
		deepList = listOf(1, false, deepList)
	}
	noTable := symbols()[:100]
	for _, c := range []struct {
		enc  enc
		want string
	}{
		{flatOf(1), "cw"}, {flatOf(8), "czw"}, {flatOf(128), "czw"}, {flatOf(0), ""}, {flatOf(7), ""}, {flatOf(1 << 40), ""},
		{v32, "czw"}, {variableOf(flatOf(64)), "czw"}, {variableOf(flatOf(16)), ""}, {variableOf(inlineOf(32)), ""}, {variableOf(nil), ""},
		{constantOf(nil), "zw"}, {constantOf([]byte{1, 2}), "w"},
		{inlineOf(8), "cw"}, {inlineOf(64), "cw"}, {inlineOf(128), ""}, {inlineOf(0), ""},
		{outOfLineOf(16, flatOf(1)), "w"}, {outOfLineOf(16, flatOf(17)), ""}, {outOfLineOf(16, inlineOf(16)), ""}, {outOfLineOf(12, flatOf(1)), ""},
		{fsstOf(symbols(), v32), "cz"}, {fsstOf(noTable, v32), ""}, {fsstOf(symbols(), flatOf(8)), ""}, {fsstOf(symbols(), nil), ""},
		{rleOf(flatOf(8), flatOf(8)), "cw"}, {rleOf(flatOf(64), flatOf(8)), "cw"}, {rleOf(flatOf(128), flatOf(8)), ""}, {rleOf(flatOf(32), flatOf(16)), ""},
		{rleOf(inlineOf(32), flatOf(8)), ""}, {rleOf(flatOf(32), nil), ""}, {rleOf(nil, flatOf(8)), ""},
		{splitOf(flatOf(32)), "c"}, {splitOf(flatOf(64)), "c"}, {splitOf(flatOf(16)), ""}, {splitOf(nil), ""},
		{generalOf(lz4Scheme, flatOf(32)), "cw"}, {generalOf(zstdScheme, v32), "czw"}, {generalOf(5, v32), ""}, {generalOf(lz4Scheme, nil), ""},
		{generalOf(zstdScheme, fsstOf(symbols(), v32)), "cz"}, {generalOf(zstdScheme, rleOf(flatOf(32), flatOf(8))), "cw"}, {deep, ""},
		{listOf(4, false, flatOf(32)), "czw"}, {listOf(4, true, flatOf(32)), "cz"}, {listOf(8, false, flatOf(1)), "czw"}, {listOf(5, false, flatOf(1)), "cw"},
		{listOf(8, true, flatOf(1)), "c"}, {listOf(3, true, constantOf(nil)), "z"}, {listOf(3, false, constantOf(nil)), "z"}, {listOf(3, true, constantOf([]byte{1})), ""},
		{listOf(0, false, flatOf(32)), ""}, {listOf(1<<30, false, listOf(1<<30, false, flatOf(32))), ""}, {listOf(1<<63, false, flatOf(1)), ""},
		{listOf(4, false, v32), ""}, {listOf(4, false, nil), ""}, {deepList, ""},
		{packedOf(flatOf(96), 32, 64), "c"}, {packedOf(flatOf(96), 32, 32), ""}, {packedOf(flatOf(33), 32, 1), ""}, {packedOf(v32, 32), ""},
		{packedOf(flatOf(64), 1<<63, 1<<63, 64), ""}, {packedOf(nil), ""},
		{structOf(fixedField(32, flatOf(32)), variableField(32, v32)), "z"}, {structOf(variableField(64, fsstOf(symbols(), v32))), "z"},
		{structOf(fixedField(64, flatOf(32))), ""}, {structOf(fixedField(32, v32)), ""}, {structOf(variableField(32, flatOf(32))), ""},
		{structOf(variableField(16, v32)), ""}, {structOf(&structFieldOf{Value: v32}), ""}, {structOf(fixedField(32, nil)), ""},
		{dictionaryOf(flatOf(8), v32, 3), ""}, {nil, ""},
	} {
		got := ""
		note := func(place string, err error) {
			switch {
			case err == nil:
				got += place
			case !errors.Is(err, column.ErrUnsupported) && !errors.Is(err, column.ErrCorrupt):
				t.Errorf("%s: error without a class: %v", Describe(c.enc), err)
			}
		}
		_, err := NewChunk(c.enc)
		note("c", err)
		_, err = NewZip(c.enc)
		note("z", err)
		_, err = NewWhole(c.enc)
		note("w", err)
		if got != c.want {
			t.Errorf("%s: accepted in %q, want %q", Describe(c.enc), got, c.want)
		}
	}
}
