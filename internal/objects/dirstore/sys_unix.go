//go:build unix

package dirstore

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// openFlags keep an open from waiting for the other end of a named pipe.
const openFlags = syscall.O_NONBLOCK

// dirsSync tells that a directory can be synced.
const dirsSync = true

// fileID is the number of an open file in its file system.
func fileID(_ *os.File, fi fs.FileInfo) (uint64, error) {
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, fmt.Errorf("inode of %s: unknown", fi.Name())
	}
	return uint64(st.Ino), nil
}

// nameID is the number of a file that fi describes.
func nameID(_ *os.Root, _ string, fi fs.FileInfo) (uint64, error) {
	return fileID(nil, fi)
}

// removeFile removes a name that is not a directory's.
func removeFile(root *os.Root, p string) error {
	return unlink(root, p, 0)
}

// removeDir removes an empty directory, and nothing else of that name.
func removeDir(root *os.Root, p string) error {
	return unlink(root, p, unix.AT_REMOVEDIR)
}

func unlink(root *os.Root, p string, flags int) error {
	d, err := root.Open(filepath.Dir(p))
	if err != nil {
		return err
	}
	defer d.Close()
	return control(d, func(fd int) error {
		return unix.Unlinkat(fd, filepath.Base(p), flags)
	})
}

// control calls do with the descriptor of f, which can't be closed meanwhile.
func control(f *os.File, do func(fd int) error) error {
	c, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var done error
	if err := c.Control(func(fd uintptr) { done = do(int(fd)) }); err != nil {
		return err
	}
	return done
}
