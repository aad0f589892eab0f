//go:build unix

package dirstore

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// openFlags keep an open from waiting for the other end of a named pipe.
const openFlags = syscall.O_NONBLOCK

// dirsSync tells that a directory can be synced.
const dirsSync = true

// fileID tells an open file from all others of its file system that there are or were.
func fileID(f *os.File, fi fs.FileInfo) (string, error) {
	ino, err := inode(fi)
	return ino + birth(f, "", 0), err
}

// nameID is the fileID of a file that fi describes, at a path in dir.
func nameID(_ *os.Root, dir *os.File, p string, fi fs.FileInfo) (string, error) {
	flags := 0
	if fi.Mode()&fs.ModeSymlink != 0 {
		flags = unix.AT_SYMLINK_NOFOLLOW // one that leads nowhere
	}
	ino, err := inode(fi)
	return ino + birth(dir, p, flags), err
}

func inode(fi fs.FileInfo) (string, error) {
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return "", fmt.Errorf("inode of %s: unknown", fi.Name())
	}
	return strconv.FormatUint(uint64(st.Ino), 10), nil
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
