package cluster

import (
	"os/exec"
	"syscall"
)

// detach keeps a terminal's Ctrl-C from a child, which is stopped in its turn,
// and ends it when this process dies without stopping it.
func detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
