package table

import (
	"fmt"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// Names of index entries that no user made.
const (
	FragmentReuseIndex = "__lance_frag_reuse"
	MemWALIndex        = "__lance_mem_wal"
)

// Coverage is the set of fragments that an index entry describes.
type Coverage struct {
	// Unknown: the entry does not say; it may describe any fragment.
	Unknown bool
	ids     *roaring.Bitmap
}

// Has tells whether the fragment is, or may be, described.
func (c Coverage) Has(fragment uint64) bool {
	return c.Unknown || fragment <= 1<<32-1 && c.ids.Contains(uint32(fragment))
}

// CoverageOf decodes an entry's fragment bitmap. A bitmap that can't be decoded is
// an error that names the index.
func CoverageOf(i *pb.IndexMetadata) (Coverage, error) {
	raw := i.GetFragmentBitmap()
	if len(raw) == 0 {
		// The write-ahead log's entry describes no stored rows.
		return Coverage{Unknown: i.GetName() != MemWALIndex, ids: roaring.New()}, nil
	}
	b, _, err := decodeBitmap(raw)
	if err != nil {
		return Coverage{}, fmt.Errorf("index %q: %w: fragment bitmap: %v", i.GetName(), ErrCorrupt, err)
	}
	return Coverage{ids: b}, nil
}

// IsSystemIndex tells whether an entry is Lance's own bookkeeping.
func IsSystemIndex(i *pb.IndexMetadata) bool { return strings.HasPrefix(i.GetName(), "__lance_") }
