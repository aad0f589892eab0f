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

// room tells whether as many slots as there are, and some more rows of single ones, fit into one chunk.
func (s *sparse) room(slots int) bool {
	return s.most == 0 || slots-s.slots+appendAtOnce <= s.most
}

func (s *sparse) reset() { s.slots, s.values = 0, 0 }
