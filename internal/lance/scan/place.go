package scan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
)

// nowhere is the file of a leaf that no file of a fragment holds.
const nowhere = -1

// holding is which fields a data file holds, by what the manifest says.
type holding struct {
	version table.FileVersion
	// columns by field id.
	columns map[int32]int
	// twice are fields that it names more than once. That is wrong, but not for who wants other ones: dropped
	// columns stay named.
	twice map[int32]bool
}

func holdingOf(d *pb.DataFile) (holding, error) {
	h := holding{version: table.DataFileVersion(d), columns: make(map[int32]int, len(d.GetFields()))}
	indices := d.GetColumnIndices()
	if len(indices) != 0 && len(indices) != len(d.GetFields()) {
		return h, fmt.Errorf("%w: the manifest names %d columns for its %d fields", datafile.ErrCorrupt, len(indices), len(d.GetFields()))
	}
	for i, id := range d.GetFields() {
		column := i // the oldest writers name fields only, one per column
		if len(indices) > 0 {
			column = int(indices[i])
		}
		if id < 0 || column < 0 { // superseded
			continue
		}
		if _, twice := h.columns[id]; twice {
			if h.twice == nil {
				h.twice = make(map[int32]bool)
			}
			h.twice[id] = true
		}
		h.columns[id] = column
	}
	return h, nil
}

// packs tells whether the file holds a struct in one column with its children.
func (h holding) packs(f *table.Field) bool {
	if _, ok := h.columns[f.ID]; !ok || f.Logical != "struct" {
		return false
	}
	if h.version != table.V2_0 {
		return true // only leaves have a column
	}
	if !f.Packed && f.Metadata[keyPackedOld] != "true" {
		return false
	}
	apart := false
	for _, c := range f.Children {
		c.Leaves(func(l *table.Field) {
			_, ok := h.columns[l.ID]
			apart = apart || ok
		})
	}
	return !apart
}

// readable refuses a field that a file is said to hold twice, and one whose values it has lost:
// Lance writes fixed-size lists of structs to files of version 2.0, too, but nothing of what is in them.
func (h holding) readable(f *table.Field) error {
	if h.twice[f.ID] {
		return fmt.Errorf("%w: the manifest names field %d twice", datafile.ErrCorrupt, f.ID)
	}
	if _, held := h.columns[f.ID]; held && h.version == table.V2_0 && strings.HasPrefix(f.Logical, "fixed_size_list:struct") {
		return fmt.Errorf("%w: field %q: a fixed-size list of structs in a file of version 2.0", column.ErrUnsupported, f.Name)
	}
	for _, c := range f.Children {
		if err := h.readable(c); err != nil {
			return err
		}
	}
	return nil
}

// placed is a wanted field with the place of its values in one fragment.
type placed struct {
	field *table.Field
	// node is what it is read for; nil when only its parents' nulls and lengths are wanted.
	node *node
	// file of a leaf, by its position in the fragment's entry, or nowhere.
	file int
	// packed: a struct that the file holds as one leaf.
	packed bool
	kids   []*placed
}

// placeColumn finds the files of a column's leaves. Whatever lies in several files
// is taken from the first of them, as by every release of Lance; writers mark what they replace.
func placeColumn(n *node, files []holding) *placed {
	p, _ := placer(files).place(n)
	return p
}

type placer []holding

// first is the first file that holds a field.
func (files placer) first(holds func(holding) bool) int {
	for i, h := range files {
		if holds(h) {
			return i
		}
	}
	return nowhere
}

func (files placer) leaf(f *table.Field) int {
	return files.first(func(h holding) bool { _, ok := h.columns[f.ID]; return ok })
}

// packed is the first file that holds a struct in one column, unless an earlier one
// holds leaves of it.
func (files placer) packed(f *table.Field) int {
	i := files.first(func(h holding) bool { return h.packs(f) })
	if i == nowhere {
		return i
	}
	earlier := false
	for _, c := range f.Children {
		c.Leaves(func(l *table.Field) { k := files.leaf(l); earlier = earlier || k != nowhere && k < i })
	}
	if earlier {
		return nowhere
	}
	return i
}

func (files placer) place(n *node) (p *placed, found bool) {
	p = &placed{field: n.field, node: n, file: nowhere}
	if len(n.field.Children) == 0 {
		p.file = files.leaf(n.field)
		return p, p.file != nowhere
	}
	if p.file = files.packed(n.field); p.file != nowhere {
		p.packed = true
		return p, true
	}
	for _, k := range n.kids {
		kid, ok := files.place(k)
		p.kids = append(p.kids, kid)
		found = found || ok
	}
	if n.field.Logical == "struct" {
		have := make(map[int]bool)
		p.used(have)
		for _, c := range n.field.Children {
			if slices.ContainsFunc(n.kids, func(k *node) bool { return k.field == c }) {
				continue
			}
			if w := files.witness(c, have, false); w != nil {
				p.kids, found = append(p.kids, w), true
			}
		}
	}
	return p, found
}

// witness finds unwanted leaves in files that were not looked at yet, to tell which of
// their parents' values are null and how long their parents' lists are. A table that adds
// children to a struct has them in files of their own, each with its own nulls. The entries
// of a map keep both of their children.
func (files placer) witness(f *table.Field, have map[int]bool, entries bool) *placed {
	p := &placed{field: f, file: nowhere}
	if len(f.Children) == 0 {
		p.file = files.leaf(f)
	} else if p.file = files.packed(f); p.file != nowhere {
		p.packed = true
	}
	if p.file != nowhere {
		if have[p.file] {
			return nil
		}
		have[p.file] = true
		return p
	}
	found := false
	for _, c := range f.Children {
		w := files.witness(c, have, f.Logical == "map")
		found = found || w != nil
		if w == nil && entries {
			w = &placed{field: c, file: nowhere}
		}
		if w != nil {
			p.kids = append(p.kids, w)
		}
	}
	if !found {
		return nil
	}
	return p
}

// used adds the files of its leaves to a set.
func (p *placed) used(files map[int]bool) {
	if p.file != nowhere {
		files[p.file] = true
	}
	for _, k := range p.kids {
		k.used(files)
	}
}
