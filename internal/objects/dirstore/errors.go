package dirstore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// classed is an error of the given class. The cause loses the path and the
// name of the system call, which doing and name say better.
func classed(class error, doing, name string, cause error) error {
	return fmt.Errorf("%s %s: %w (%w)", doing, name, class, bare(cause))
}

// failure is an error of the class that the cause itself tells: access denied, or none.
func failure(doing, name string, cause error) error {
	if denied(cause) {
		return classed(objects.ErrDenied, doing, name, cause)
	}
	return fmt.Errorf("%s %s: %w", doing, name, bare(cause))
}

// change is failure for a call that makes, replaces or removes a name. On a
// network file system some errors do not tell whether the server has done it.
func change(doing, name string, cause error) error {
	if unclear(cause) {
		return classed(objects.ErrUnknown, doing, name, cause)
	}
	return failure(doing, name, cause)
}

func bare(err error) error {
	var pe *fs.PathError
	var le *os.LinkError
	switch {
	case errors.As(err, &pe):
		return pe.Err
	case errors.As(err, &le):
		return le.Err
	}
	return err
}

// missing tells that there is no such file, also when something on the way to
// it is no directory.
func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

func denied(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) || escapes(err)
}

func unclear(err error) bool {
	return errors.Is(err, syscall.EIO) || errors.Is(err, syscall.ETIMEDOUT) || errors.Is(err, syscall.ESTALE)
}

// escapes tells that os.Root refused to leave the root. That error has no name;
// should its words change, it is merely an error without a class.
func escapes(err error) bool {
	return bare(err).Error() == "path escapes from parent"
}
