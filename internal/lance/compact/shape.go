package compact

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
)

// shape is what rewriting has to know of a table's schema.
type shape struct {
	version table.FileVersion
	// fields are the top-level ones, in the order of the schema.
	fields []topField
	// top is the top-level field that a live id belongs to.
	top map[int32]int
	// parents of live ids, and leaves those ids that have a column in files of every version.
	parents map[int32]int32
	leaves  map[int32]bool
	// blobs are the kinds of columns of blobs.
	blobs map[int32]table.BlobKind
	// must are the fields whose pages have to agree about null structs.
	must map[int32]bool
}

// topField is a top-level field: what is copied or encoded as a whole.
type topField struct {
	name string
	// flat is the field with all below it.
	flat []*pb.Field
	// ids are those that a file has columns for that is written anew.
	ids []int32
	// lists: there are lists or maps in it.
	lists bool
	// must: a column of it is one whose pages have to agree.
	must bool
	// strict says why fragments that hold different parts of it can't be merged; "" when they can.
	strict string
	// whole: who holds a part of it can't be merged with who holds another. None of it is no part.
	whole bool
	// tree is the field, if it can be understood.
	tree *table.Field
	// blobs: it or something below it holds blobs.
	blobs bool
	// keys are how many words its dictionaries may have, those of which that may not be enough.
	keys []int
	// single: its pages can't be read together.
	single bool
	// unwritable says why it can't be encoded; nil when it can.
	unwritable error
}

func shapeOf(t *table.Table) *shape {
	s := &shape{version: t.FileVersion(), top: make(map[int32]int), parents: make(map[int32]int32), leaves: make(map[int32]bool), blobs: make(map[int32]table.BlobKind), must: mustAgree(t)}
	for _, f := range t.Manifest().GetFields() {
		at, below := s.top[f.GetParentId()]
		if !below {
			at = len(s.fields)
			s.fields = append(s.fields, topField{name: f.GetName()})
		}
		if f.GetId() >= 0 {
			s.top[f.GetId()], s.parents[f.GetId()] = at, f.GetParentId()
		}
		s.fields[at].flat = append(s.fields[at].flat, f)
	}
	for i := range s.fields {
		s.fields[i].examine(s)
	}
	return s
}

// examine finds out what can be done with a field.
func (f *topField) examine(s *shape) {
	structs := false
	for _, x := range f.flat {
		f.must = f.must || s.must[x.GetId()]
		f.single = f.single || strings.HasPrefix(x.GetLogicalType(), "fixed_size_list:struct")
		if n := keysOf(x); n > 0 {
			// Beside it there may be anything.
			f.keys, f.single = append(f.keys, n), f.single || len(f.flat) > 1
		}
		f.lists = f.lists || isList(x.GetLogicalType())
		structs = structs || x.GetLogicalType() == "struct"
		f.whole = f.whole || x.GetLogicalType() == "map" // a key can't be null
	}
	f.whole = f.whole || s.version == table.V2_0 // which needs the columns of lists
	tree, err := table.FieldsOf(f.flat)
	if err == nil && len(tree) != 1 {
		err = fmt.Errorf("%w: field %q stands apart from its parent", table.ErrCorrupt, f.name)
	}
	if err == nil {
		f.tree = tree[0]
		f.blobs, err = s.findBlobs(f.tree)
	}
	if err == nil {
		f.ids = encoding.ColumnFields(tree, s.version)
		for _, id := range encoding.ColumnFields(tree, table.V2_1) {
			s.leaves[id] = true
		}
		placed, _ := encoding.Place(tree, s.version)
		_, err = encoding.NewFieldWriter(placed[0], s.version, nowhere{}, column.WriteOptions{})
	}
	f.unwritable = err
	switch {
	case err != nil:
		f.strict = err.Error()
	case !f.flat[0].GetNullable():
		f.strict = "it has to have a value in every row"
	case structs && s.version == table.V2_0:
		f.strict = "version 2.0 can't tell that a struct is null"
	}
}

// nowhere takes no pages: for writers that write nothing.
type nowhere struct{}

func (nowhere) Page(column.Page) error      { return fmt.Errorf("a page of no file") }
func (nowhere) Blob([]byte) (uint64, error) { return 0, fmt.Errorf("a blob of no file") }

// spelled are the columns that a file of the table's version has for what one of another version has in the column of a
// live field: of 2.0 files all nodes have columns, of later ones the leaves.
func (s *shape) spelled(id int32, v table.FileVersion) []int32 {
	switch {
	case (v == table.V2_0) == (s.version == table.V2_0):
		return []int32{id}
	case v == table.V2_0:
		if s.leaves[id] {
			return []int32{id}
		}
		return nil
	}
	ids := []int32{id}
	for p, ok := s.parents[id]; ok && p >= 0 && !slices.Contains(ids, p); p, ok = s.parents[p] {
		ids = append(ids, p)
	}
	return ids
}

// textOf names a set of ids.
func textOf(ids []int32) string {
	ids = slices.Clone(ids)
	slices.Sort(ids)
	return strings.Trim(fmt.Sprint(slices.Compact(ids)), "[]")
}

// idsOf is the reverse of textOf.
func idsOf(text string) (ids []int32) {
	for _, x := range strings.Fields(text) {
		n, _ := strconv.ParseInt(x, 10, 32) // the text is textOf's
		ids = append(ids, int32(n))
	}
	return ids
}

// schemaOf leaves of a schema what belongs to the columns that are held: they
// themselves, what they are part of, and for a column that stands for a whole
// struct what is part of it.
func schemaOf(fields []*pb.Field, held map[int32]bool) []*pb.Field {
	byID := make(map[int32]*pb.Field, len(fields))
	for _, f := range fields {
		byID[f.GetId()] = f
	}
	keep := make(map[int32]bool)
	for _, f := range fields {
		// A malformed schema could have a cycle: no path is longer than the schema.
		path := []*pb.Field{}
		for p := f; p != nil && len(path) <= len(fields); p = byID[p.GetParentId()] {
			path = append(path, p)
		}
		if slices.ContainsFunc(path, func(p *pb.Field) bool { return held[p.GetId()] }) {
			keep[f.GetId()] = true
			if held[f.GetId()] {
				for _, p := range path {
					keep[p.GetId()] = true
				}
			}
		}
	}
	var out []*pb.Field
	for _, f := range fields {
		if keep[f.GetId()] {
			out = append(out, f)
		}
	}
	return out
}
