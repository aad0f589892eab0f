package table

import (
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// Keys of field metadata that change how a field is stored or read.
const (
	metaBlob          = "lance-encoding:blob"
	metaPacked        = "lance-encoding:packed"
	metaPackedOld     = "packed"
	metaExtensionName = "ARROW:extension:name"
	blobV2Extension   = "lance.blob.v2"
	// maxSchemaDepth bounds nesting; Lance's own limit is far lower.
	maxSchemaDepth = 128
	// maxSchemaFields bounds a schema: each field is also in memory as an Arrow type.
	maxSchemaFields = 1 << 20
)

// BlobKind tells how a blob field's bytes are kept.
type BlobKind int

const (
	NoBlob BlobKind = iota
	// BlobV1 is a column of positions and sizes in the same data file.
	BlobV1
	// BlobV2 is a column of descriptors of which each says where its bytes lie.
	BlobV2
)

// MarkedBlob tells by which mark a field says that it holds blobs. The key of the first
// kind alone decides, whatever its value.
func MarkedBlob(f *pb.Field) BlobKind {
	if f.GetExtensionName() == blobV2Extension || string(f.GetMetadata()[metaExtensionName]) == blobV2Extension {
		return BlobV2
	}
	if _, ok := f.GetMetadata()[metaBlob]; ok {
		return BlobV1
	}
	return NoBlob
}

// Field is one node of a table's schema.
type Field struct {
	ID      int32
	Name    string
	Logical string
	// Type as it is read: for a blob that of its descriptors, for JSON the binary
	// form that is stored. A struct's, list's or map's covers its children.
	Type     arrow.DataType
	Nullable bool
	// Metadata includes the keys of an extension type.
	Metadata map[string]string
	// Children of structs, lists (one), maps (one: the entries) and fixed-size lists of
	// structs (one). Those of a blob are no fields of their own and not here.
	Children []*Field
	Blob     BlobKind
	// Packed: a struct whose fields share one column.
	Packed bool
}

// Schema is the schema of one version.
type Schema struct {
	Fields   []*Field
	Metadata map[string]string
}

// Schema decodes the version's schema. ErrRefused when it has a type that this
// build does not know, ErrCorrupt when the fields are no tree.
func (t *Table) Schema() (*Schema, error) {
	m := t.file.manifest
	fields, err := FieldsOf(m.GetFields())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.ref.Name, err)
	}
	return &Schema{Fields: fields, Metadata: textMap(m.GetSchemaMetadata())}, nil
}

// FieldsOf makes trees of a flat list of fields.
func FieldsOf(flat []*pb.Field) ([]*Field, error) {
	if len(flat) > maxSchemaFields {
		return nil, fmt.Errorf("%w: a schema of %d fields", ErrCorrupt, len(flat))
	}
	nodes := make(map[int32]*pb.Field, len(flat))
	children := make(map[int32][]*pb.Field)
	for _, f := range flat {
		if nodes[f.GetId()] != nil {
			return nil, fmt.Errorf("%w: field id %d stands twice in the schema", ErrCorrupt, f.GetId())
		}
		if p := f.GetParentId(); p >= 0 && nodes[p] == nil {
			return nil, fmt.Errorf("%w: field %q has parent %d, which does not stand before it", ErrCorrupt, f.GetName(), p)
		}
		nodes[f.GetId()] = f
		children[max(f.GetParentId(), -1)] = append(children[max(f.GetParentId(), -1)], f)
	}
	b := schemaBuilder{children: children}
	out, err := b.all(children[-1], 0)
	if err != nil {
		return nil, err
	}
	return out, nil
}

type schemaBuilder struct{ children map[int32][]*pb.Field }

func (b schemaBuilder) all(fields []*pb.Field, depth int) ([]*Field, error) {
	if depth > maxSchemaDepth {
		return nil, fmt.Errorf("%w: a schema of more than %d levels", ErrCorrupt, maxSchemaDepth)
	}
	out := make([]*Field, 0, len(fields))
	for _, f := range fields {
		x, err := b.field(f, depth)
		if err != nil {
			return nil, fmt.Errorf("field %q: %w", f.GetName(), err)
		}
		out = append(out, x)
	}
	return out, nil
}

func (b schemaBuilder) field(f *pb.Field, depth int) (*Field, error) {
	x := &Field{
		ID: f.GetId(), Name: f.GetName(), Logical: f.GetLogicalType(),
		Nullable: f.GetNullable(), Metadata: textMap(f.GetMetadata()),
	}
	if name := f.GetExtensionName(); name != "" && x.Metadata[metaExtensionName] == "" {
		x.Metadata[metaExtensionName] = name
	}
	kids, err := b.all(b.children[f.GetId()], depth+1)
	if err != nil {
		return nil, err
	}
	blob := MarkedBlob(f)
	if blob == BlobV2 {
		x.Blob, x.Type = BlobV2, descriptorV2
		return x, nil
	}
	x.Children = kids
	x.Packed = x.Logical == "struct" &&
		(strings.EqualFold(x.Metadata[metaPacked], "true") || strings.EqualFold(x.Metadata[metaPackedOld], "true"))
	if x.Type, err = x.arrowType(); err != nil {
		return nil, err
	}
	if blob == BlobV1 && x.Type.ID() == arrow.LARGE_BINARY {
		x.Blob, x.Type = BlobV1, descriptorV1
	}
	return x, nil
}

// Arrow is the field as Arrow's, with its type as it is read.
func (f *Field) Arrow() arrow.Field {
	return arrow.Field{Name: f.Name, Type: f.Type, Nullable: f.Nullable, Metadata: arrow.MetadataFrom(f.Metadata)}
}

// Leaves calls fn for each field below f that has no children, f itself included.
func (f *Field) Leaves(fn func(*Field)) {
	if len(f.Children) == 0 {
		fn(f)
	}
	for _, c := range f.Children {
		c.Leaves(fn)
	}
}

// Child is the child of that name, or nil.
func (f *Field) Child(name string) *Field {
	i := slices.IndexFunc(f.Children, func(c *Field) bool { return c.Name == name })
	if i < 0 {
		return nil
	}
	return f.Children[i]
}

// Arrow is the schema as Arrow's.
func (s *Schema) Arrow() *arrow.Schema {
	fields := make([]arrow.Field, len(s.Fields))
	for i, f := range s.Fields {
		fields[i] = f.Arrow()
	}
	m := arrow.MetadataFrom(s.Metadata)
	return arrow.NewSchema(fields, &m)
}

func textMap(m map[string][]byte) map[string]string {
	out := make(map[string]string, len(m))
	for k, v := range m {
		out[k] = string(v)
	}
	return out
}
