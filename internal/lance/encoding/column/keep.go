package column

import "fmt"

// Range is the rows [From, To) of a page: what its metadata counts as its length.
type Range struct{ From, To uint64 }

// CheckRanges makes sure that ranges of a page of n rows come in order, with rows in each, and joins neighbours.
func CheckRanges(keep []Range, n uint64) ([]Range, error) {
	out := make([]Range, 0, len(keep))
	at := uint64(0)
	for i, r := range keep {
		if r.From >= r.To || r.From < at || r.To > n {
			return nil, fmt.Errorf("rows %d to %d of a page of %d, behind row %d", r.From, r.To, n, at)
		}
		if at = r.To; i > 0 && out[len(out)-1].To == r.From {
			out[len(out)-1].To = r.To
			continue
		}
		out = append(out, r)
	}
	return out, nil
}

// RowsOf counts the rows of ranges.
func RowsOf(keep []Range) uint64 {
	n := uint64(0)
	for _, r := range keep {
		n += r.To - r.From
	}
	return n
}
