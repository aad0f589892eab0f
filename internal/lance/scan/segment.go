package scan

import (
	"cmp"
	"slices"
	"sort"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
)

// joinGap is how many unwanted bytes are read to save a request.
const joinGap = 64 << 10

// segment is a range of a file that was asked for ahead.
type segment struct {
	datafile.Span
	data []byte
	// done is closed when data or err is there.
	done chan struct{}
	err  error
	// users are the tasks that still need it.
	users int
}

func (s *segment) holds(x datafile.Span) bool {
	return x.Pos >= s.Pos && x.Pos-s.Pos <= s.Size && x.Size <= s.Size-(x.Pos-s.Pos)
}

// part is the bytes of a span inside a loaded segment.
func (s *segment) part(x datafile.Span) []byte {
	from := x.Pos - s.Pos
	return s.data[from : from+x.Size : from+x.Size]
}

// find is the segment that holds a span, of some that are ordered by position; nil when none does.
func find(segments []*segment, x datafile.Span) *segment {
	i := sort.Search(len(segments), func(i int) bool { return segments[i].Pos > x.Pos })
	for i--; i >= 0; i-- {
		if segments[i].holds(x) {
			return segments[i]
		}
	}
	return nil
}

func byPosition(a, b datafile.Span) int { return cmp.Compare(a.Pos, b.Pos) }

// join makes the requests for some spans: those that lie close together in one,
// of no more than limit bytes unless a span alone is larger.
func join(spans []datafile.Span, limit uint64) []*segment {
	slices.SortFunc(spans, byPosition)
	var out []*segment
	for _, x := range spans {
		if x.Size == 0 {
			continue
		}
		if n := len(out) - 1; n >= 0 {
			last := out[n]
			end := last.Pos + last.Size
			inside := x.Pos < end
			if inside && x.Pos+x.Size <= end {
				continue
			}
			if grown := x.Pos + x.Size - last.Pos; inside || x.Pos-end <= joinGap && grown <= limit {
				last.Size = grown
				continue
			}
		}
		out = append(out, &segment{Span: x, done: make(chan struct{})})
	}
	return out
}
