package scan

import (
	"errors"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
)

// A manifest and a file that call one field by two types can't both be right.
func TestTypesThatContradict(t *testing.T) {
	field := func(logical string) *table.Field { return schemaOf(t, "7:a:"+logical+"\n")[0] }
	for _, c := range []struct {
		manifest, file string
		bad            bool
	}{
		{"int32", "7:a:int32\n", false},
		{"int32", "7:a:float\n", true},
		{"int32", "7:a:list\n", true},
		{"int32", "7:b:float\n", false}, // another column that had the id
		{"int32", "8:a:float\n", false},
		{"json", "7:a:large_binary\n", false},
		{"string", "7:a:geometry\n", true},
	} {
		err := newParter(0, holding{}, fileSchema(flatSchema(t, c.file))).agrees(field(c.manifest))
		if errors.Is(err, datafile.ErrCorrupt) != c.bad {
			t.Errorf("%s and %s: error %v", c.manifest, c.file, err)
		}
	}
}
