//go:build !linux && !darwin && !windows

package dirstore

import (
	"errors"
	"os"
)

// renameExclusive is not available: only file systems with hard links will do.
func renameExclusive(*os.Root, string, string, string) error { return errors.ErrUnsupported }
