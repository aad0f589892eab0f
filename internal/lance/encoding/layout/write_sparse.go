package layout

import (
	"math/bits"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/block"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/level"
)

// levelBytes is what levels may take of a chunk beside its values.
const levelBytes = maxChunk - block.MaxChunkBytes - 256

// sparse sees to it that the levels of a chunk fit into it. A chunk has the levels of all slots up to its last
// value, and where most lists are empty these are many more than values: such a page ends early. A page
// without any value has no chunks.
type sparse struct {
	most int // slots that the values of a chunk may have; 0 when there is no bound
	// slots and values that were there at the last border of a chunk, at the latest.
	slots, values int
}

func newSparse(p level.Path) sparse {
	lists, def := 0, uint16(0)
	for _, n := range p {
		if n.Kind == level.List {
			lists++
			def++
		}
		def++
	}
	if lists == 0 {
		return sparse{} // each slot has its value
	}
	width := bits.Len(uint(lists)) + bits.Len16(def)
	return sparse{most: min(maxChunkLevels, levelBytes*8/width)}
}

// saw takes note of how many slots and values a page has.
func (s *sparse) saw(slots, values int) {
	if values-s.values >= block.MaxChunkValues {
		s.slots, s.values = slots, values
	}
}

// fine is how many rows are taken at once where the border of a page may come between them.
const fine = 1 << 10

// rows is how many rows to take at once.
func (s *sparse) rows(slots int) int {
	if s.most > 0 && slots-s.slots+appendAtOnce > s.most/2 {
		return fine
	}
	return appendAtOnce
}

// used is how many slots of a chunk are taken with the next rows, and some more of those.
func (s *sparse) used(slots int) int {
	more := s.rows(slots)
	if more == fine {
		more *= 2
	}
	return slots - s.slots + more
}

// room tells whether as many slots as there are, and those of the next rows, fit into one chunk.
func (s *sparse) room(slots int) bool { return s.most == 0 || s.used(slots) <= s.most }

// starts tells whether rows with values had better start a page than end one, where levels without values are not packed: of the slots that there
// is room for, probably none would have another value, nor would those after that for a while.
func (s *sparse) starts(slots, values int) bool {
	used := s.used(slots)
	return s.most > 0 && values > 0 && used > s.most/2 && (s.most-used)/2 < slots/values
}

func (s *sparse) reset() { s.slots, s.values = 0, 0 }
