package e2e

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/e2e/oracle"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// bothDoors reads the table by Lance through S3, and by `weed lance` through the
// filer, and compares every value.
func (c *testCluster) bothDoors(t *testing.T, path string) {
	t.Helper()
	var theirs []map[string]any
	startLance(t).Do(t, "run", oracle.Args{
		"code": `
import math
def plain(v):
    if isinstance(v, list):
        return [plain(x) for x in v]
    if isinstance(v, float) and not math.isfinite(v):
        return "NaN" if math.isnan(v) else "Infinity" if v > 0 else "-Infinity"
    return v
rows = lance.dataset(uri, storage_options=storage_options).to_table().to_pylist()
result = [{k: plain(v) for k, v in r.items()} for r in rows]
`,
		"uri":             "s3://" + path,
		"storage_options": c.storage(),
	}, &theirs)
	var ours struct {
		Rows []map[string]any `json:"rows"`
	}
	cmd := c.Command("lance", "head", path, "-n=1000000", "-full", "-json", "-filer="+c.Filer())
	cmd.Env = append(cmd.Env, c.miniKey(t)...)
	out := runCommand(t, cmd)
	if err := json.Unmarshal([]byte(out.stdout), &ours); err != nil || out.status != 0 {
		t.Fatalf("status %d, %v: %s", out.status, err, out.stderr)
	}
	if len(theirs) < 1000 || len(theirs[0]) < 2 || len(ours.Rows) != len(theirs) {
		t.Fatalf("%d rows through the filer, %d through S3", len(ours.Rows), len(theirs))
	}
	for i, row := range theirs {
		if !sameJSON(row, ours.Rows[i]) {
			t.Fatalf("row %d is\n%v through the filer,\n%v through S3", i, ours.Rows[i], row)
		}
	}
}

// sameJSON compares decoded JSON, numbers as far as 32 bits tell them apart.
func sameJSON(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		m, ok := b.(map[string]any)
		if !ok || len(a) != len(m) {
			return false
		}
		for k, v := range a {
			if !sameJSON(v, m[k]) {
				return false
			}
		}
		return true
	case []any:
		l, ok := b.([]any)
		if !ok || len(a) != len(l) {
			return false
		}
		for i := range a {
			if !sameJSON(a[i], l[i]) {
				return false
			}
		}
		return true
	case float64:
		f, ok := b.(float64)
		return ok && math.Float32bits(float32(a)) == math.Float32bits(float32(f))
	default:
		return a == b
	}
}

// miniKey is the variable that gives a command the key which a mini has made
// for itself; nothing for other clusters.
func (c *testCluster) miniKey(t *testing.T) []string {
	t.Helper()
	if c.options.Separate || c.options.Security != "" {
		return nil
	}
	key, err := os.ReadFile(filepath.Join(c.options.Dir, ".mini_sse_kek"))
	if err != nil {
		t.Fatal(err)
	}
	return []string{"WEED_S3_SSE_KEK=" + strings.TrimSpace(string(key))}
}

// sameBytes compares objects through S3 and through the filer byte for byte,
// with a process that has the key.
func (c *testCluster) sameBytes(t *testing.T, names []string) {
	t.Helper()
	filers := c.filers(t)
	for _, name := range names {
		theirs, err := c.S3().Get(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		ours, _, err := objects.ReadAll(t.Context(), filers.Table("/buckets"), name, 1<<30)
		if err != nil || !bytes.Equal(ours, theirs.Body) {
			t.Errorf("%s: %d bytes through the filer (%v), %d through S3", name, len(ours), err, len(theirs.Body))
		}
	}
}
