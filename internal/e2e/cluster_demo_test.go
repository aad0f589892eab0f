package e2e

import (
	"bufio"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/weed/cluster"
)

// checkDemo looks at what the demo showed and at what it left behind.
func checkDemo(t *testing.T, stdout, dir string) {
	t.Helper()
	for _, want := range []string{compactJob, cleanupJob, "before", "after", "fragments"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("the demo doesn't show %q", want)
		}
	}
	if left, err := filepath.Glob(filepath.Join(dir, "lance-demo-*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v (%v)", left, err)
	}
}

func TestDemoEnds(t *testing.T) {
	t.Parallel()
	cmd := weedCommand(t, nil, "lance", "demo", "-exit")
	out := runCommand(t, cmd)
	checkDemo(t, out.stdout, cmd.Dir)
	if out.status != 0 || t.Failed() {
		t.Fatalf("status %d\nstdout %s\nstderr %s", out.status, out.stdout, out.stderr)
	}
}

// TestDemoStays looks at the page that stays open, and then presses Ctrl-C.
func TestDemoStays(t *testing.T) {
	t.Parallel()
	cmd := weedCommand(t, nil, "lance", "demo")
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	page := regexp.MustCompile(`open at (\S+) until Ctrl-C`)
	var shown strings.Builder
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		shown.WriteString(lines.Text() + "\n")
		found := page.FindStringSubmatch(lines.Text())
		if found == nil {
			continue
		}
		status, body, err := cluster.Get(t.Context(), found[1])
		if err != nil || status != http.StatusOK || !strings.Contains(body, "<html") {
			t.Errorf("the page %s: status %d, %v", found[1], status, err)
		}
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
	}
	err = cmd.Wait()
	checkDemo(t, shown.String(), cmd.Dir)
	if err != nil || t.Failed() {
		t.Fatalf("%v\nstdout %s", err, shown.String())
	}
}
