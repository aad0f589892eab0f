package local_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/e2e/oracle"
)

// peakAbove has the kernel measure from now on. What it returns writes how many bytes more than now the process held
// at most.
func peakAbove(file string) (write func() error, err error) {
	runtime.GC()
	// Since Linux 4.0: the peak starts over from what is resident now.
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
		return nil, err
	}
	idle, err := resident("VmRSS:")
	if err != nil {
		return nil, err
	}
	return func() error {
		peak, err := resident("VmHWM:")
		if err != nil {
			return err
		}
		return os.WriteFile(file, strconv.AppendInt(nil, peak-idle, 10), 0o644)
	}, nil
}

// resident reads a size from /proc/self/status, in bytes.
func resident(key string) (int64, error) {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	for line := range bytes.Lines(text) {
		if rest, ok := bytes.CutPrefix(line, []byte(key)); ok {
			var kb int64
			_, err := fmt.Sscan(string(rest), &kb)
			return kb << 10, err
		}
	}
	return 0, errors.New("/proc/self/status has no " + key)
}

// largeRows writes fragments of rows of a megabyte and a half. What they hold is told by the id and the length; every
// fifth row of some of the fragments is deleted, so that pages are copied, and rows are decoded and encoded.
const largeRows = `
import os
block = os.urandom(4 << 20)
n = 3 << 19
for k in range(fragments):
    ids = range(25 * k, 25 * k + 25)
    cells = [block[i * 7919 % (1 << 20):][:n + i] for i in ids]
    kind = pa.large_string() if text else pa.binary()
    if text:
        cells = [c.hex()[:n + i] for c, i in zip(cells, ids)]
    t = pa.table({"id": pa.array(ids, pa.int64()), "b": pa.array(cells, kind)})
    lance.write_dataset(t, uri, mode="append" if k else "create", data_storage_version=version)
if deleted:
    lance.dataset(uri).delete("id % 5 = 1 and id % 100 < 50")
`

// largeDigest is a digest of each row.
const largeDigest = `
import hashlib
result = {}
for b in lance.dataset(uri).to_batches(batch_size=4):
    for i, v in zip(b.column("id").to_pylist(), b.column("b")):
        result[str(i)] = hashlib.blake2b(v.as_buffer(), digest_size=8).hexdigest()
`

// TestCompactLargeRows compacts rows of a megabyte and a half, together more than 2 GiB in full runs (#19), under memory
// budgets: the process holds no more than that (#13).
func TestCompactLargeRows(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs Linux to measure")
	}
	lance := oracle.Start(t, oracle.Newest)
	for _, c := range []struct {
		version       string
		text, deleted bool
		budget        int64
		fragments     int // in full runs
	}{
		{"2.2", false, true, 96 << 20, 60},
		{"2.2", false, true, 0, 60},
		{"2.2", false, false, 96 << 20, 6},
		{"2.1", true, true, 128 << 20, 60},
		{"2.0", false, true, 128 << 20, 6},
	} {
		if !full() && (c.budget != 64<<20 || !c.deleted) {
			continue
		}
		fragments := c.fragments
		if !full() {
			fragments = 6
		}
		name := fmt.Sprintf("files=%s,text=%v,deleted=%v,budget=%d", c.version, c.text, c.deleted, c.budget>>20)
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "t")
			lance.Do(t, "run", oracle.Args{"code": largeRows, "uri": dir, "version": c.version, "fragments": fragments, "text": c.text, "deleted": c.deleted}, nil)
			var was, is map[string]string
			lance.Do(t, "run", oracle.Args{"code": largeDigest, "uri": dir}, &was)
			peak := filepath.Join(t.TempDir(), "peak")
			p := launch(t, job{Dir: dir, Kind: "compact", Memory: c.budget, Peak: peak})
			p.begin(t)
			if err := p.end(); err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(peak)
			if err != nil {
				t.Fatal(err)
			}
			held, err := strconv.ParseInt(string(text), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			budget := c.budget
			if budget == 0 {
				budget = 256 << 20
			}
			t.Logf("%d MiB of %d", held>>20, budget>>20)
			if held > budget {
				t.Errorf("the process held %d MiB, its budget was %d", held>>20, budget>>20)
			}
			lance.Do(t, "run", oracle.Args{"code": largeDigest, "uri": dir}, &is)
			for id, d := range was {
				if is[id] != d {
					t.Fatalf("row %s is not what it was", id)
				}
			}
			if len(is) != len(was) || len(lance.FragmentRows(t, dir)) != 1 {
				t.Errorf("%d rows became %d, in %d fragments", len(was), len(is), len(lance.FragmentRows(t, dir)))
			}
			settled(t, lance, dir, 0)
		})
	}
}
