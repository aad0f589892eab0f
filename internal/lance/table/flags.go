package table

import (
	"fmt"
	"math/bits"
	"strings"

	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// Feature flags of a manifest (FORMAT A2.4). A reader flag that is not
// understood makes the table unreadable, a writer flag unwritable. The values
// are on disk.
const (
	FlagDeletionFiles     = 1 << 0
	FlagStableRowIDs      = 1 << 1
	FlagV2Files           = 1 << 2 // deprecated, tolerated
	FlagTableConfig       = 1 << 3
	FlagBasePaths         = 1 << 4
	FlagNoTransactionFile = 1 << 5
	// FlagMixedVersions allows data files of several versions in one table, which keeps it once it has it. It
	// comes in both words or none.
	FlagMixedVersions = 1 << 8
	// FlagManagedBlobs allows blobs in objects of their own that many rows share. A table keeps it, and it comes in both words
	// or none.
	FlagManagedBlobs = 1 << 14
	// paired are those that come in both words.
	paired = FlagMixedVersions | FlagManagedBlobs
	// knownFlags are those that this build honours in either word.
	knownFlags = FlagDeletionFiles | FlagStableRowIDs | FlagV2Files | FlagTableConfig | FlagBasePaths | FlagNoTransactionFile | paired
)

// flagNames are the names of bits that other releases are known to set, to
// tell an operator what stands in the way.
var flagNames = map[int]string{
	6: "data overlay files", 7: "covering indices", 8: "mixed data file versions",
	10: "tagged fragment reuse index", 11: "spilled row lineage", 14: "managed blobs",
	15: "non-reusable field ids", 16: "zone map write seeds",
}

// flagText names the flags of a word that this build does not know.
func flagText(unknown uint64) string {
	var parts []string
	for ; unknown != 0; unknown &= unknown - 1 {
		bit := bits.TrailingZeros64(unknown)
		text := fmt.Sprintf("%d", uint64(1)<<bit)
		if n := flagNames[bit]; n != "" {
			text += " (" + n + ")"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

// checkReaderFlags refuses a manifest that this build may not read.
func checkReaderFlags(name string, m *pb.Manifest) error {
	if u := m.GetReaderFeatureFlags() &^ knownFlags; u != 0 {
		return refused(name, "unknown reader feature flag %s", flagText(u))
	}
	// It comes in both words or none: one that a writer may ignore would get lost.
	if u := m.GetReaderFeatureFlags() &^ m.GetWriterFeatureFlags() & paired; u != 0 {
		return refused(name, "feature flag %s is set for readers only", flagText(u))
	}
	return nil
}

// checkWriterFlags refuses a manifest on top of which this build may neither
// commit nor clean up.
func checkWriterFlags(name string, m *pb.Manifest) error {
	if u := m.GetWriterFeatureFlags() &^ knownFlags; u != 0 {
		return refused(name, "unknown writer feature flag %s", flagText(u))
	}
	if u := m.GetWriterFeatureFlags() &^ m.GetReaderFeatureFlags() & paired; u != 0 {
		return refused(name, "feature flag %s is set for writers only", flagText(u))
	}
	return nil
}

// setFlags makes the flags of a new manifest: recomputed from what it holds,
// as every release does, but for those that a table keeps once it has them.
func setFlags(m *pb.Manifest) {
	const sticky = FlagStableRowIDs | FlagV2Files | paired
	r := m.GetReaderFeatureFlags() & sticky
	w := m.GetWriterFeatureFlags() & (sticky | FlagNoTransactionFile)
	for _, f := range m.GetFragments() {
		if f.GetDeletionFile() != nil {
			r |= FlagDeletionFiles
			w |= FlagDeletionFiles
			break
		}
	}
	if len(m.GetConfig()) > 0 {
		w |= FlagTableConfig
	}
	if len(m.GetBasePaths()) > 0 {
		r |= FlagBasePaths
		w |= FlagBasePaths
	}
	m.ReaderFeatureFlags, m.WriterFeatureFlags = r, w
}
