package scan

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
)

// part is what one file holds of a column.
type part struct {
	file  int
	field column.Field
	shape *shape
}

// shape is what the nodes of an array that was read are wanted for.
type shape struct {
	// node is nil for values that are not wanted.
	node *node
	typ  arrow.DataType
	kids []*shape
}

// whole tells whether the array is the wanted one as it is.
func (s *shape) whole() bool {
	if s.node == nil || len(s.kids) != len(s.node.kids) {
		return false
	}
	if len(s.kids) == 0 {
		return s.node.converted() || arrow.TypeEqual(s.typ, s.node.typ)
	}
	for i, k := range s.kids {
		if k.node != s.node.kids[i] || !k.whole() {
			return false
		}
	}
	return true
}

// converted tells whether some of it has to be made anew: of blobs their bytes, of JSON text.
func (s *shape) converted() bool {
	if s.node.converted() {
		return true
	}
	for _, k := range s.kids {
		if k.converted() {
			return true
		}
	}
	return false
}

// fileSchema is the schema that a file has of its own.
type fileSchema []*pb.Field

// packedChildren are the children that a struct has inside a file, which may
// be others than the table's schema says by now.
func (s fileSchema) packedChildren(f *table.Field) ([]*table.Field, error) {
	var flat []*pb.Field
	inside := make(map[int32]bool)
	for _, x := range s {
		switch {
		case x.GetId() == f.ID:
			flat = append(flat, &pb.Field{Id: x.GetId(), ParentId: -1, Name: x.GetName(), LogicalType: x.GetLogicalType(), Nullable: x.GetNullable()})
		case inside[x.GetParentId()]:
			flat = append(flat, x)
		default:
			continue
		}
		inside[x.GetId()] = true
	}
	if len(flat) == 0 {
		return f.Children, nil
	}
	tree, err := table.FieldsOf(flat)
	if err != nil {
		return nil, fmt.Errorf("%w: field %q: %v", datafile.ErrCorrupt, f.Name, err)
	}
	if tree[0].Logical != "struct" {
		return nil, fmt.Errorf("%w: field %q is a %s, the manifest says struct", datafile.ErrCorrupt, f.Name, tree[0].Logical)
	}
	return tree[0].Children, nil
}

// parter makes the part of a column that a file holds.
type parter struct {
	file   int
	held   holding
	schema fileSchema
	// own are the fields of schema by id.
	own map[int32]*pb.Field
}

func newParter(file int, held holding, schema fileSchema) parter {
	own := make(map[int32]*pb.Field, len(schema))
	for _, f := range schema {
		own[f.GetId()] = f
	}
	return parter{file, held, schema, own}
}

// agrees tells whether the file says the same of a leaf's type as the manifest does. It need
// not say anything: only a field of the same id and name counts.
func (p parter) agrees(f *table.Field) error {
	x := p.own[f.ID]
	if x == nil || x.GetName() != f.Name || x.GetLogicalType() == f.Logical {
		return nil
	}
	own, err := table.FieldsOf([]*pb.Field{{Id: x.GetId(), ParentId: -1, Name: x.GetName(), LogicalType: x.GetLogicalType()}})
	if err != nil { // nested, or of a type that this build does not know
		return fmt.Errorf("%w: the manifest calls it %s, the file %s", datafile.ErrCorrupt, f.Logical, x.GetLogicalType())
	}
	if !arrow.TypeEqual(own[0].Type, f.Type) {
		return fmt.Errorf("%w: the manifest calls it %s, the file %s", datafile.ErrCorrupt, f.Type, own[0].Type)
	}
	return nil
}

// part is what the file holds; ok is false when that is nothing.
func (p parter) part(pl *placed) (x part, ok bool, err error) {
	f, s, ok, err := p.build(pl, false)
	return part{file: p.file, field: f, shape: s}, ok, err
}

// build makes the field of a placed one. The entries of a map have both of their
// children, whether the file holds them or not.
func (p parter) build(pl *placed, entries bool) (f column.Field, s *shape, ok bool, err error) {
	f = column.Field{Name: pl.field.Name, Type: pl.field.Type, Nullable: pl.field.Nullable, Column: column.Absent, Blob: pl.field.Blob != table.NoBlob}
	s = &shape{node: pl.node}
	if c, held := p.held.columns[pl.field.ID]; held {
		f.Column = c
	}
	switch {
	case pl.packed && pl.file == p.file:
		f.Packed = true
		err = p.packed(&f, s, pl.field)
		ok = true
	case len(pl.field.Children) == 0 || pl.packed:
		if ok = pl.file == p.file; ok && pl.field.Blob == table.NoBlob {
			err = p.agrees(pl.field)
		}
	default:
		ok, err = p.nested(&f, s, pl, entries)
	}
	s.typ = f.Type
	return f, s, ok, err
}

// nested builds a field of those children that the file holds.
func (p parter) nested(f *column.Field, s *shape, pl *placed, entries bool) (ok bool, err error) {
	var kids []arrow.Field
	for _, k := range pl.kids {
		kf, ks, held, err := p.build(k, pl.field.Logical == "map")
		if err != nil {
			return false, err
		}
		if !held && !entries {
			continue
		}
		if !held {
			kf, ks = fieldOf(k.field), &shape{typ: k.field.Type}
		}
		ok = ok || held
		f.Children, s.kids = append(f.Children, kf), append(s.kids, ks)
		kids = append(kids, arrow.Field{Name: kf.Name, Type: kf.Type, Nullable: kf.Nullable, Metadata: metadataOf(k)})
	}
	if !ok {
		return false, nil
	}
	f.Type = withKids(pl.field.Type, kids)
	return true, nil
}

// metadataOf keeps the type of what is read equal to that of the result where
// nothing is left out.
func metadataOf(p *placed) arrow.Metadata {
	if p.node != nil {
		return p.node.arrow().Metadata
	}
	return arrow.MetadataFrom(p.field.Metadata)
}

// packed builds a packed struct with all the children that it has in the file.
func (p parter) packed(f *column.Field, s *shape, field *table.Field) error {
	children, err := p.schema.packedChildren(field)
	if err != nil {
		return err
	}
	var kids []arrow.Field
	for _, c := range children {
		ks, kid := &shape{typ: c.Type}, c.Arrow()
		for _, n := range kidsOf(s.node) {
			if n.field.ID == c.ID {
				ks = shapeOf(n, c)
				kid.Name, kid.Nullable, kid.Metadata = n.field.Name, n.field.Nullable, n.arrow().Metadata
			}
		}
		s.kids = append(s.kids, ks)
		f.Children = append(f.Children, fieldOf(c))
		kids = append(kids, kid)
	}
	f.Type = arrow.StructOf(kids...)
	return nil
}

func kidsOf(n *node) []*node {
	if n == nil {
		return nil
	}
	return n.kids
}

// shapeOf matches a wanted field with one of a file.
func shapeOf(n *node, f *table.Field) *shape {
	s := &shape{node: n, typ: f.Type}
	for _, c := range f.Children {
		ks := &shape{typ: c.Type}
		for _, k := range n.kids {
			if k.field.ID == c.ID {
				ks = shapeOf(k, c)
			}
		}
		s.kids = append(s.kids, ks)
	}
	return s
}

// fieldOf is a field that has no column: inside of a packed struct, or absent.
func fieldOf(f *table.Field) column.Field {
	x := column.Field{Name: f.Name, Type: f.Type, Nullable: f.Nullable, Column: column.Absent, Blob: f.Blob != table.NoBlob, Packed: f.Packed}
	for _, c := range f.Children {
		x.Children = append(x.Children, fieldOf(c))
	}
	return x
}
