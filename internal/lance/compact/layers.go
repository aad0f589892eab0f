package compact

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
)

// Pages of 2.1 on say, for each level of nesting, whether anything is null or empty there:
// the layers, innermost first. They differ from page to page as the values do, and
// readers put up with that nearly everywhere. Where a list or map lies beneath a
// struct they do not: a column whose pages disagree about null structs can't be
// read in one go, by any release of Lance up to 14. Such columns are merged only
// when their pages agree.

// Layers of structs and values; the others are those of lists and maps.
const (
	layerAllValidItem = 1
	layerNullableItem = 3
)

// Numbers of the layers in the messages of a page's layout.
var layersField = map[protowire.Number]protowire.Number{
	layoutMiniBlock: 6,
	layoutConstant:  5,
	layoutFullZip:   8,
}

// mustAgree are the fields whose pages have to agree in their layers: those with a
// list or map between them and a struct.
func mustAgree(t *table.Table) map[int32]bool {
	byID := make(map[int32]*pb.Field)
	for _, f := range t.Manifest().GetFields() {
		byID[f.GetId()] = f
	}
	must := make(map[int32]bool)
	if t.FileVersion() == table.V2_0 {
		return must // 2.0 keeps each level in a column of its own
	}
	for _, f := range t.Manifest().GetFields() {
		lists, depth := false, 0
		for p := f; p != nil && depth <= len(byID); p, depth = byID[p.GetParentId()], depth+1 {
			if lists && p.GetLogicalType() == "struct" {
				must[f.GetId()] = true
				break
			}
			lists = lists || isList(p.GetLogicalType())
		}
	}
	return must
}

func isList(logical string) bool {
	return logical == "map" || strings.HasPrefix(logical, "list") || strings.HasPrefix(logical, "large_list")
}

// agreement is the layers that the pages of a column agree on, but for the
// innermost, which tells of the values themselves; "" when it has no pages. An error
// wraps errUncopyable when they don't agree.
func agreement(c *pb.ColumnMetadata) (string, error) {
	common := ""
	for i, p := range c.GetPages() {
		l, err := layersOf(p.GetEncoding())
		if err != nil {
			return "", fmt.Errorf("page %d: %w", i, err)
		}
		text := fmt.Sprint(items(l))
		if i > 0 && text != common {
			return "", fmt.Errorf("%w: its pages differ in which levels hold nulls", errUncopyable)
		}
		common = text
	}
	return common, nil
}

// items leaves of the layers those that readers need to agree on: whether there
// are null structs at each level. Those of lists may differ, and the innermost, which tells
// of the values themselves.
func items(layers []uint64) []uint64 {
	var out []uint64
	for i, l := range layers {
		if i > 0 && (l == layerAllValidItem || l == layerNullableItem) {
			out = append(out, l)
		}
	}
	return out
}

// layersOf are the layers of a page.
func layersOf(e *pb.Encoding) ([]uint64, error) {
	_, value, err := unpack(e)
	if err != nil {
		return nil, err
	}
	kind, _, tag := protowire.ConsumeTag(value)
	layout, size := protowire.ConsumeBytes(value[max(tag, 0):])
	want := layersField[kind]
	if tag < 0 || size < 0 || want == 0 {
		return nil, fmt.Errorf("%w: page layout %d", errUncopyable, kind)
	}
	var layers []uint64
	for len(layout) > 0 {
		n, typ, tag := protowire.ConsumeTag(layout)
		if tag < 0 {
			return nil, fmt.Errorf("%w: page layout: %v", errUncopyable, protowire.ParseError(tag))
		}
		size := protowire.ConsumeFieldValue(n, typ, layout[tag:])
		if size < 0 {
			return nil, fmt.Errorf("%w: page layout: %v", errUncopyable, protowire.ParseError(size))
		}
		field := layout[tag : tag+size]
		layout = layout[tag+size:]
		if n != want {
			continue
		}
		if typ == protowire.BytesType { // packed
			field, _ = protowire.ConsumeBytes(field)
		}
		for len(field) > 0 {
			v, size := protowire.ConsumeVarint(field)
			if size < 0 {
				return nil, fmt.Errorf("%w: page layers: %v", errUncopyable, protowire.ParseError(size))
			}
			layers = append(layers, v)
			field = field[size:]
		}
	}
	return layers, nil
}
