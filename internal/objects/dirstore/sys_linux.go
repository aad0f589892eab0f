package dirstore

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// startWriteout makes the kernel begin to write a range to the disk. It is a
// hint: Sync reports what goes wrong.
func startWriteout(f *os.File, off, n int64) {
	_ = control(f, func(fd int) error {
		return unix.SyncFileRange(fd, off, n, unix.SYNC_FILE_RANGE_WRITE)
	})
}

// kernelCopy copies up to n bytes between files without their passing through
// the process. Nothing copied is errors.ErrUnsupported, another error, or nil
// at the end of src.
func kernelCopy(dst *os.File, dstOff int64, src *os.File, srcOff, n int64) (int64, error) {
	var copied int
	err := control(dst, func(d int) error {
		return control(src, func(s int) error {
			for {
				var err error
				copied, err = unix.CopyFileRange(s, &srcOff, d, &dstOff, int(n), 0)
				if err != unix.EINTR {
					return err
				}
			}
		})
	})
	switch {
	case err == nil:
		return int64(max(copied, 0)), nil
	case errors.Is(err, os.ErrClosed), errors.Is(err, unix.ENOSPC), errors.Is(err, unix.EDQUOT),
		errors.Is(err, unix.EIO), errors.Is(err, unix.EFBIG):
		return 0, err
	}
	// EXDEV, EINVAL, ENOSYS, EOPNOTSUPP, EPERM, …: file systems differ in how
	// they say that they can't.
	return 0, errors.ErrUnsupported
}

// renameExclusive renames a file unless the new name is taken (fs.ErrExist).
// errors.ErrUnsupported where the file system can't.
func renameExclusive(root *os.Root, _, from, to string) error {
	d, err := root.Open(filepath.Dir(to))
	if err != nil {
		return err
	}
	defer d.Close()
	err = control(d, func(fd int) error {
		return unix.Renameat2(fd, filepath.Base(from), fd, filepath.Base(to), unix.RENAME_NOREPLACE)
	})
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) {
		return errors.ErrUnsupported
	}
	return err
}
