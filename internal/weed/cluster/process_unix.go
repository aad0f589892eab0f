//go:build unix && !linux

package cluster

import (
	"os/exec"
	"syscall"
)

// detach keeps a terminal's Ctrl-C from a child, which is stopped in its turn.
func detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}
