// Package scan reads the rows of one version of a table as Arrow record batches.
//
// A scan goes through the fragments in the manifest's order, and through each from its first row
// to its last; a batch never holds rows of two fragments. What a fragment says
// about a column decides where its values come from:
//
//   - the first of its data files that names the field, in whichever base it lies;
//   - none of them: all values are null. A struct or list of which no wanted leaf is
//     there takes its own nulls and lengths from another of its leaves, so that
//     "no value" and "a value without this child" stay apart;
//   - leaves of one struct in several files: read apart and put together again. The
//     struct is null where it is null in all of them.
//
// Deleted rows are left out. Row addresses are fragment<<32 | offset in the fragment.
//
// # Contract
//
// Batches come in order whatever the number of threads, at most Options.BatchRows rows
// and about BatchBytes bytes each; a row that alone is larger is a batch of its
// own. Memory is bounded by ReadAhead for what is fetched and not yet decoded, twice BatchBytes
// for what is decoded and not yet taken, and thrice BatchBytes for each thread that decodes.
//
// The first error ends a scan: Next returns it from then on. It names the table,
// the fragment, the file, the column and, where one is concerned, the page. Bytes that contradict
// each other are datafile.ErrCorrupt, what this build does not read is
// column.ErrUnsupported or table.ErrRefused; all others come from the store.
package scan

import (
	"context"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// Names of the columns that a scan can append. All are uint64.
const (
	RowIDColumn      = "_rowid"
	RowAddressColumn = "_rowaddr"
	CreatedAtColumn  = "_row_created_at_version"
	UpdatedAtColumn  = "_row_last_updated_at_version"
)

const (
	defaultBatchRows  = 8192
	defaultBatchBytes = 32 << 20
	defaultReadAhead  = 64 << 20
	defaultThreads    = 2
	// maxRowBytes bounds a batch of one row that is larger than a batch should be.
	maxRowBytes = 1 << 30
)

// Range is the stored rows [From, To) of a fragment.
type Range struct{ From, To uint64 }

// Options of a scan. The zero value reads every column and every live row.
type Options struct {
	// Columns to read, in this order: names of fields, with dots down to nested
	// leaves ("a.b"). A nested one comes as its top-level column with only the children that
	// were named, all those of one top-level column together where the first was
	// named. Lists need not be spelled ("items.price" for "items.item.price"), and a map is
	// read with its keys. nil reads all; an empty list reads none, only rows and their number.
	Columns []string
	// RowAddress, RowID, CreatedAt and UpdatedAt append, in this order, the row's address, its
	// stable id (the address in a table without), and the versions of the table in which it
	// was made and last updated.
	RowAddress, RowID, CreatedAt, UpdatedAt bool
	// Fragments to read, by id; nil reads all. The order is the manifest's in any case.
	Fragments []uint64
	// Rows, if not nil, are the stored rows to read of each fragment, by its id, as ascending ranges that don't
	// overlap; other fragments are not read. It does not go together with Offset and Limit.
	Rows map[uint64][]Range
	// Deleted are deletion vectors that the caller has read already, by fragment.
	Deleted map[uint64]*roaring.Bitmap
	// Offset skips that many live rows, Limit ends the scan after that many; a nil
	// Limit reads to the end.
	Offset uint64
	Limit  *uint64
	// KeepDeleted leaves deleted rows in; Offset and Limit then count them, too.
	KeepDeleted bool
	// BlobBytes reads the bytes of blob columns in place of their descriptors.
	BlobBytes bool
	// StoredJSON leaves JSON in the binary form in which it is stored, in place of text.
	StoredJSON bool
	// BatchRows and BatchBytes bound a batch: by default 8192 rows and 32 MiB of
	// Arrow buffers. Most batches are far smaller than that; a single row may take more, up
	// to 1 GiB.
	BatchRows  int
	BatchBytes int64
	// ReadAhead is the most bytes fetched ahead and not yet decoded: by default 64 MiB.
	ReadAhead int64
	// Threads that decode: by default 2.
	Threads int
	// Bases opens another base in which files of the table lie; nil is as the table's WithBases
	// said. Without it they are refused by name.
	Bases func(*pb.BasePath) (objects.Store, error)
	// Files opens a data file in the table's store or in that of a base. Its metadata may be
	// shared with others, its reader may not: the scan closes it. nil is datafile.Open.
	Files func(ctx context.Context, s objects.Store, name string) (*datafile.File, error)
}

// reads tells whether a fragment is among those that are wanted.
func (o Options) reads(id uint64) bool {
	if o.Rows != nil && len(o.Rows[id]) == 0 {
		return false
	}
	return o.Fragments == nil || slices.Contains(o.Fragments, id)
}

func (o Options) withDefaults() Options {
	if o.BatchRows <= 0 {
		o.BatchRows = defaultBatchRows
	}
	if o.BatchBytes <= 0 {
		o.BatchBytes = defaultBatchBytes
	}
	if o.ReadAhead <= 0 {
		o.ReadAhead = defaultReadAhead
	}
	if o.Threads <= 0 {
		o.Threads = defaultThreads
	}
	if o.Files == nil {
		o.Files = datafile.Open
	}
	return o
}
