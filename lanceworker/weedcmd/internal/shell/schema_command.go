package shell

import (
	"context"
	"flag"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/lanceworker/internal/render"
)

var schemaCommand = subcommand{
	name:  "schema",
	args:  "[flags] TABLE",
	short: "the columns of a table and their types",
	long: `Shows the fields of a version with their types, nested ones below their parents,
and what metadata they have. No data file is read.`,
	define: func(flags *flag.FlagSet) action {
		var r reading
		r.define(flags)
		return func(ctx context.Context, c *call, args []string) error {
			t, done, err := r.open(ctx, c, args)
			if err != nil {
				return r.fail(c, unread(err))
			}
			defer done()
			o := schemaOf(t)
			if r.json {
				return object(c.stdout, o)
			}
			return o.print(c.stdout)
		}
	},
}

type schemaObject struct {
	Version  uint64            `json:"version"`
	Fields   []fieldObject     `json:"fields"`
	Metadata map[string]string `json:"metadata"`
}

type fieldObject struct {
	ID   int32  `json:"id"`
	Name string `json:"name"`
	Type string `json:"type"`
	// Logical is the type as the manifest has it.
	Logical  string            `json:"logical_type"`
	Nullable bool              `json:"nullable"`
	Metadata map[string]string `json:"metadata,omitempty"`
	Fields   []fieldObject     `json:"fields,omitempty"`
}

func schemaOf(t *table.Table) schemaObject {
	o := schemaObject{Version: t.Version(), Metadata: make(map[string]string)}
	o.Fields = fieldObjects(render.Schema(t.Manifest().GetFields()))
	for k, v := range t.Manifest().GetSchemaMetadata() {
		o.Metadata[k] = strings.ToValidUTF8(string(v), "\ufffd")
	}
	return o
}

func fieldObjects(fields []*render.Field) []fieldObject {
	out := make([]fieldObject, 0, len(fields))
	for _, f := range fields {
		out = append(out, fieldObject{
			ID: f.ID, Name: f.Name, Type: f.Type(), Logical: f.Logical, Nullable: f.Nullable,
			Metadata: f.Metadata, Fields: fieldObjects(f.Children),
		})
	}
	return out
}

func (o schemaObject) print(w io.Writer) error {
	lines := fieldLines([]string{"column\ttype\tnulls\tid"}, o.Fields, "")
	if err := rows(w, lines...); err != nil {
		return err
	}
	lines = metadataLines(nil, o.Fields, "")
	for _, k := range slices.Sorted(maps.Keys(o.Metadata)) {
		lines = append(lines, fmt.Sprintf("the table\t%s\t%s", plain(k), plain(o.Metadata[k])))
	}
	if len(lines) == 0 {
		return nil
	}
	return rows(w, append([]string{"\nmetadata of\tkey\tvalue"}, lines...)...)
}

// fieldLines adds a line for each field, nested ones indented.
func fieldLines(lines []string, fields []fieldObject, indent string) []string {
	for _, f := range fields {
		nulls := "no"
		if f.Nullable {
			nulls = "yes"
		}
		lines = append(lines, fmt.Sprintf("%s%s\t%s\t%s\t%d", indent, plain(f.Name), f.Type, nulls, f.ID))
		lines = fieldLines(lines, f.Fields, indent+"  ")
	}
	return lines
}

func metadataLines(lines []string, fields []fieldObject, parent string) []string {
	for _, f := range fields {
		for _, k := range slices.Sorted(maps.Keys(f.Metadata)) {
			lines = append(lines, fmt.Sprintf("%s\t%s\t%s", plain(parent+f.Name), plain(k), plain(f.Metadata[k])))
		}
		lines = metadataLines(lines, f.Fields, parent+f.Name+".")
	}
	return lines
}

// plain is stored text on one line of a terminal.
func plain(s string) string { return render.Text{Bytes: 200}.Name(s) }
