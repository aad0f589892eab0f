package oracle

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// LanceDB is the release of lancedb for Node that writes tables for tests.
const LanceDB = "0.39.0"

// nodePackages are pinned as the packages of pylance are.
var nodePackages = []string{"@lancedb/lancedb@" + LanceDB, "apache-arrow@18.1.0"}

//go:embed js/lancedb.cjs
var nodeScript []byte

// node returns the directory in which lancedb for Node is installed; it is made when it is not there yet.
func node(ctx context.Context) (string, error) {
	root, err := home()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(root, "node-lancedb-"+LanceDB)
	ready := filepath.Join(dir, ".ready")
	if err := os.MkdirAll(root, 0o755); err != nil {
		return "", err
	}
	unlock, err := lock(dir + ".lock")
	if err != nil {
		return "", fmt.Errorf("locking %s: %w", dir, err)
	}
	defer unlock()
	if _, err := os.Stat(ready); err == nil {
		return dir, nil
	}
	// Whatever an interrupted attempt left is no base to build on.
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	args := append([]string{"install", "--prefix", dir, "--no-audit", "--no-fund", "--silent"}, nodePackages...)
	if err := command(ctx, "npm", args...); err != nil {
		return "", err
	}
	return dir, os.WriteFile(ready, []byte(strings.Join(nodePackages, "\n")+"\n"), 0o644)
}

// Node has lancedb for Node write a table "t.lance" below dir, and what it reads from it to an Arrow
// stream. Without npm the test is skipped; under CI it fails.
func Node(tb testing.TB, dir, stream string) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	at, err := node(ctx)
	if err != nil {
		if os.Getenv("CI") == "true" {
			tb.Fatalf("no lancedb %s for Node, which CI must have: %v", LanceDB, err)
		}
		tb.Skipf("needs lancedb %s for Node, which could not be set up: %v", LanceDB, err)
	}
	// Beside its packages, where require looks for them.
	script := filepath.Join(at, "write.cjs")
	if err := os.WriteFile(script, nodeScript, 0o644); err != nil {
		tb.Fatal(err)
	}
	if err := command(ctx, "node", script, dir, stream); err != nil {
		tb.Fatal(err)
	}
}
