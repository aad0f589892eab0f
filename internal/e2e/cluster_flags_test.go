package e2e

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// weedCommand is a weed command without a cluster.
func weedCommand(t *testing.T, env []string, args ...string) *exec.Cmd {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, args...)
	cmd.Dir = t.TempDir()
	cmd.Env = append([]string{asWeed + "=1", "HOME=" + cmd.Dir, "TMPDIR=" + cmd.Dir}, env...)
	return cmd
}

func TestWorkerJobsFlag(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		env    []string
		args   []string
		status int
		want   string
	}{
		"help of the command": {args: []string{"worker", "-h"}, status: 2, want: "\n  -jobs string"},
		"help command":        {args: []string{"help", "worker"}, status: 0, want: "\n  -jobs string"},
		"both names":          {args: []string{"worker", "-jobs=lance_compact", "-jobType=vacuum"}, status: 2, want: "-jobs and -jobType"},
		"both names alike":    {args: []string{"worker", "-jobType", "ec", "-jobs", "ec"}, status: 2, want: "-jobs and -jobType"},
		"a job of no build":   {args: []string{"worker", "-jobs=lance_nothing"}, status: 1, want: `unknown job type "lance_nothing"`},
		"JOBS of build tools": {env: []string{"JOBS=8"}, args: []string{"worker", "-jobType=lance_nothing"}, status: 1, want: `unknown job type "lance_nothing"`},
		"unknown command":     {args: []string{"lances"}, status: 2, want: `unknown subcommand "lances"`},
		"lance without more":  {args: []string{"lance"}, status: 2, want: "weed lance inspect"},
		"lance, no table":     {args: []string{"lance", "inspect", "no-such-directory"}, status: 1, want: "no-such-directory"},
		"lance, wrong flag":   {args: []string{"lance", "compact", "-no", "x"}, status: 2, want: "-no"},
		"lance among all":     {args: []string{"help"}, status: 0, want: "    lance "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out := runCommand(t, weedCommand(t, c.env, c.args...))
			if text := out.stdout + out.stderr; out.status != c.status || !strings.Contains(text, c.want) {
				t.Errorf("status %d, printed %s\nwant status %d and %q", out.status, text, c.status, c.want)
			}
		})
	}
}
