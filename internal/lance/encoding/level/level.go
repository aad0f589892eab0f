// Package level turns repetition and definition levels into what Arrow wants: for
// every node on the way from a row to a value its validity bitmap and, for lists, its
// offsets.
//
// A slot is one pair of levels. Its repetition level says how deep it starts
// something new: at the level of the outermost list a row, at 0 another item of the
// innermost list. Its definition level says where on the path it ends: 0 at a valid
// value, otherwise at a null of some node or at a list without items. What each
// definition level means differs from page to page, as a page only has levels for the
// kinds of null and empty that occur in it; the layers of the page tell. The path is the same for
// all pages of a column, so a Builder takes slots of many pages, each with its
// Meaning, and in pieces of any size.
//
// Whatever lies beneath a null, up to and with the next list, is null too in the
// result, so that the columns of one struct agree about what they share
// even where their pages end at different rows.
//
// A Writer goes the other way: from Arrow arrays to the levels of pages.
package level

import (
	"fmt"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// Kind of a node.
type Kind int

const (
	// Item is a struct or the value itself.
	Item Kind = iota + 1
	// List is a list or a map.
	List
	// FixedSizeList is one whose items have levels of their own, so not one of primitive values.
	FixedSizeList
)

// Node is one step from a row to a value.
type Node struct {
	Kind Kind
	// Large lists have 64-bit offsets.
	Large bool
	// Dim is the size of a fixed-size list.
	Dim int
}

// maxStride bounds the product of the sizes of nested fixed-size lists.
const maxStride = 1 << 30

// Path is the nodes from the outermost to the value.
type Path []Node

// Check refuses paths whose levels have no defined meaning.
func (p Path) Check() error {
	stride, lists := 1, 0
	for i, n := range p {
		switch n.Kind {
		case List:
			lists++
		case FixedSizeList:
			if n.Dim < 1 || n.Dim > maxStride/stride {
				return fmt.Errorf("%w: fixed-size list of size %d", column.ErrCorrupt, n.Dim)
			}
			stride *= n.Dim
			if lists > 0 {
				return fmt.Errorf("%w: fixed-size list of structs within a list", column.ErrUnsupported)
			}
		}
		if last := i == len(p)-1; last != (n.Kind == Item) && last {
			return fmt.Errorf("%w: a path that ends in a list", column.ErrCorrupt)
		}
	}
	if len(p) == 0 {
		return fmt.Errorf("%w: an empty path", column.ErrCorrupt)
	}
	return nil
}

// lists is how many lists the path has.
func (p Path) lists() int {
	n := 0
	for _, node := range p {
		if node.Kind == List {
			n++
		}
	}
	return n
}

// RowStride is how many slots that start a row make up one row: more than one
// when a fixed-size list lies above the first list, or when there is no list at all.
func (p Path) RowStride() int {
	stride := 1
	for _, n := range p {
		switch n.Kind {
		case List:
			return stride
		case FixedSizeList:
			stride *= n.Dim
		}
	}
	return stride
}

// Meaning is what the levels of one page say about the nodes of a path.
type Meaning struct {
	// MaxRep is the repetition level that starts a row: the number of lists.
	MaxRep uint16
	// MaxDef is the highest definition level.
	MaxDef uint16
	// MaxVisible is the highest definition level of a slot that has a place among the values.
	MaxVisible uint16

	nodes []nodeMeaning
	// refused is the error of slots of level 1, where there are to be none.
	refused error
	// reach[s] is the highest definition level of a slot that still has an entry in
	// nodes of segment s. Segment s holds the nodes below list s+1, counted from
	// the innermost list, down to and with list s.
	reach []uint16
	// ends[d] is the innermost segment in which a slot of level d has an entry.
	ends []uint16
}

// nodeMeaning are the levels of a node.
type nodeMeaning struct {
	segment int
	// stride is how many of its segment's slots make up one entry of the node.
	stride int
	// null: from this level on the node is null, but for empty.
	null uint16
	// empty is the level of a list without items; 0 when there is none.
	empty uint16
}

// levels is how many definition levels a layer has, and whether it is of a list.
func levels(l pb.PageLayout_Layer) (nullable, emptyable, list bool, err error) {
	switch l {
	case pb.PageLayout_ALL_VALID_ITEM:
	case pb.PageLayout_NULLABLE_ITEM:
		nullable = true
	case pb.PageLayout_ALL_VALID_LIST:
		list = true
	case pb.PageLayout_NULLABLE_LIST:
		nullable, list = true, true
	case pb.PageLayout_EMPTYABLE_LIST:
		emptyable, list = true, true
	case pb.PageLayout_NULL_AND_EMPTY_LIST:
		nullable, emptyable, list = true, true, true
	default:
		err = fmt.Errorf("%w: layer of kind %d", column.ErrUnsupported, l)
	}
	return
}

// NewMeaning makes the meaning of a page's layers, which are listed from the
// innermost outwards. The path must have passed Check.
func NewMeaning(p Path, layers []pb.PageLayout_Layer) (*Meaning, error) {
	if len(layers) != len(p) {
		return nil, fmt.Errorf("%w: %d layers for a path of %d nodes", column.ErrCorrupt, len(layers), len(p))
	}
	m := &Meaning{nodes: make([]nodeMeaning, len(p)), ends: make([]uint16, 1, 2*len(p)+1)}
	stride, def, segment := 1, 0, 0
	for i, l := range layers {
		at := len(p) - 1 - i
		nullable, emptyable, list, err := levels(l)
		if err != nil {
			return nil, err
		}
		if list != (p[at].Kind == List) {
			return nil, fmt.Errorf("%w: layer %v for a node of another kind", column.ErrCorrupt, l)
		}
		if list {
			m.reach = append(m.reach, uint16(def))
			segment++
			stride = 1
		}
		if p[at].Kind == FixedSizeList {
			stride *= p[at].Dim
		}
		n := nodeMeaning{segment: segment, stride: stride, null: uint16(def + 1)}
		if nullable {
			def++
			m.ends = append(m.ends, uint16(segment))
		}
		if emptyable {
			def++
			n.empty = uint16(def)
			m.ends = append(m.ends, uint16(segment))
		}
		m.nodes[at] = n
		if def > 1<<14 {
			return nil, fmt.Errorf("%w: %d definition levels", column.ErrUnsupported, def)
		}
	}
	m.reach = append(m.reach, uint16(def))
	m.MaxRep, m.MaxDef, m.MaxVisible = uint16(segment), uint16(def), m.reach[0]
	return m, nil
}

// ForgetNulls makes values of those that are null by themselves, in pages whose innermost layer says that there may be some, on
// a path without lists. What lies beneath a null stays one. An error that is given is that of taking the first such value.
func (m *Meaning) ForgetNulls(refused error) {
	m.nodes[len(m.nodes)-1].null++
	m.refused = refused
}
