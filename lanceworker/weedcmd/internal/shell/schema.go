package shell

import (
	"encoding/hex"
	"strings"

	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
)

// columns lists the fields of a schema in their order, with the names of
// parents before those of children.
func columns(fields []*pb.Field) []Column {
	names := make(map[int32]string, len(fields))
	out := make([]Column, 0, len(fields))
	for _, f := range fields {
		name := f.GetName()
		// Parents stand before their children; a field whose parent is not
		// there is shown under its own name.
		if parent, ok := names[f.GetParentId()]; ok && f.GetParentId() >= 0 {
			name = parent + "." + name
		}
		names[f.GetId()] = name
		out = append(out, Column{ID: f.GetId(), Name: name, Type: f.GetLogicalType(), Nullable: f.GetNullable()})
	}
	return out
}

// indices describes the entries of the index section.
func indices(t *table.Table, columns []Column) ([]Index, error) {
	names := make(map[int32]string, len(columns))
	for _, c := range columns {
		names[c.ID] = c.Name
	}
	out := make([]Index, 0, len(t.Indices()))
	for _, i := range t.Indices() {
		covered, err := table.CoverageOf(i)
		if err != nil {
			return nil, err
		}
		x := Index{
			Name: i.GetName(), UUID: hex.EncodeToString(i.GetUuid().GetUuid()),
			Columns: make([]string, 0, len(i.GetFields())), Type: indexType(i.GetIndexDetails().GetTypeUrl()),
			DatasetVersion: i.GetDatasetVersion(),
		}
		for _, id := range i.GetFields() {
			x.Columns = append(x.Columns, names[id])
		}
		if covered.Unknown {
			x.Covered = -1
		} else {
			for _, f := range t.Fragments() {
				if covered.Has(f.GetId()) {
					x.Covered++
				}
			}
		}
		for _, f := range i.GetFiles() {
			x.Bytes += f.GetSizeBytes()
		}
		out = append(out, x)
	}
	return out, nil
}

// indexType is the kind of index that the type of its details names:
// "/lance.index.pb.VectorIndexDetails" is Vector.
func indexType(url string) string {
	name := url[strings.LastIndexAny(url, "/.")+1:]
	return strings.TrimSuffix(strings.TrimSuffix(name, "Details"), "Index")
}
