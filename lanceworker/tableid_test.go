package lanceworker

import (
	"slices"
	"testing"

	"github.com/seaweedfs/seaweedfs/weed/pb/plugin_pb"
)

func TestTableID(t *testing.T) {
	for name, c := range map[string]struct {
		v    *plugin_pb.ConfigValue
		want []string
	}{
		"missing":                    {nil, nil},
		"parts":                      {stringList([]string{"lab", "ml", "vectors"}), []string{"lab", "ml", "vectors"}},
		"parts that are equal":       {stringList([]string{"a", "x", "x"}), []string{"a", "x", "x"}},
		"parts are left as they are": {stringList([]string{"a,b", " c", "d"}), []string{"a,b", " c", "d"}},
		"no parts":                   {stringList(nil), nil},
		"one string":                 {text("a$x$x"), []string{"a", "x", "x"}},
		"one string with a comma":    {text("a,b$c"), []string{"a,b", "c"}},
		"empty parts are dropped":    {text("$a$$b$"), []string{"a", "b"}},
		"empty string":               {text(""), nil},
		"another kind":               {int64Value(3), nil},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := tableID(map[string]*plugin_pb.ConfigValue{"table_id": c.v})
			if !slices.Equal(got, c.want) || ok != (len(c.want) > 0) {
				t.Errorf("got %q, %v", got, ok)
			}
		})
	}
}
