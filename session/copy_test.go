package session

import (
	"encoding/binary"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
)

// copyTable copies files, manifests last and each of them at once, as a store has it.
func copyTable(from, to string, upTo uint64) error {
	var manifests []string
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if filepath.Dir(rel) == table.VersionsDir {
			manifests = append(manifests, rel)
			return nil
		}
		return copyFile(path, filepath.Join(to, rel))
	})
	if err != nil {
		return err
	}
	for i := len(manifests) - 1; i >= 0; i-- { // the oldest first, with V2 names
		if upTo != 0 && versionIn(manifests[i]) > upTo {
			continue
		}
		if err := copyFile(filepath.Join(from, manifests[i]), filepath.Join(to, manifests[i])); err != nil {
			return err
		}
	}
	return nil
}

func versionIn(name string) uint64 {
	var v uint64
	if _, err := fmt.Sscanf(filepath.Base(name), "%d.manifest", &v); err != nil {
		return 0
	}
	if len(filepath.Base(name)) == len("18446744073709551614.manifest") {
		v = ^v
	}
	return v
}

// copied makes the times of files differ: an inode may be used again at once.
var copied atomic.Int64

func copyFile(from, to string) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return writeFile(to, b)
}

func writeFile(to string, b []byte) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
		return err
	}
	n := copied.Add(1)
	tmp := filepath.Join(filepath.Dir(to), fmt.Sprintf(".tmp-%s-%d", filepath.Base(to), n))
	if err := os.WriteFile(tmp, b, 0o666); err != nil {
		return err
	}
	at := time.Unix(1_700_000_000, n*1000)
	if err := os.Chtimes(tmp, at, at); err != nil {
		return err
	}
	return os.Rename(tmp, to)
}

// encode makes a manifest object without other sections.
func encode(tb testing.TB, t *table.Table) []byte {
	tb.Helper()
	m := t.Manifest()
	m.IndexSection, m.TransactionSection, m.TransactionSectionV13 = nil, nil, nil
	raw, err := proto.Marshal(m)
	if err != nil {
		tb.Fatal(err)
	}
	b := binary.LittleEndian.AppendUint32(nil, uint32(len(raw)))
	b = append(b, raw...)
	b = binary.LittleEndian.AppendUint64(b, 0)
	return append(b, "\x00\x00\x02\x00LANC"...)
}
