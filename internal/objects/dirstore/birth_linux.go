package dirstore

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// birth is when a file was made, as part of its id; "" where the file system does not say. Unlike the
// other times nobody can set it: it tells a file from one that has got its inode, even where times
// count in seconds, or were copied. p is relative to dir; "" means dir itself.
func birth(dir *os.File, p string, flags int) string {
	if p == "" {
		flags = unix.AT_EMPTY_PATH
	}
	var st unix.Statx_t
	err := control(dir, func(fd int) error {
		return unix.Statx(fd, p, flags, unix.STATX_BTIME, &st)
	})
	if err != nil || st.Mask&unix.STATX_BTIME == 0 {
		return ""
	}
	return "+" + strconv.FormatInt(st.Btime.Sec, 36) + "." + strconv.FormatUint(uint64(st.Btime.Nsec), 36)
}
