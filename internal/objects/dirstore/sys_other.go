//go:build !linux

package dirstore

import (
	"errors"
	"os"
)

// startWriteout has no counterpart here: the last sync does it all.
func startWriteout(*os.File, int64, int64) {}

// kernelCopy is not available.
func kernelCopy(*os.File, int64, *os.File, int64, int64) (int64, error) {
	return 0, errors.ErrUnsupported
}
