// Package pin is how package lease gets at what a public type keeps to itself:
// the store and the manifest of an opened version. It also has the names of the
// tags that keep a version for a reader, for those who remove abandoned ones.
//
// Public packages export no internal types, not even in the signature of a
// method. A type that can be leased embeds a Handle under a name that is not
// exported, which gives it a method that nobody outside of this package can call:
//
//	type handle = pin.Handle
//
//	type Table struct {
//		handle
//		…
//	}
package pin

import "github.com/seaweedfs/seaweed-lance/internal/lance/table"

// Version is one version of a table as it was opened.
type Version struct {
	// Location is the same for all opened versions of a table, and for no other
	// table of the process.
	Location string
	// Table is the version. Its store must go to the storage with every call;
	// nothing of what it answers about manifests may come from a cache.
	Table *table.Table
}

// Source is an opened version that can be leased. A type becomes one by embedding a Handle.
type Source interface{ pinned() Version }

// Handle makes the type that embeds it a Source.
type Handle struct{ v Version }

// New makes the Handle of a version.
func New(v Version) Handle { return Handle{v} }

func (h Handle) pinned() Version { return h.v }

// Of is the version that a source stands for.
func Of(s Source) Version { return s.pinned() }
