package oracle

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// scripts are the Python side.
//
//go:embed py/*.py
var scripts embed.FS

// home is where environments are kept.
func home() (string, error) {
	if dir := os.Getenv("SEAWEED_LANCE_ORACLES"); dir != "" {
		return dir, nil
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("finding a place for Python environments: %w", err)
	}
	return filepath.Join(cache, "seaweed-lance", "oracles"), nil
}

// Environment returns the interpreter of a release's environment, which it
// makes when it is not there yet.
func Environment(ctx context.Context, r Release) (string, error) {
	dir, err := home()
	if err != nil {
		return "", err
	}
	pins := r.packages()
	// Another set of pins is another environment.
	sum := sha256.Sum256([]byte(strings.Join(pins, "\n")))
	env := filepath.Join(dir, string(r)+"-"+hex.EncodeToString(sum[:4]))
	python := interpreter(env)
	ready := filepath.Join(env, ".ready")
	if _, err := os.Stat(ready); err == nil {
		return python, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	unlock, err := lock(env + ".lock")
	if err != nil {
		return "", fmt.Errorf("locking %s: %w", env, err)
	}
	defer unlock()
	if _, err := os.Stat(ready); err == nil {
		return python, nil
	}
	// Whatever an interrupted attempt left is no base to build on.
	if err := os.RemoveAll(env); err != nil {
		return "", err
	}
	base := os.Getenv("SEAWEED_LANCE_PYTHON")
	if base == "" {
		base = "python3"
	}
	if err := command(ctx, base, "-m", "venv", env); err != nil {
		return "", err
	}
	install := append([]string{"-m", "pip", "install", "--quiet", "--no-input", "--only-binary=:all:"}, pins...)
	if err := command(ctx, python, install...); err != nil {
		return "", err
	}
	if err := os.WriteFile(ready, []byte(strings.Join(pins, "\n")+"\n"), 0o644); err != nil {
		return "", err
	}
	return python, nil
}

// interpreter is where venv puts Python.
func interpreter(env string) string {
	if runtime.GOOS == "windows" {
		return filepath.Join(env, "Scripts", "python.exe")
	}
	return filepath.Join(env, "bin", "python")
}

// command runs a program and has its output in the error.
func command(ctx context.Context, name string, args ...string) error {
	out, err := exec.CommandContext(ctx, name, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("running %s %s: %w: %s", name, strings.Join(args, " "), err, out)
	}
	return nil
}

// unpack writes the scripts into dir.
func unpack(dir string) error {
	return fs.WalkDir(scripts, "py", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := scripts.ReadFile(name)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, d.Name()), text, 0o644)
	})
}
