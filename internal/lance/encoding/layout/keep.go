package layout

import (
	"errors"
	"fmt"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/level"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/slab"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// errAnew tells that values had better be decoded and encoded anew.
var errAnew = errors.New("better encoded anew")

// Keep returns a page with the rows of a page that lie in ranges, which column.CheckRanges has seen: what was compressed stays so, as far as
// that saves work. The page's levels keep their meaning: its layers are those of the page before, and so are its
// dictionary and symbol table. buffers are those of the page; the result may refer to them, and lies in the memory of mem, if any. What it takes beside that is bounded
// by limit. Where a row is a fixed-size list of structs, ranges count these, as the length of the page does.
//
// ok is false when the page can't be treated so, when that would take more than the limit, or when encoding the rows anew is
// likely to take less room by more than some hundredths.
func Keep(p *pb.ColumnMetadata_Page, buffers [][]byte, keep []column.Range, limit int64, mem *slab.Arena) (out column.Page, ok bool, err error) {
	l, err := layoutOf(p)
	if err == nil {
		out, err = keepRows(l, p.GetLength(), buffers, keep, limit, mem)
	}
	switch {
	case err == nil:
		return out, true, nil
	case errors.Is(err, errAnew), errors.Is(err, column.ErrLimit), errors.Is(err, column.ErrUnsupported), errors.Is(err, errTooLarge):
		return column.Page{}, false, nil
	}
	return column.Page{}, false, err
}

func keepRows(l *pb.PageLayout, rows uint64, buffers [][]byte, keep []column.Range, limit int64, mem *slab.Arena) (out column.Page, err error) {
	if rows > 1<<48 {
		return out, corrupt("a page of %d rows", rows)
	}
	f := frame{starts: rows, stride: 1, buffers: make([]datafile.Span, len(buffers))}
	for i, b := range buffers {
		f.buffers[i].Size = uint64(len(b))
	}
	out.Length = column.RowsOf(keep)
	var made *pb.PageLayout
	switch x := l.GetLayout().(type) {
	case *pb.PageLayout_MiniBlock_:
		f.path = pathOf(x.MiniBlock.GetLayers())
		made, out.Buffers, err = keepMini(f, x.MiniBlock, buffers, keep, limit, mem)
	case *pb.PageLayout_FullZip_:
		f.path = pathOf(x.FullZip.GetLayers())
		made, out.Buffers, err = keepZip(f, x.FullZip, buffers, keep, limit, mem)
	case *pb.PageLayout_Constant_:
		f.path = pathOf(x.Constant.GetLayers())
		made, out.Buffers, err = keepConstant(f, x.Constant, buffers, keep, limit)
	default:
		// Blobs lie outside of the page, at places that it tells.
		return out, errAnew
	}
	if err != nil {
		return out, fmt.Errorf("%s: %w", kind(l), err)
	}
	out.Encoding, err = column.Pack("/"+layoutType, made)
	return out, err
}

// pathOf is a way to values that has these layers. Which of its nodes are fixed-size lists makes no difference to levels.
func pathOf(layers []pb.PageLayout_Layer) level.Path {
	path := make(level.Path, len(layers))
	for i, l := range layers {
		n := level.Node{Kind: level.Item}
		switch l {
		case pb.PageLayout_ALL_VALID_LIST, pb.PageLayout_NULLABLE_LIST, pb.PageLayout_EMPTYABLE_LIST, pb.PageLayout_NULL_AND_EMPTY_LIST:
			n.Kind = level.List
		}
		path[len(layers)-1-i] = n
	}
	return path
}

// within tells whether all levels are at most max.
func within(levels []uint16, max uint16) bool {
	for _, l := range levels {
		if l > max {
			return false
		}
	}
	return true
}
