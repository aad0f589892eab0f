package compact

import (
	"math/bits"
	"sort"
)

// maxOutputs bounds the fragments that one task makes, whatever a file should have at most: each is a file, and a
// name in the journal.
const maxOutputs = 1000

// rowsOf are the rows of a task one behind the other, with the bytes that they take: within a fragment each the same.
type rowsOf struct {
	// rows and bytes are where each fragment ends.
	rows, bytes []int64
}

// outputsOf deals the rows that are kept of fragments out to new ones. There are as many as there have to be for no file to have
// more than maxBytes, and as many as can be with no fewer rows than the target in each, whichever is more; within that they are as
// even as can be. Two neighbours never fit into one file, unless there would be too many files.
func outputsOf(fragments []*Fragment, target uint64, maxBytes int64) []int64 {
	var s rowsOf
	var rows, bytes int64
	for _, f := range fragments {
		if f.live() == 0 {
			continue
		}
		rows, bytes = plus(rows, f.kept()), plus(bytes, f.liveBytes())
		s.rows, s.bytes = append(s.rows, rows), append(s.bytes, bytes)
	}
	if rows == 0 {
		return nil
	}
	byBytes, within := s.files(0, rows, maxBytes)
	byRows := min(uint64(rows)/target, maxOutputs)
	if uint64(len(byBytes)) >= byRows || !within {
		return byBytes
	}
	var out []int64
	from := int64(0)
	for _, n := range spread(rows, byRows) {
		// Where rows are wider than elsewhere, so many may be too many.
		files, _ := s.files(from, from+n, maxBytes)
		if out = append(out, files...); len(out) > maxOutputs {
			return byBytes
		}
		from += n
	}
	return out
}

// spread deals rows out evenly, at least one row to each.
func spread(rows int64, outputs uint64) []int64 {
	n := min(int64(outputs), rows)
	shares := make([]int64, n)
	for i := range shares {
		shares[i] = rows / n
		if int64(i) < rows%n {
			shares[i]++
		}
	}
	return shares
}

// files deals a range of rows out to as few files of at most so many bytes as there can be, as evenly as so many can be. Where that
// takes too many files, they are not within the limit.
func (s *rowsOf) files(from, to, most int64) (out []int64, within bool) {
	all := s.at(to) - s.at(from)
	if all <= most {
		return []int64{to - from}, true
	}
	n := maxOutputs
	if out = s.fill(from, to, most, n); out != nil {
		n, within = len(out), true
	}
	// A file has at least its share, and at most all.
	least := all / int64(n)
	least += search(all-least, func(x int64) bool { return s.fill(from, to, least+x, n) != nil })
	return s.fill(from, to, least, n), within
}

// fill fills one file after the other with as many rows as it may have bytes, but one at least; nil when that takes more than
// so many files.
func (s *rowsOf) fill(from, to, most int64, files int) (out []int64) {
	for from < to {
		if len(out) == files {
			return nil
		}
		n := s.upTo(plus(s.at(from), most))
		n = min(max(n, from+1), to)
		out = append(out, n-from)
		from = n
	}
	return out
}

// at is how many bytes the first rows take.
func (s *rowsOf) at(row int64) int64 {
	i := sort.Search(len(s.rows), func(i int) bool { return s.rows[i] >= row })
	if i == len(s.rows) {
		return 0
	}
	row0, byte0 := s.start(i)
	return byte0 + scale(s.bytes[i]-byte0, row-row0, s.rows[i]-row0)
}

// upTo is how many rows, from the first on, take at most so many bytes.
func (s *rowsOf) upTo(most int64) int64 {
	i := sort.Search(len(s.bytes), func(i int) bool { return s.bytes[i] > most })
	if i == len(s.bytes) {
		return s.rows[i-1]
	}
	row0, _ := s.start(i)
	return row0 + search(s.rows[i]-row0, func(x int64) bool { return s.at(row0+x+1) > most })
}

// start is where a fragment begins.
func (s *rowsOf) start(i int) (row, bytes int64) {
	if i == 0 {
		return 0, 0
	}
	return s.rows[i-1], s.bytes[i-1]
}

// search is sort.Search for more than an int may hold.
func search(n int64, f func(int64) bool) int64 {
	low, high := int64(0), n
	for low < high {
		if mid := low + (high-low)/2; f(mid) {
			high = mid
		} else {
			low = mid + 1
		}
	}
	return low
}

// scale is bytes*part/whole.
func scale(bytes, part, whole int64) int64 {
	if whole <= 0 || part >= whole {
		return bytes
	}
	hi, lo := bits.Mul64(uint64(bytes), uint64(part))
	q, _ := bits.Div64(hi, lo, uint64(whole))
	return int64(q)
}
