// Package location says where a table lies, for those who open it there: package session hands
// it on without knowing of what storage it tells.
package location

import (
	"context"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// Location is where a table lies. It is made by the package that knows the
// storage; whoever else has one can only hand it on and show its name.
type Location struct {
	key, name string
	open      func(context.Context) (Place, error)
}

// Place is an opened location.
type Place struct {
	Store objects.Store
	// Moved tells that the location leads to another place by now, so that it has to be
	// opened again; nil when it never does.
	Moved func() bool
	// Lags tells that the storage may show what it was a moment ago, after it has shown what came later.
	Lags bool
	// Release gives back what the place takes only for being kept, such as descriptors; nil when that is
	// nothing. The Store stays usable: each of its calls then takes what it needs.
	Release func()
	// Base opens another root that the table's manifest names by its path; nil where none can
	// be reached.
	Base func(ctx context.Context, path string) (objects.Store, error)
}

// New makes a Location. Two have the same key exactly when they lead to the same
// bytes in the same way: a bucket that begins to encrypt needs another one. name is
// for people.
func New(key, name string, open func(context.Context) (Place, error)) Location {
	return Location{key: key, name: name, open: open}
}

// String names the location for people.
func (l Location) String() string { return l.name }

// Key identifies the location.
func Key(l Location) string { return l.key }

// Open opens the location; l must have been made by New.
func Open(ctx context.Context, l Location) (Place, error) { return l.open(ctx) }

// Valid tells whether the location was made by New.
func Valid(l Location) bool { return l.open != nil }
