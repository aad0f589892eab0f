package scan

import (
	"github.com/RoaringBitmap/roaring/v2"
)

// run is n rows one behind the other.
type run struct{ from, n int }

// live are the runs of rows [from, to) of a fragment that are not deleted, counted
// from from on, and how many rows that is.
func live(deleted *roaring.Bitmap, from, to uint64) (runs []run, n int) {
	if from >= to {
		return nil, 0
	}
	at := from
	if deleted != nil {
		it := deleted.Iterator()
		it.AdvanceIfNeeded(uint32(from))
		for it.HasNext() {
			gone := uint64(it.Next())
			if gone >= to {
				break
			}
			if gone > at {
				runs = append(runs, run{int(at - from), int(gone - at)})
				n += int(gone - at)
			}
			at = gone + 1
		}
	}
	if at < to {
		runs = append(runs, run{int(at - from), int(to - at)})
		n += int(to - at)
	}
	return runs, n
}

// physical turns rows [from, to), counted without the deleted ones, of a fragment of that many
// stored rows into the stored rows that hold them.
func physical(deleted *roaring.Bitmap, rows, from, to uint64) (first, end uint64) {
	if deleted == nil || deleted.IsEmpty() || from >= to {
		return from, to
	}
	return nthLive(deleted, rows, from), nthLive(deleted, rows, to-1) + 1
}

// nthLive is the stored row of a live one: the first that has n live ones before it.
func nthLive(deleted *roaring.Bitmap, rows, n uint64) uint64 {
	low, high := n, rows // invariant: low-1 has too few live rows up to it, high has enough
	for low < high {
		mid := low + (high-low)/2
		if mid+1-deleted.Rank(uint32(mid)) > n {
			high = mid
		} else {
			low = mid + 1
		}
	}
	return low
}
