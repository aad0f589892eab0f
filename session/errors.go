package session

import (
	"errors"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// Errors by what the caller does next; test with errors.Is. Every other error is a failure
// that may pass.
var (
	// ErrNoTable is returned where there is no Lance table, or none any more.
	ErrNoTable = table.ErrNoTable

	// ErrGone is returned when something is no longer there: a version that was asked for
	// by number, or a file of an opened one, because the table was dropped or replaced, or the
	// version cleaned up. Also when a table is replaced again and again while it is opened. Open again.
	ErrGone = objects.ErrNotFound

	// ErrDenied is returned when the store refuses this caller, and for what is encrypted under a key that
	// this process has not.
	ErrDenied = objects.ErrDenied

	// ErrRefused is returned when a table uses what this build does not support. The text
	// names it.
	ErrRefused = table.ErrRefused

	// ErrCorrupt is returned when stored bytes contradict the format.
	ErrCorrupt = table.ErrCorrupt

	// ErrClosed is returned by all that is done with a Session after its Close.
	ErrClosed = errors.New("the session is closed")
)

// classified is an error that is of one more of the kinds above.
type classified struct {
	error
	kind error
}

func (c *classified) Unwrap() []error { return []error{c.error, c.kind} }

// classify gives errors of the engine the kind that they have outside of it.
func classify(err error) error {
	var denied interface{ Denied() }
	switch {
	case errors.As(err, &denied) && !errors.Is(err, ErrDenied):
		return &classified{err, ErrDenied}
	case errors.Is(err, errChanged) && !errors.Is(err, ErrGone):
		return &classified{err, ErrGone}
	case errors.Is(err, datafile.ErrCorrupt) && !errors.Is(err, ErrCorrupt):
		return &classified{err, ErrCorrupt}
	case errors.Is(err, column.ErrUnsupported) && !errors.Is(err, ErrRefused):
		return &classified{err, ErrRefused}
	}
	return err
}
