package oracle

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// Lance is one Python process with one release of pylance. Its methods may be
// called from many goroutines; commands run one after the other.
type Lance struct {
	release Release
	dir     string
	cmd     *exec.Cmd
	stderr  *tail

	mu struct {
		sync.Mutex
		in   io.WriteCloser
		out  *bufio.Reader
		next int
		// dead is why no more commands can be given.
		dead error
	}
}

// Error is what Lance, or the script around it, said to a command.
type Error struct {
	// Text of the exception, and the name of its class.
	Text, Kind string
	// Trace is Python's own.
	Trace string
}

func (e *Error) Error() string { return e.Kind + ": " + e.Text }

// Open starts a process; env is added to its environment. Close ends it.
func Open(ctx context.Context, r Release, env ...string) (*Lance, error) {
	python, err := Environment(ctx, r)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "lance-oracle-")
	if err != nil {
		return nil, err
	}
	l := &Lance{release: r, dir: dir, stderr: &tail{}}
	if err := l.start(python, env); err != nil {
		os.RemoveAll(dir)
		return nil, fmt.Errorf("starting pylance %s: %w: %s", r, err, l.stderr)
	}
	return l, nil
}

func (l *Lance) start(python string, env []string) error {
	if err := unpack(l.dir); err != nil {
		return err
	}
	l.cmd = exec.Command(python, "-B", filepath.Join(l.dir, "helper.py"))
	// Two threads are what the machines of this project have, and what Lance
	// sizes its pools by; telling it makes runs alike everywhere.
	l.cmd.Env = append(os.Environ(), append([]string{"LANCE_CPU_THREADS=2", "RUST_LOG=error"}, env...)...)
	l.cmd.Dir = l.dir
	l.cmd.Stderr = l.stderr
	in, err := l.cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := l.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := l.cmd.Start(); err != nil {
		return err
	}
	l.mu.in, l.mu.out = in, bufio.NewReaderSize(out, 1<<20)
	var hello struct{ Lance string }
	if err := l.answer(0, &hello); err != nil {
		l.cmd.Process.Kill()
		l.cmd.Wait()
		return err
	}
	if hello.Lance != string(l.release) {
		err = fmt.Errorf("the environment holds pylance %s", hello.Lance)
		l.Close()
	}
	return err
}

// Start opens a process that ends with the test. It skips the test when there
// is no Lance to be had, and fails it under CI.
func Start(tb testing.TB, r Release, env ...string) *Lance {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Minute)
	defer cancel()
	l, err := Open(ctx, r, env...)
	if err != nil {
		if os.Getenv("CI") == "true" {
			tb.Fatalf("no pylance %s, which CI must have: %v", r, err)
		}
		tb.Skipf("needs pylance %s, which could not be set up: %v", r, err)
	}
	tb.Cleanup(func() {
		if err := l.Close(); err != nil {
			tb.Errorf("ending pylance %s: %v", r, err)
		}
	})
	return l
}

// Release tells which pylance this is.
func (l *Lance) Release() Release { return l.release }

// Pid is the process's id.
func (l *Lance) Pid() int { return l.cmd.Process.Pid }

// Try gives a command and waits for its answer, which is decoded into out
// unless that is nil. Lance's own refusals come as *Error.
func (l *Lance) Try(do string, with Args, out any) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.mu.dead != nil {
		return l.mu.dead
	}
	l.mu.next++
	line, err := json.Marshal(map[string]any{"id": l.mu.next, "do": do, "with": with})
	if err != nil {
		return err
	}
	if _, err = l.mu.in.Write(append(line, '\n')); err == nil {
		err = l.answer(l.mu.next, out)
	}
	var refused *Error
	if err != nil && !errors.As(err, &refused) {
		l.mu.dead = fmt.Errorf("%s by pylance %s: %w: %s", do, l.release, err, l.stderr)
		return l.mu.dead
	}
	if err != nil {
		return fmt.Errorf("%s by pylance %s: %w", do, l.release, err)
	}
	return nil
}

// Args are a command's arguments by name.
type Args map[string]any

// Do is Try that must succeed.
func (l *Lance) Do(tb testing.TB, do string, with Args, out any) {
	tb.Helper()
	if err := l.Try(do, with, out); err != nil {
		var refused *Error
		if errors.As(err, &refused) {
			tb.Fatalf("%v\n%s", err, refused.Trace)
		}
		tb.Fatal(err)
	}
}

func (l *Lance) answer(id int, out any) error {
	line, err := l.mu.out.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("waiting for an answer: %w", err)
	}
	var a struct {
		ID    int
		OK    json.RawMessage
		Error *string
		Kind  string
		Trace string
	}
	if err := json.Unmarshal(line, &a); err != nil {
		return fmt.Errorf("reading an answer: %w", err)
	}
	if a.ID != id {
		return fmt.Errorf("answer %d to command %d", a.ID, id)
	}
	if a.Error != nil {
		return &Error{Text: *a.Error, Kind: a.Kind, Trace: a.Trace}
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(a.OK, out)
}

// Close ends the process.
func (l *Lance) Close() error {
	defer os.RemoveAll(l.dir)
	l.mu.in.Close()
	// A Lance that does not end by itself is in some loop of its own.
	kill := time.AfterFunc(20*time.Second, func() { l.cmd.Process.Kill() })
	defer kill.Stop()
	if err := l.cmd.Wait(); err != nil {
		return fmt.Errorf("%w: %s", err, l.stderr)
	}
	return nil
}

// tail keeps the end of what the process said on standard error.
type tail struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf.Write(p)
	if extra := t.buf.Len() - 16<<10; extra > 0 {
		t.buf.Next(extra)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.buf.String()
}
