package compact

import (
	"math"
	"slices"

	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
)

// unit is a range of a fragment's stored rows that has whole pages to itself in all columns of a field: what can be
// copied and left out by itself.
type unit struct {
	// end is behind its last row; it begins where the one before it ends.
	end uint64
	// least are the bytes of its pages in the column that has least of them, bytes those in all columns.
	least, bytes int64
}

// unitsOf cuts the rows of a field, which are so many, where all of its columns begin new pages. One unit has all rows if
// the columns can't be cut, or it is not known where: in 2.0 the pages of a list's items end anywhere.
func unitsOf(columns []*pb.ColumnMetadata, rows uint64, v table.FileVersion, lists bool) []unit {
	var common []uint64
	cut := !lists || v != table.V2_0
	for i, c := range columns {
		if !cut {
			break
		}
		if isHeader(c) {
			continue
		}
		ends, ok := endsOf(c, rows)
		if cut = ok; common == nil {
			common = ends
		} else if i > 0 {
			common = slices.DeleteFunc(common, func(x uint64) bool { _, found := slices.BinarySearch(ends, x); return !found })
		}
	}
	if !cut || common == nil {
		common = []uint64{rows}
	}
	units := make([]unit, len(common))
	for i, end := range common {
		units[i] = unit{end: end, least: math.MaxInt64}
	}
	for _, c := range columns {
		if isHeader(c) {
			continue
		}
		sums := make([]int64, len(units))
		at := uint64(0)
		for _, p := range c.GetPages() {
			i, _ := slices.BinarySearchFunc(units, at+1, func(u unit, at uint64) int {
				if u.end < at {
					return -1
				}
				return 1
			})
			sums[min(i, len(units)-1)] += pageBytes(p)
			at += p.GetLength()
		}
		for i, n := range sums {
			units[i].least, units[i].bytes = min(units[i].least, n), units[i].bytes+n
		}
	}
	return units
}

// endsOf are the rows at which pages of a column end, if its pages tell.
func endsOf(c *pb.ColumnMetadata, rows uint64) (ends []uint64, ok bool) {
	at := uint64(0)
	for _, p := range c.GetPages() {
		if n := p.GetLength(); n > rows-at {
			return nil, false
		} else if n == 0 {
			continue
		}
		at += p.GetLength()
		ends = append(ends, at)
	}
	return ends, at == rows && rows > 0
}

func pageBytes(p *pb.ColumnMetadata_Page) (n int64) {
	for _, size := range p.GetBufferSizes() {
		n += int64(min(size, math.MaxInt32))
	}
	return n
}

// isHeader tells whether a column is a struct's own of 2.0, which says nothing but how many there are.
func isHeader(c *pb.ColumnMetadata) bool {
	if len(c.GetPages()) == 0 {
		return false
	}
	for _, p := range c.GetPages() {
		if len(p.GetBufferOffsets()) > 0 {
			return false
		}
		if header, err := structHeader(p.GetEncoding()); err != nil || !header {
			return false
		}
	}
	return true
}
