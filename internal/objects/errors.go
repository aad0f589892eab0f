package objects

import "errors"

// What the caller does next decides which of these an error is; every other
// error is a failure that may pass, and the same call may be tried again.
var (
	// ErrNotFound is returned when the named object is not there.
	ErrNotFound = errors.New("object not found")

	// ErrExists is returned by an exclusive create whose name is taken by
	// somebody else's object: the race is lost, look at the winner.
	ErrExists = errors.New("object exists")

	// ErrUnknown is returned when a create or delete may or may not have
	// happened, or may still happen. Nothing that it would have used may be
	// removed.
	ErrUnknown = errors.New("outcome unknown")

	// ErrDenied is returned when the store refuses this caller; trying again
	// does not help.
	ErrDenied = errors.New("access denied")
)
