package dirstore

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/windows"
)

// openFlags: nothing to add.
const openFlags = 0

// dirsSync: the file system journals names by itself.
const dirsSync = false

// fileID is the number of an open file in its file system, which is not given again.
func fileID(f *os.File, _ fs.FileInfo) (string, error) {
	c, err := f.SyscallConn()
	if err != nil {
		return "", err
	}
	var d windows.ByHandleFileInformation
	var done error
	if err := c.Control(func(h uintptr) {
		done = windows.GetFileInformationByHandle(windows.Handle(h), &d)
	}); err != nil {
		return "", err
	}
	return strconv.FormatUint(uint64(d.FileIndexHigh)<<32|uint64(d.FileIndexLow), 10), done
}

// nameID is the fileID of a file that fi describes. Directory listings don't
// have it, so that the file must be opened.
func nameID(root *os.Root, _ *os.File, p string, fi fs.FileInfo) (string, error) {
	if !fi.Mode().IsRegular() {
		return "", nil
	}
	f, err := root.Open(p)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return fileID(f, fi)
}

// removeFile removes a name that is not a directory's.
func removeFile(root *os.Root, p string) error {
	fi, err := root.Lstat(p)
	if err != nil {
		return err
	}
	if fi.IsDir() {
		return windows.ERROR_DIRECTORY_NOT_SUPPORTED
	}
	return root.Remove(p)
}

// removeDir removes an empty directory, and nothing else of that name.
func removeDir(root *os.Root, p string) error {
	fi, err := root.Lstat(p)
	if err != nil {
		return err
	}
	if !fi.IsDir() {
		return windows.ERROR_DIRECTORY
	}
	path, err := windows.UTF16PtrFromString(filepath.Join(root.Name(), p))
	if err != nil {
		return err
	}
	return windows.RemoveDirectory(path)
}

// renameExclusive renames a file unless the new name is taken (fs.ErrExist).
// errors.ErrUnsupported where the file system can't. It goes by the whole path:
// file systems without hard links have no links to be led astray by either.
func renameExclusive(_ *os.Root, root, from, to string) error {
	old, err := windows.UTF16PtrFromString(filepath.Join(root, from))
	if err != nil {
		return err
	}
	name, err := windows.UTF16PtrFromString(filepath.Join(root, to))
	if err != nil {
		return err
	}
	err = windows.MoveFileEx(old, name, windows.MOVEFILE_WRITE_THROUGH)
	if errors.Is(err, windows.ERROR_NOT_SUPPORTED) {
		return errors.ErrUnsupported
	}
	return err
}
