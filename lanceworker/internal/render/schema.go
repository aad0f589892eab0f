package render

import (
	"fmt"
	"strings"

	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// Field is a field of a table's schema with its children. It is made from what
// the manifest says, so that a table can be described also where its values can't be read.
type Field struct {
	ID       int32
	Name     string
	Logical  string
	Nullable bool
	Metadata map[string]string
	Children []*Field
}

// Schema is the tree of a manifest's list of fields. A field whose parent is
// missing counts as a column.
func Schema(fields []*pb.Field) []*Field {
	var columns []*Field
	known := make(map[int32]*Field, len(fields))
	for _, f := range fields {
		n := &Field{ID: f.GetId(), Name: f.GetName(), Logical: f.GetLogicalType(), Nullable: f.GetNullable()}
		if len(f.GetMetadata()) > 0 {
			n.Metadata = make(map[string]string, len(f.GetMetadata()))
			for k, v := range f.GetMetadata() {
				n.Metadata[k] = strings.ToValidUTF8(string(v), "\ufffd")
			}
		}
		// Parents stand before their children; an id that is there twice is the first
		// one's, so that the tree has no circles.
		parent, ok := known[f.GetParentId()]
		if ok && f.GetParentId() >= 0 {
			parent.Children = append(parent.Children, n)
		} else {
			columns = append(columns, n)
		}
		if _, twice := known[n.ID]; !twice {
			known[n.ID] = n
		}
	}
	return columns
}

// maxType bounds the text of one type.
const maxType = 300

// Type names the type, nested ones whole: "list(struct(a: int64, b: string))".
// There are no angle brackets: admin's page would show them as \u003c.
func (f *Field) Type() string {
	w := textWriter{limit: maxType}
	f.write(&w)
	return w.result()
}

// Kind names the type without its children.
func (f *Field) Kind() string {
	leaf := *f
	leaf.Children = nil
	return leaf.Type()
}

func (f *Field) write(w *textWriter) {
	_, marked := f.Metadata["lance-encoding:blob"] // whatever its value
	switch name := f.Metadata[extensionKey]; {
	case name == "lance.blob.v2" || marked:
		w.text("blob")
	case name == binaryJSON || name == "arrow.json":
		w.text("json")
	case name != "" && name != bfloat16:
		w.printable(name)
		w.text("(")
		f.logical(w, f.Logical)
		w.text(")")
	default:
		f.logical(w, f.Logical)
	}
}

// simpleNames are those logical types that go by another name than Arrow's.
var simpleNames = map[string]string{
	"halffloat": "float16", "float": "float32", "double": "float64", bfloat16: "bfloat16",
	"date32:day": "date32", "date64:ms": "date64",
}

// logical writes the name of one logical type. What is not known stays as it is stored.
func (f *Field) logical(w *textWriter, logical string) {
	if name, ok := simpleNames[logical]; ok {
		w.text(name)
		return
	}
	kind, rest, _ := strings.Cut(logical, ":")
	switch kind {
	case "list", "list.struct":
		f.parts(w, "list", false)
		return
	case "large_list", "large_list.struct":
		f.parts(w, "large_list", false)
		return
	case "struct":
		f.parts(w, "struct", true)
		return
	case "map":
		if len(f.Children) == 1 {
			entries := *f.Children[0]
			entries.parts(w, "map", false)
			return
		}
	case "time32", "time64", "duration", "fixed_size_binary":
		w.printable(kind + "[" + rest + "]")
		return
	case "timestamp":
		unit, zone, _ := strings.Cut(rest, ":")
		if zone != "" && zone != "-" {
			unit += ", " + zone
		}
		w.printable(kind + "[" + unit + "]")
		return
	case "decimal":
		if p := strings.Split(rest, ":"); len(p) == 3 {
			w.printable(fmt.Sprintf("decimal%s(%s, %s)", p[0], p[1], p[2]))
			return
		}
	case "dict":
		if p := strings.Split(rest, ":"); len(p) == 3 {
			w.text("dictionary(")
			f.logical(w, p[1])
			w.text(", ")
			f.logical(w, p[0])
			w.text(")")
			return
		}
	case "fixed_size_list":
		if i := strings.LastIndexByte(rest, ':'); i > 0 {
			w.text("fixed_size_list(")
			f.items(w, rest[:i])
			w.printable(", " + rest[i+1:] + ")")
			return
		}
	}
	w.printable(logical)
}

// items writes the type of a fixed-size list's elements, which are in its own
// name unless they are structs.
func (f *Field) items(w *textWriter, logical string) {
	if logical == "struct" && len(f.Children) == 1 {
		f.Children[0].write(w)
		return
	}
	f.logical(w, logical)
}

// parts writes a type that is made of those of its children.
func (f *Field) parts(w *textWriter, name string, named bool) {
	w.text(name)
	if len(f.Children) == 0 {
		return
	}
	w.text("(")
	for i, c := range f.Children {
		if w.full() {
			return
		}
		w.separate(i)
		if named {
			w.printable(c.Name)
			w.text(": ")
		}
		c.write(w)
	}
	w.text(")")
}

// SchemaJSON is what admin's page takes a table's schema from:
// [{"name":…,"type":…,"nullable":…}] of the columns. At limit bytes it ends with an
// entry that says how many columns more there are.
func SchemaJSON(columns []*Field, limit int) string {
	b := []byte{'['}
	for i, f := range columns {
		if len(b) > limit {
			b = append(comma(b, i), `{"name":`...)
			b = AppendString(b, fmt.Sprintf("%s %d more columns", more, len(columns)-i))
			b = append(b, `,"type":"","nullable":true}`...)
			break
		}
		b = append(comma(b, i), `{"name":`...)
		b = AppendString(b, Text{Bytes: maxType}.Name(f.Name))
		b = append(b, `,"type":`...)
		b = AppendString(b, f.Type())
		b = fmt.Appendf(b, `,"nullable":%t}`, f.Nullable)
	}
	return string(append(b, ']'))
}
