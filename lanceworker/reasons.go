package lanceworker

import (
	"errors"

	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
	"github.com/seaweedfs/seaweed-lance/internal/objects/filerstore"
)

// reason is the class of why a table was skipped: the label of a metric, so
// there are few. The words go to activities and to the log.
type reason string

const (
	// reasonOpen: the table could not be opened; nothing more is known.
	reasonOpen reason = "open"
	// reasonStats: it was opened, but what the decision needs could not be read.
	reasonStats reason = "stats"
	// reasonCorrupt: its bytes contradict the format.
	reasonCorrupt reason = "corrupt"
	// reasonRefused: it uses something that is not understood or not
	// supported, or the catalog's record of it is not to be trusted.
	reasonRefused reason = "refused"
	// reasonKeys: it is encrypted, and this worker has not the key for it.
	reasonKeys reason = "keys"
	// reasonDenied: the store refuses this worker.
	reasonDenied reason = "denied"
	// reasonBackoff: it failed not long ago and is left alone for a while.
	reasonBackoff reason = "backoff"
)

// classify finds the class of an error; fallback is that of errors that tell
// nothing of the table itself.
func classify(err error, fallback reason) reason {
	switch {
	case errors.Is(err, table.ErrRefused), errors.Is(err, filerstore.ErrEncrypted):
		return reasonRefused
	case errors.Is(err, filerstore.ErrKeys):
		return reasonKeys
	case errors.Is(err, table.ErrCorrupt):
		return reasonCorrupt
	case errors.Is(err, objects.ErrDenied):
		return reasonDenied
	default:
		return fallback
	}
}
