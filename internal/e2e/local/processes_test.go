package local_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/e2e/oracle"
	"github.com/seaweedfs/seaweed-lance/internal/lance/cleanup"
)

// process is this very binary at work on a table.
type process struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
	err bytes.Buffer
}

// launch starts a process that waits for the word to begin.
func launch(t *testing.T, j job) *process {
	t.Helper()
	text, err := json.Marshal(j)
	if err != nil {
		t.Fatal(err)
	}
	p := &process{cmd: exec.Command(os.Args[0])}
	p.cmd.Env = append(os.Environ(), jobVariable+"="+string(text))
	p.cmd.Stderr = &p.err
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p.out = bufio.NewReader(out)
	if line, err := p.out.ReadString('\n'); err != nil {
		p.cmd.Wait()
		t.Fatalf("a process did not come up: %q, %v: %s", line, err, &p.err)
	}
	return p
}

func (p *process) begin(t *testing.T) {
	t.Helper()
	if _, err := io.WriteString(p.in, "go\n"); err != nil {
		t.Fatal(err)
	}
}

// end waits and returns what went wrong.
func (p *process) end() error {
	p.in.Close()
	if err := p.cmd.Wait(); err != nil {
		return fmt.Errorf("%w: %s", err, &p.err)
	}
	return nil
}

// TestManyProcesses has four compactions and two cleanups, each a process of its
// own, work on one table at once. None may fail: who comes too late has nothing to do.
func TestManyProcesses(t *testing.T) {
	lance := oracle.Start(t, oracle.Newest)
	rounds := 4
	if full() {
		rounds = 20
	}
	for round := range rounds {
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "t")
			recipe := []string{"many_appends", "stable_ids", "mixed_sizes", "tagged"}[round%4]
			made := lance.Make(t, recipe, dir, oracle.Table{Fragments: 40})
			before := lance.Snapshot(t, dir)
			var all []*process
			for range 4 {
				all = append(all, launch(t, job{Dir: dir, Kind: "compact", Target: 200, Times: 2}))
			}
			for range 2 {
				all = append(all, launch(t, job{Dir: dir, Kind: "cleanup", Keep: 1, Times: 4}))
			}
			for _, p := range all {
				p.begin(t)
			}
			for i, p := range all {
				if err := p.end(); err != nil {
					t.Errorf("process %d: %v", i, err)
				}
			}
			// What processes that lost their race leave goes with the next run.
			compactNow(t, dir, 200)
			cleanNow(t, dir, cleanup.Options{})
			after := lance.Check(t, before, oracle.Change{Fragments: true, Versions: true, Unordered: true})
			if unnamed := after.Unnamed(); len(unnamed) > 0 {
				t.Errorf("nothing names %v", unnamed)
			}
			settled(t, lance, dir, 200)
			lance.OnTop(t, dir, made.Next)
		})
	}
}
