package encoding

import (
	"fmt"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/array"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/layout"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/slab"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
)

// Keep returns pages with the rows of a page that lie in ranges, in the page's own compression: values are not decoded and encoded
// again, where that can be avoided, and stay exactly what they are. One range splits a page. buffers are those of the page, in
// memory; the result may refer to them, and lies in the memory of mem, if that is given. limit bounds what it takes beside buffers, about.
//
// The result is no page without ranges, but for a struct's own column of a file of 2.0, which has one page of no buffers: array.AppendPage
// makes one of several.
//
// Ranges come in order, each of some rows; they count as the page's length does: in columns beneath a list of a file of 2.0 items, beneath a
// fixed-size list of structs these. Column and Priority of the result are the caller's to set.
//
// ok is false when the rows have to be encoded anew: the page can't be treated so, doing it would take more than the limit, or
// what comes out is likely to be larger by some hundredths than encoded anew. What lies outside of the page, like the
// bytes of blobs and buffers of the column, is not looked at: a caller leaves such columns out. err is about a page that is corrupt, or ranges that
// are not the page's.
func Keep(version table.FileVersion, page *pb.ColumnMetadata_Page, buffers [][]byte, keep []column.Range, limit int64, mem *slab.Arena) (pages []column.Page, ok bool, err error) {
	n := page.GetLength()
	if keep, err = column.CheckRanges(keep, n); err != nil {
		return nil, false, err
	}
	switch {
	case len(keep) == 0 && version == table.V2_0 && len(buffers) == 0:
		// A struct's own column of 2.0 has one page, be it of no rows.
		if header, err := array.IsStruct(page); err != nil || !header {
			return nil, err == nil, err
		}
		return []column.Page{{Encoding: page.GetEncoding()}}, true, nil
	case len(keep) == 0:
		return nil, true, nil
	case keep[0] == column.Range{From: 0, To: n}:
		return []column.Page{{Length: n, Encoding: page.GetEncoding(), Buffers: buffers}}, true, nil
	}
	var out column.Page
	switch version {
	case table.V2_0:
		out, ok, err = array.Keep(page, buffers, keep, limit, mem)
	case table.V2_1, table.V2_2:
		out, ok, err = layout.Keep(page, buffers, keep, limit, mem)
	}
	if err != nil {
		return nil, false, fmt.Errorf("taking rows out of a page: %w", err)
	}
	if !ok {
		return nil, false, nil
	}
	return []column.Page{out}, true, nil
}
