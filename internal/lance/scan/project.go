package scan

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
)

// Keys of field metadata that a scan looks at or changes.
const (
	keyPrefixExtension = "ARROW:extension:"
	keyBlob            = "lance-encoding:blob"
	keyPacked          = "lance-encoding:packed"
	keyPackedOld       = "packed"
)

// ErrNoColumn is wrapped by the error about a wanted column that the schema does not have.
var ErrNoColumn = errors.New("there is no column")

// node is a field of the table's schema as it is wanted: with all of its children or
// with some.
type node struct {
	field *table.Field
	// typ is the type of what the scan returns.
	typ arrow.DataType
	// kids are wanted children in the schema's order.
	kids []*node
	// bytes: a blob whose bytes are wanted. text: JSON that is wanted as text.
	bytes, text bool
}

// converted tells whether what is wanted is not what a file holds.
func (n *node) converted() bool { return n != nil && (n.bytes || n.text) }

// arrow is the field of the result.
func (n *node) arrow() arrow.Field {
	meta := n.field.Metadata
	if n.field.Blob == table.BlobV2 {
		// Neither descriptors nor bytes are what the extension type is: a
		// reader that knows it would refuse them.
		meta = maps.Clone(meta)
		maps.DeleteFunc(meta, func(k, _ string) bool { return strings.HasPrefix(k, keyPrefixExtension) })
		if !n.bytes {
			meta[keyBlob], meta[keyPacked] = "true", "true"
		}
	}
	if n.text {
		meta = maps.Clone(meta)
		meta[keyExtension] = extensionJSON
	}
	return arrow.Field{Name: n.field.Name, Type: n.typ, Nullable: n.field.Nullable, Metadata: arrow.MetadataFrom(meta)}
}

// pick is what is wanted of a field: all, or some children.
type pick struct {
	all  bool
	kids map[*table.Field]*pick
}

func (p *pick) kid(f *table.Field) *pick {
	if p.kids == nil {
		p.kids = make(map[*table.Field]*pick)
	}
	if p.kids[f] == nil {
		p.kids[f] = new(pick)
	}
	return p.kids[f]
}

// project finds the wanted columns in a schema.
func project(fields []*table.Field, o Options) ([]*node, error) {
	order, picks := fields, make(map[*table.Field]*pick)
	if o.Columns == nil {
		for _, f := range fields {
			picks[f] = &pick{all: true}
		}
	} else {
		order = nil
		root := new(pick)
		for _, name := range o.Columns {
			if !choose(root, fields, name) {
				return nil, fmt.Errorf("%w %q", ErrNoColumn, name)
			}
			for f, p := range root.kids {
				if picks[f] == nil {
					picks[f], order = p, append(order, f)
				}
			}
		}
	}
	nodes := make([]*node, len(order))
	for i, f := range order {
		nodes[i] = newNode(f, picks[f], o)
	}
	return nodes, nil
}

// choose marks the field that a path names, below p; false when there is none.
func choose(p *pick, fields []*table.Field, path string) bool {
	for _, f := range fields {
		if f.Name == path {
			p.kid(f).all = true
			return true
		}
	}
	// Names may hold dots themselves.
	for _, f := range fields {
		rest, ok := strings.CutPrefix(path, f.Name+".")
		if !ok {
			continue
		}
		if below := new(pick); chooseBelow(below, f, rest) {
			merge(p.kid(f), below)
			return true
		}
	}
	return false
}

// chooseBelow marks a path below a field. The one child of a list or map may be left out.
func chooseBelow(p *pick, f *table.Field, path string) bool {
	if choose(p, f.Children, path) {
		return true
	}
	if f.Logical == "struct" || len(f.Children) != 1 {
		return false
	}
	below := new(pick)
	if !chooseBelow(below, f.Children[0], path) {
		return false
	}
	merge(p.kid(f.Children[0]), below)
	return true
}

func merge(p, more *pick) {
	p.all = p.all || more.all
	for f, m := range more.kids {
		merge(p.kid(f), m)
	}
}

func newNode(f *table.Field, p *pick, o Options) *node {
	n := &node{field: f, typ: f.Type}
	switch {
	case f.Blob != table.NoBlob && o.BlobBytes:
		n.bytes, n.typ = true, arrow.BinaryTypes.LargeBinary
	case f.Logical == logicalJSON && f.Blob == table.NoBlob && !o.StoredJSON:
		n.text, n.typ = true, arrow.BinaryTypes.String
	}
	whole := &pick{all: true}
	for _, c := range f.Children {
		switch {
		case p.all:
			n.kids = append(n.kids, newNode(c, whole, o))
		case p.kids[c] != nil:
			kid := p.kids[c]
			if f.Logical == "map" { // entries have a key and a value
				kid = &pick{kids: maps.Clone(kid.kids), all: kid.all}
				for _, e := range c.Children {
					if i := slices.Index(c.Children, e); i == 0 || kid.kids[e] == nil {
						if kid.kids == nil {
							kid.kids = make(map[*table.Field]*pick)
						}
						kid.kids[e] = whole
					}
				}
			}
			n.kids = append(n.kids, newNode(c, kid, o))
		}
	}
	if len(n.kids) > 0 {
		kids := make([]arrow.Field, len(n.kids))
		for i, k := range n.kids {
			kids[i] = k.arrow()
		}
		n.typ = withKids(f.Type, kids)
	}
	return n
}

// withKids is a nested type with other children.
func withKids(t arrow.DataType, kids []arrow.Field) arrow.DataType {
	switch t := t.(type) {
	case *arrow.StructType:
		return arrow.StructOf(kids...)
	case *arrow.ListType:
		return arrow.ListOfField(kids[0])
	case *arrow.LargeListType:
		return arrow.LargeListOfField(kids[0])
	case *arrow.FixedSizeListType:
		return arrow.FixedSizeListOfField(t.Len(), kids[0])
	case *arrow.MapType:
		entries := kids[0].Type.(*arrow.StructType)
		key := entries.Field(0)
		key.Nullable = false
		m := arrow.MapOfFields(key, entries.Field(1))
		m.KeysSorted = t.KeysSorted
		return m
	}
	return t
}
