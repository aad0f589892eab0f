package lanceworker

import (
	"slices"
	"strings"

	"github.com/seaweedfs/seaweedfs/weed/pb/plugin_pb"
)

const (
	// paramTable names a job's table: the parts of its id as a string list.
	paramTable = "table_id"
	// paramRuntime tells admin how many seconds a job may take. Admin raises
	// its own limit to that, also where a job type that is switched off is run by
	// hand, which would else be cut at 90 s.
	paramRuntime = "estimated_runtime_seconds"
)

// encodeID joins the parts of a table's id as Lance's catalogs do.
func encodeID(id []string) string { return strings.Join(id, "$") }

// tableID reads a job's table. Weed's own reader of string lists trims, splits
// on commas and drops what it has seen before: of a$x$x it would lose a part.
func tableID(parameters map[string]*plugin_pb.ConfigValue) (id []string, ok bool) {
	switch kind := parameters[paramTable].GetKind().(type) {
	case *plugin_pb.ConfigValue_StringList:
		id = slices.Clone(kind.StringList.GetValues())
	case *plugin_pb.ConfigValue_StringValue:
		id = slices.DeleteFunc(strings.Split(kind.StringValue, "$"), func(part string) bool { return part == "" })
	}
	return id, len(id) > 0
}
