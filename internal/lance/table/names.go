package table

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// Directories of a table, as Lance lays them out.
const (
	VersionsDir     = "_versions"
	TransactionsDir = "_transactions"
	DataDir         = "data"
	DeletionsDir    = "_deletions"
	IndicesDir      = "_indices"
	TagsDir         = "_refs/tags"
	BranchesDir     = "_refs/branches"
	BranchTreeDir   = "tree"
)

const (
	manifestSuffix = ".manifest"
	v2Digits       = 20
	// Versions with the top bit set are detached: made without becoming the newest.
	detachedBit = 1 << 63
)

// Naming is the scheme by which a table names its manifests. A table keeps the
// one that it was made with.
type Naming int

// The naming schemes.
const (
	NamingUnknown Naming = iota
	NamingV1
	NamingV2
)

func (n Naming) String() string {
	switch n {
	case NamingV1:
		return "V1"
	case NamingV2:
		return "V2"
	}
	return "unknown"
}

// ManifestName returns the object name of a version's manifest.
func (n Naming) ManifestName(version uint64) string {
	if version&detachedBit != 0 {
		return fmt.Sprintf("%s/d%d%s", VersionsDir, version, manifestSuffix)
	}
	if n == NamingV1 {
		return fmt.Sprintf("%s/%d%s", VersionsDir, version, manifestSuffix)
	}
	return fmt.Sprintf("%s/%020d%s", VersionsDir, math.MaxUint64-version, manifestSuffix)
}

// parseManifestName takes the last part of a name below _versions apart. ok is
// false for everything that is not the manifest of a version.
func parseManifestName(name string) (version uint64, n Naming, detached, ok bool) {
	stem, found := strings.CutSuffix(name, manifestSuffix)
	if !found {
		return 0, NamingUnknown, false, false
	}
	if rest, d := strings.CutPrefix(stem, "d"); d {
		v, err := parseDigits(rest)
		return v, NamingUnknown, true, err == nil && v&detachedBit != 0
	}
	v, err := parseDigits(stem)
	if err != nil {
		return 0, NamingUnknown, false, false
	}
	if len(stem) == v2Digits {
		v = math.MaxUint64 - v
		return v, NamingV2, false, v&detachedBit == 0
	}
	return v, NamingV1, false, v&detachedBit == 0
}

// parseDigits is ParseUint without the signs and underscores that it would take.
func parseDigits(s string) (uint64, error) {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, strconv.ErrSyntax
		}
	}
	return strconv.ParseUint(s, 10, 64)
}

// TransactionName returns the object name of a transaction.
func TransactionName(readVersion uint64, uuid string) string {
	return fmt.Sprintf("%s/%d-%s.txn", TransactionsDir, readVersion, uuid)
}

// DeletionName returns the object name of a fragment's deletion file, below
// the base that the file names.
func DeletionName(fragment uint64, d *pb.DeletionFile) string {
	suffix := "arrow"
	if d.GetFileType() == pb.DeletionFile_BITMAP {
		suffix = "bin"
	}
	return fmt.Sprintf("%s/%d-%d-%d.%s", DeletionsDir, fragment, d.GetReadVersion(), d.GetId(), suffix)
}

// DataName returns the object name of a data file of the table's own root.
func DataName(f *pb.DataFile) string { return DataDir + "/" + f.GetPath() }
