// Package table reads and commits the versions of a Lance table: manifests,
// transactions, fragments, deletion vectors, row ids, tags and branches.
//
// A table is a directory. Version v is one object below _versions:
//
//	V1 naming   _versions/{v}.manifest
//	V2 naming   _versions/{2^64-1-v, 20 digits}.manifest   newest first in a listing
//	detached    _versions/d{v}.manifest                    never the newest
//
// and a manifest object is
//
//	[u32 length][IndexSection]     absent when the table has no index
//	[u32 length][Transaction]      absent when large or from an old release
//	[u32 length][Manifest]
//	u64 position of the manifest's length · u16 0 · u16 2 · "LANC"
//
// where Manifest.index_section and .transaction_section are positions inside
// the object, 0 included. All integers are little-endian.
//
// # Contract
//
// Open returns an immutable Table: one version, with everything that the
// manifest says, fields of newer releases included. Commit adds one version by
// one create-only manifest and reports one of
//
//   - a Table: it is committed, and the version that a later commit built on;
//   - an error that is ErrConflict, ErrContended or ErrRefused, or any other
//     that is not objects.ErrUnknown: nothing was committed, and never will be;
//   - an error that is objects.ErrUnknown: it may have been committed. Nothing that
//     it names may be removed.
package table
