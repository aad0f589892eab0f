package local_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/e2e/oracle"
	"github.com/seaweedfs/seaweed-lance/internal/lance/cleanup"
	"github.com/seaweedfs/seaweed-lance/internal/lance/compact"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
)

// refusal runs both jobs on a table that they must leave alone, and says so
// by naming a file. wantCompact is false where only cleanup can notice.
func refusal(t *testing.T, lance *oracle.Lance, dir, what, file string, wantCompact bool) {
	t.Helper()
	before := listing(t, lance, dir)
	_, err := compact.Run(context.Background(), store(t, dir), compact.Options{Policy: compact.Policy{TargetRows: 60}})
	if wantCompact {
		refusedWith(t, what+": compaction", file, err)
		same(t, what+": compaction", before, listing(t, lance, dir))
	}
	before = listing(t, lance, dir)
	_, err = cleanup.Run(context.Background(), store(t, dir), cleanup.Options{})
	refusedWith(t, what+": cleanup", file, err)
	same(t, what+": cleanup", before, listing(t, lance, dir))
}

func refusedWith(t *testing.T, what, file string, err error) {
	t.Helper()
	if !errors.Is(err, table.ErrRefused) && !errors.Is(err, table.ErrCorrupt) {
		t.Errorf("%s: %v, want a refusal", what, err)
	} else if !strings.Contains(err.Error(), file) {
		t.Errorf("%s: %v, which does not name %s", what, err, file)
	}
}

// manifests are the names of main's manifests, oldest first.
func manifests(t *testing.T, dir string) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(dir, "_versions", "*.manifest"))
	if err != nil || len(all) < 3 {
		t.Fatalf("manifests: %v, %v", all, err)
	}
	slices.Sort(all)
	slices.Reverse(all)
	return all
}

// patch adds encoded fields to the manifest message of a file; the last value
// of a field is the one that counts.
func patch(t *testing.T, name string, fields []byte) {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	footer := slices.Clone(b[len(b)-16:])
	at := binary.LittleEndian.Uint64(footer)
	n := binary.LittleEndian.Uint32(b[at:])
	if int(at)+4+int(n)+16 != len(b) {
		t.Fatalf("%s does not end with its manifest", name)
	}
	binary.LittleEndian.PutUint32(b[at:], n+uint32(len(fields)))
	b = append(append(b[:len(b)-16], fields...), footer...)
	if err := os.WriteFile(name, b, 0o644); err != nil {
		t.Fatal(err)
	}
}

const (
	readerFlags = 9
	writerFlags = 10
)

// flag encodes a varint field.
func flag(field int, bits uint64) []byte {
	return binary.AppendUvarint([]byte{byte(field << 3)}, bits)
}

// TestUnknownFlags sets bits that this build does not know, one at a time, in
// the newest manifest and in an old one.
func TestUnknownFlags(t *testing.T) {
	lance := oracle.Start(t, oracle.Newest)
	root := t.TempDir()
	made, dir := filepath.Join(root, "made"), filepath.Join(root, "t")
	lance.Make(t, "many_appends", made, oracle.Table{})
	type flagged struct {
		what   string
		fields []byte
	}
	var all []flagged
	for bit := 6; bit <= 20; bit++ {
		for field, word := range map[int]string{readerFlags: "reader", writerFlags: "writer"} {
			all = append(all, flagged{fmt.Sprintf("%s flag %d", word, 1<<bit), flag(field, 1<<bit)})
		}
	}
	for _, f := range all {
		for i, which := range []string{"newest", "old"} {
			lance.Copy(t, made, dir)
			names := manifests(t, dir)
			name := names[len(names)-1]
			if i == 1 {
				name = names[1]
			}
			patch(t, name, f.fields)
			refusal(t, lance, dir, f.what+", "+which, filepath.Base(name), i == 0)
		}
	}
}

// TestRefusedTables runs on tables that Lance wrote with features beyond this module.
func TestRefusedTables(t *testing.T) {
	lance := oracle.Start(t, oracle.Newest)
	for _, r := range lance.Recipes(t) {
		if !r.Refused {
			continue
		}
		dir := filepath.Join(t.TempDir(), r.Name)
		lance.Make(t, r.Name, dir, oracle.Table{FileVersion: r.Files[0]})
		before := lance.Snapshot(t, dir)
		refusal(t, lance, dir, r.Name, filepath.Base(before.Newest().File), true)
	}
}

// TestBrokenManifest cuts manifests and empties them.
func TestBrokenManifest(t *testing.T) {
	lance := oracle.Start(t, oracle.Newest)
	root := t.TempDir()
	made, dir := filepath.Join(root, "made"), filepath.Join(root, "t")
	lance.Make(t, "many_appends", made, oracle.Table{})
	for i, which := range []string{"newest", "old"} {
		for _, part := range []float64{0, 0.01, 0.3, 0.9, 0.999} {
			lance.Copy(t, made, dir)
			names := manifests(t, dir)
			name := names[len(names)-1]
			if i == 1 {
				name = names[1]
			}
			info, err := os.Stat(name)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Truncate(name, int64(part*float64(info.Size()))); err != nil {
				t.Fatal(err)
			}
			refusal(t, lance, dir, fmt.Sprintf("%s manifest cut at %g", which, part), filepath.Base(name), i == 0)
		}
	}
}

// TestBrokenDataFile cuts one data file in many places. Its fragment stays, with
// a reason that names the file, and the others are merged around it.
func TestBrokenDataFile(t *testing.T) {
	lance := oracle.Start(t, oracle.Newest)
	root := t.TempDir()
	made, dir := filepath.Join(root, "made"), filepath.Join(root, "t")
	for _, file := range []string{"2.0", "2.2"} {
		if err := os.RemoveAll(made); err != nil {
			t.Fatal(err)
		}
		lance.Make(t, "many_appends", made, oracle.Table{FileVersion: file, Fragments: 9})
		victim := lance.Snapshot(t, made).Newest().Fragments[4]
		name := filepath.Join("data", victim.Files[0].Path)
		for cut := int64(0); cut < victim.Files[0].Size; cut += max(victim.Files[0].Size/17, 1) {
			lance.Copy(t, made, dir)
			if err := os.Truncate(filepath.Join(dir, name), cut); err != nil {
				t.Fatal(err)
			}
			r := compactNow(t, dir, 0)
			i := slices.IndexFunc(r.Plan.Left, func(l compact.Left) bool { return l.Fragment == victim.ID })
			if i < 0 || r.Plan.Left[i].Kind != compact.Broken || !strings.Contains(r.Plan.Left[i].Reason, filepath.Base(name)) {
				t.Errorf("%s cut at %d: plan %+v", name, cut, r.Plan)
			}
			var left oracle.Snapshot
			lance.Do(t, "manifests", oracle.Args{"root": dir}, &left.Manifests)
			if frags := left.Newest().Fragments; len(frags) != 2 || frags[0].ID != victim.ID || frags[1].PhysicalRows != 8*25 {
				t.Errorf("%s cut at %d: left are %+v, want the broken one and one of all others", name, cut, frags)
			}
			cleanNow(t, dir, cleanup.Options{})
			if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
				t.Errorf("cut at %d: %v", cut, err)
			}
			settled(t, lance, dir, 0)
		}
	}
}
