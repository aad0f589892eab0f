package shell

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/session"
)

// result is what a run printed and how it ended.
type result struct {
	status         int
	stdout, stderr string
}

func run(t *testing.T, env Env, args ...string) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	status := Run(t.Context(), args, &stdout, &stderr, env)
	return result{status, stdout.String(), stderr.String()}
}

func TestWrongUsage(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct {
		args []string
		want string // in stderr
	}{
		"nothing":               {nil, "Usage:"},
		"unknown subcommand":    {[]string{"bogus"}, `unknown subcommand "bogus"`},
		"no table":              {[]string{"inspect"}, "no TABLE"},
		"empty table":           {[]string{"inspect", ""}, "TABLE is empty"},
		"two tables":            {[]string{"plan", "a", "b"}, "one TABLE"},
		"unknown flag":          {[]string{"plan", "-x", "a"}, "-x"},
		"flag of another":       {[]string{"inspect", "-dry-run", "a"}, "-dry-run"},
		"target of no rows":     {[]string{"plan", "-target_rows_per_fragment=0", "a"}, "from 1 on"},
		"target that is a word": {[]string{"compact", dir, "-target_rows_per_fragment=many"}, "whole number"},
		"target with a tail":    {[]string{"compact", "-target_rows_per_fragment=12x", dir}, "whole number"},
		"negative retention":    {[]string{"cleanup-versions", "-retain_hours=-1", "a"}, "from 0 to"},
		"retention too long":    {[]string{"cleanup-versions", "-retain_hours=9999999", "a"}, "from 0 to"},
		"filer without port":    {[]string{"inspect", "-filer=host", "a/b/c"}, "host:port"},
		"filer list of nothing": {[]string{"inspect", "-filer=,", "a/b/c"}, "no address"},
		"name of two parts":     {[]string{"inspect", "-filer=host:8888", "a/b"}, "bucket/namespace/table"},
		"negative rows":         {[]string{"head", "-n=-1", "a"}, "from 0 on"},
		"no cluster client":     {[]string{"inspect", "-filer=host:8888", "a/b/c"}, "no client"},
		"demo with a table":     {[]string{"demo", "a"}, "no arguments"},
		"no demo":               {[]string{"demo"}, "no demo"},
	} {
		t.Run(name, func(t *testing.T) {
			r := run(t, Env{}, c.args...)
			if r.status != Usage || r.stdout != "" || !strings.Contains(r.stderr, c.want) {
				t.Errorf("status %d, stdout %q, stderr %q; want status 2 and %q on stderr", r.status, r.stdout, r.stderr, c.want)
			}
		})
	}
}

func TestHelpIsNoError(t *testing.T) {
	for _, args := range [][]string{{"-h"}, {"help"}, {"inspect", "-h"}, {"help", "compact"}, {"cleanup-versions", "--help"}} {
		r := run(t, Env{}, args...)
		if r.status != Done || !strings.Contains(r.stdout, "Usage:") || r.stderr != "" {
			t.Errorf("%v: status %d, stdout %q, stderr %q", args, r.status, r.stdout, r.stderr)
		}
	}
	// Every setting of the jobs' forms is a flag.
	for command, settings := range map[string][]string{
		"head":             {"-n", "-columns", "-full", "-version", "-row-ids", "-json", "-filer"},
		"pages":            {"-columns", "-version", "-json"},
		"plan":             {"-target_rows_per_fragment", "-max_bytes_per_file", "-min_fragments", "-materialize_deletions_percent", "-max_source_bytes", "-memory_budget_mb"},
		"compact":          {"-target_rows_per_fragment", "-max_bytes_per_file", "-min_fragments", "-materialize_deletions_percent", "-max_source_bytes", "-memory_budget_mb", "-dry-run", "-json", "-filer"},
		"cleanup-versions": {"-retain_hours", "-min_versions_to_keep", "-dry-run", "-json", "-filer"},
	} {
		help := run(t, Env{}, command, "-h").stdout
		for _, s := range settings {
			if !strings.Contains(help, "\n  "+s) {
				t.Errorf("%s -h doesn't show %s:\n%s", command, s, help)
			}
		}
	}
}

func TestNoTable(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{filepath.Join(t.TempDir(), "missing"), t.TempDir(), file} {
		for _, command := range []string{"inspect", "schema", "head", "pages", "plan", "compact", "cleanup-versions"} {
			r := run(t, Env{}, command, dir)
			if r.status != Failed || r.stdout != "" || !strings.Contains(r.stderr, dir) {
				t.Errorf("%s: status %d, stdout %q, stderr %q; want status 1 and the directory named", command, r.status, r.stdout, r.stderr)
			}
			r = run(t, Env{}, command, dir, "-json")
			var o struct {
				Changed *bool
				Error   string
			}
			if err := json.Unmarshal([]byte(r.stdout), &o); err != nil || r.status != Failed || o.Changed == nil || *o.Changed || o.Error == "" {
				t.Errorf("%s -json: status %d, stdout %q (%v)", command, r.status, r.stdout, err)
			}
		}
	}
}

func TestClusterTable(t *testing.T) {
	gone := errors.New("no such bucket")
	encrypted := errors.New("encrypted")
	var closed int
	env := Env{
		Refusals: []error{encrypted},
		Table: func(_ context.Context, filers []string, name string) (session.Location, func(), error) {
			if got := strings.Join(filers, "+"); got != "a:1+b:2" {
				t.Errorf("filers %s", got)
			}
			switch name {
			case "lab/ml/gone":
				return session.Location{}, nil, gone
			case "lab/ml/sealed":
				return session.Location{}, nil, fmt.Errorf("%s: %w", name, encrypted)
			}
			return session.Directory(t.TempDir()), func() { closed++ }, nil
		},
	}
	for _, c := range []struct {
		table, want string
		status      int
	}{
		{"lab/ml/gone", gone.Error(), Failed},
		{"lab/ml/sealed", encrypted.Error(), Refused},
		{"/lab/ml/empty/", table.ErrNoTable.Error(), Failed},
	} {
		r := run(t, env, "plan", c.table, "-filer", " a:1, b:2 ,")
		if r.status != c.status || !strings.Contains(r.stderr, c.want) {
			t.Errorf("%s: status %d, stderr %q; want %d and %q", c.table, r.status, r.stderr, c.status, c.want)
		}
	}
	if closed != 1 {
		t.Errorf("%d stores were closed, want the one that was opened", closed)
	}
}

func TestDemo(t *testing.T) {
	for _, c := range []struct {
		args []string
		stay bool
		err  error
		want int
	}{
		{[]string{"demo"}, true, nil, Done},
		{[]string{"demo", "-exit"}, false, nil, Done},
		{[]string{"demo", "-exit"}, false, errors.New("no port"), Failed},
	} {
		r := run(t, Env{Demo: func(_ context.Context, _, _ io.Writer, stay bool) error {
			if stay != c.stay {
				t.Errorf("%v: stay is %v", c.args, stay)
			}
			return c.err
		}}, c.args...)
		if r.status != c.want {
			t.Errorf("%v: status %d, want %d", c.args, r.status, c.want)
		}
	}
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stdout, stderr bytes.Buffer
	status := Run(ctx, []string{"inspect", t.TempDir()}, &stdout, &stderr, Env{})
	if status != Failed || !strings.Contains(stderr.String(), "interrupted") {
		t.Errorf("status %d, stderr %q", status, stderr.String())
	}
}
