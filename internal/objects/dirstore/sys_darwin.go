package dirstore

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// renameExclusive renames a file unless the new name is taken (fs.ErrExist).
// errors.ErrUnsupported where the file system can't.
func renameExclusive(root *os.Root, _, from, to string) error {
	d, err := root.Open(filepath.Dir(to))
	if err != nil {
		return err
	}
	defer d.Close()
	err = control(d, func(fd int) error {
		return unix.RenameatxNp(fd, filepath.Base(from), fd, filepath.Base(to), unix.RENAME_EXCL)
	})
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) {
		return errors.ErrUnsupported
	}
	return err
}
