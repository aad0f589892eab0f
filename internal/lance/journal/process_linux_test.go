package journal

import (
	"bufio"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// TestHelperProcess is not a test: it is the process that TestAliveProcess looks at.
func TestHelperProcess(t *testing.T) {
	if os.Getenv("LANCE_JOURNAL_HELPER") == "" {
		t.Skip("only when another test starts it")
	}
	os.Stdout.WriteString("ready\n")
	// Until the pipe is closed.
	os.Stdin.Read(make([]byte, 1))
}

// A process on this machine: at work, stopped, continued, dead and not yet
// waited for, gone.
func TestAliveProcess(t *testing.T) {
	c := exec.Command(os.Args[0], "-test.run=^TestHelperProcess$")
	c.Env = append(os.Environ(), "LANCE_JOURNAL_HELPER=1")
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	pid := c.Process.Pid
	r := New(Rewrite, now)
	r.ModTime = now.Add(-30 * 24 * time.Hour) // does not matter here
	r.Holder = Holder{Host: hostIdentity(), PID: pid, Start: processStart(pid), Run: "x"}
	until := func(want bool, what string) {
		t.Helper()
		// Signals take effect when the kernel gets to it.
		for deadline := time.Now().Add(10 * time.Second); r.Alive(now) != want; {
			if time.Now().After(deadline) {
				t.Fatalf("%s: alive %t", what, !want)
			}
		}
	}
	until(true, "at work")
	earlier := *r
	earlier.Holder.Start = "1"
	if earlier.Alive(now) {
		t.Error("an earlier process of that number is taken for alive")
	}
	signal := func(s syscall.Signal) {
		t.Helper()
		if err := c.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
	}
	signal(syscall.SIGSTOP)
	until(false, "stopped")
	signal(syscall.SIGCONT)
	until(true, "continued")
	signal(syscall.SIGKILL)
	until(false, "dead, not waited for")
	c.Wait()
	until(false, "gone")
}

func TestStat(t *testing.T) {
	if f := stat(os.Getpid()); f == nil || f[statState] != "R" && f[statState] != "S" {
		t.Errorf("our own state: %v", f)
	}
	if f := stat(1 << 30); f != nil {
		t.Errorf("a process that can't be: %v", f)
	}
	if before, after, ok := cutLast("1 (a) b) S 4", ")"); before != "1 (a) b" || after != " S 4" || !ok {
		t.Errorf("%q, %q, %t", before, after, ok)
	}
	if _, _, ok := cutLast("abc", ")"); ok {
		t.Error("found what is not there")
	}
}
