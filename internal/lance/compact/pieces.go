package compact

import (
	"fmt"
	"sort"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
)

// piece is a range of a fragment's stored rows that goes into a new file.
type piece struct {
	frag     int // among the task's
	from, to uint64
	// row is the new file's first row that comes of it, live how many do.
	row, live uint64
}

// stored is what a fragment stores: its rows, and which of them are deleted.
type stored struct {
	rows    uint64
	deleted *roaring.Bitmap // nil: none
}

// gone counts the deleted rows among the first n.
func (s stored) gone(n uint64) uint64 {
	if s.deleted == nil || n == 0 {
		return 0
	}
	return s.deleted.Rank(uint32(n - 1))
}

// live counts the rows of a range that are kept.
func (s stored) live(from, to uint64) uint64 {
	return to - from - (s.gone(to) - s.gone(from))
}

// end is behind the first n rows that are kept, and behind what is deleted after them.
func (s stored) end(n uint64) uint64 {
	if s.deleted == nil {
		return min(n, s.rows)
	}
	// The first row that is kept and not among them ends the range.
	return uint64(sort.Search(int(s.rows), func(at int) bool { return s.live(0, uint64(at)+1) > n }))
}

// deal cuts the live rows of fragments, one behind the other, into files of so many rows each.
func deal(fragments []stored, files []int64) ([][]piece, error) {
	out := make([][]piece, len(files))
	at, done := 0, uint64(0) // done are the live rows of the fragment that files have already
	from := uint64(0)
	for i, rows := range files {
		row, left := uint64(0), uint64(rows)
		for left > 0 && at < len(fragments) {
			f := fragments[at]
			all := f.live(0, f.rows)
			n := min(left, all-done)
			p := piece{frag: at, from: from, to: f.rows, row: row, live: n}
			if done+n < all {
				p.to = f.end(done + n)
			}
			if n > 0 {
				out[i] = append(out[i], p)
			}
			row, left, done, from = row+n, left-n, done+n, p.to
			if done == all {
				at, done, from = at+1, 0, 0
			}
		}
		if left > 0 {
			return nil, fmt.Errorf("%w: the fragments have %d rows less than the manifest says", datafile.ErrCorrupt, left)
		}
	}
	for ; at < len(fragments); at++ {
		if n := fragments[at].live(from, fragments[at].rows); n > 0 {
			return nil, fmt.Errorf("%w: the fragments have more rows than the manifest says", datafile.ErrCorrupt)
		}
		from = 0
	}
	return out, nil
}
