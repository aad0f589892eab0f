package cluster

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// stopTimeout is how long a process may take to end after SIGTERM: weed's own
// steps of a shutdown are bounded by 10 s each.
const stopTimeout = 40 * time.Second

// tailBytes is how much of a log is worth showing.
const tailBytes = 8 << 10

// errPortTaken is returned when a process ended because somebody else listens
// on a port that had been free a moment ago.
var errPortTaken = errors.New("a port is taken")

// Process is one child.
type Process struct {
	name string
	log  string
	// throwaway: Stop kills it.
	throwaway bool

	cmd *exec.Cmd
	// done is closed when the process has ended; err is set before.
	done chan struct{}
	err  error

	mu struct {
		sync.Mutex
		stopped bool
	}
}

// startProcess starts a weed command in the cluster's environment. Its output
// goes to a log named after it.
func (c *Cluster) startProcess(name string, args []string) (*Process, error) {
	p := &Process{name: name, log: filepath.Join(c.opt.Dir, name+".log"), done: make(chan struct{})}
	out, err := os.Create(p.log)
	if err != nil {
		return nil, fmt.Errorf("starting weed %s: %w", name, err)
	}
	defer out.Close()
	p.cmd = c.Command(args...)
	p.cmd.Stdout, p.cmd.Stderr = out, out
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting weed %s: %w", name, err)
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

// Command is a weed command in the cluster's environment, not yet started.
func (c *Cluster) Command(args ...string) *exec.Cmd {
	cmd := exec.Command(c.opt.Program, append([]string{"-config_dir=" + c.ConfigDir(), "-logtostderr=true"}, args...)...)
	cmd.Dir = c.opt.Dir
	cmd.Env = c.environment()
	detach(cmd)
	return cmd
}

// Pid is the process's number.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Signal sends a signal.
func (p *Process) Signal(s os.Signal) error {
	if err := p.cmd.Process.Signal(s); err != nil {
		return fmt.Errorf("sending %v to weed %s: %w", s, p.name, err)
	}
	return nil
}

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Stop sends SIGTERM and waits. That a process ended by itself or with a
// status, or that it had to be killed, is an error. A process that Kill ended
// is stopped already.
func (p *Process) Stop() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mu.stopped {
		return nil
	}
	p.mu.stopped = true
	select {
	case <-p.done:
		return fmt.Errorf("weed %s had ended by itself: %v", p.name, p.err)
	default:
	}
	if p.throwaway {
		return p.kill()
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		// There is no such signal on every system.
		return p.kill()
	}
	timeout := time.NewTimer(stopTimeout)
	defer timeout.Stop()
	select {
	case <-p.done:
		if p.err != nil {
			return fmt.Errorf("stopping weed %s: %w", p.name, p.err)
		}
		return nil
	case <-timeout.C:
		return errors.Join(fmt.Errorf("weed %s did not stop within %v", p.name, stopTimeout), p.kill())
	}
}

// Kill ends the process at once, as a crash would.
func (p *Process) Kill() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mu.stopped {
		return nil
	}
	p.mu.stopped = true
	return p.kill()
}

func (p *Process) kill() error {
	if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("killing weed %s: %w", p.name, err)
	}
	<-p.done
	return nil
}

// exited is an error that tells how the process ended, or nil while it runs.
func (p *Process) exited() error {
	select {
	case <-p.done:
	default:
		return nil
	}
	tail := p.LogTail()
	err := fmt.Errorf("weed %s ended: %v\n%s", p.name, p.err, tail)
	if strings.Contains(tail, "address already in use") || strings.Contains(tail, "Port allocation failed") {
		return fmt.Errorf("%w: %w", errPortTaken, err)
	}
	return err
}

// LogTail is the end of what the process printed.
func (p *Process) LogTail() string {
	f, err := os.Open(p.log)
	if err != nil {
		return err.Error()
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > tailBytes {
		if _, err := f.Seek(-tailBytes, io.SeekEnd); err != nil {
			return err.Error()
		}
	}
	b, err := io.ReadAll(f)
	if err != nil {
		return err.Error()
	}
	return strings.ToValidUTF8(string(b), "?")
}

// Log is everything that the process has printed.
func (p *Process) Log() (string, error) {
	b, err := os.ReadFile(p.log)
	return string(b), err
}
