package shell

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/seaweedfs/seaweed-lance/internal/lance/lancetest"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
)

// configure makes a version of a table with settings of its own.
func configure(t *testing.T, dir string, config map[string]string) {
	t.Helper()
	head, err := table.Open(t.Context(), lancetest.Dir(t, dir, nil))
	if err != nil {
		t.Fatal(err)
	}
	m := proto.CloneOf(head.Manifest())
	m.Version++
	m.Config = config
	m.WriterFeatureFlags |= table.FlagTableConfig
	m.IndexSection, m.TransactionSection, m.TransactionSectionV13 = nil, nil, nil
	raw, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	b := append(binary.LittleEndian.AppendUint32(nil, uint32(len(raw))), raw...)
	b = append(binary.LittleEndian.AppendUint64(b, 0), 0, 0, 2, 0, 'L', 'A', 'N', 'C')
	if err := os.WriteFile(filepath.Join(dir, head.Naming().ManifestName(m.Version)), b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// A table's own settings come before defaults, and flags that are given before them.
func TestOwnSettings(t *testing.T) {
	dir := fixture(t, "many_appends")
	configure(t, dir, map[string]string{"lance.compaction.target_rows_per_fragment": "100", "lance.compaction.materialize_deletions": "false"})
	plan := decoded[planObject](t, Done, "plan", dir)
	if len(plan.Tasks) != 10 || strings.Join(plan.TableSettings, " ") != "target_rows_per_fragment=100 materialize_deletions=false" {
		t.Errorf("%d tasks by %v", len(plan.Tasks), plan.TableSettings)
	}
	if r := run(t, Env{}, "plan", dir); r.status != Done || !strings.Contains(r.stdout, "by the table's own settings: target_rows_per_fragment=100, materialize_deletions=false") {
		t.Errorf("status %d, %s", r.status, r.stdout)
	}
	// Also where it is the default that is given.
	plan = decoded[planObject](t, Done, "plan", dir, "-target_rows_per_fragment=1048576", "-materialize_deletions_percent=10")
	if len(plan.Tasks) != 1 || len(plan.TableSettings) != 0 || len(plan.Tasks[0].OutputRows) != 1 || plan.Tasks[0].OutputRows[0] != 1000 || plan.Tasks[0].Encoded > plan.Tasks[0].Bytes {
		t.Errorf("with flags: %+v", plan)
	}
	bytes := plan.Tasks[0].Bytes
	if plan = decoded[planObject](t, Done, "plan", dir, "-target_rows_per_fragment=1000", "-max_bytes_per_file", "20000"); len(plan.Tasks) < 2 {
		t.Errorf("%d bytes, cut at 20000: %d tasks", bytes, len(plan.Tasks))
	}
	if plan = decoded[planObject](t, Done, "plan", dir, "-max_source_bytes", "20000"); len(plan.Tasks) != 2 || len(plan.Left) < 20 || !strings.Contains(plan.Left[0].Reason, "another run") {
		t.Errorf("20000 bytes at most: %+v", plan)
	}

	const key, value = "lance.compaction.max_bytes_per_file", "1GB"
	configure(t, dir, map[string]string{key: value})
	before := tree(t, dir)
	for _, command := range []string{"plan", "compact"} {
		r := run(t, Env{}, command, dir)
		if want := map[string]int{"plan": Done, "compact": Refused}[command]; r.status != want || !strings.Contains(r.stdout+r.stderr, key) || !strings.Contains(r.stdout+r.stderr, value) {
			t.Errorf("%s: status %d, %s%s", command, r.status, r.stdout, r.stderr)
		}
	}
	if after := tree(t, dir); len(after) != len(before) {
		t.Errorf("%d files, were %d", len(after), len(before))
	}
	if o := decoded[compactObject](t, Done, "compact", dir, "-max_bytes_per_file=1073741824"); !o.Changed {
		t.Errorf("with the flag: %+v", o)
	}

	configure(t, dir, map[string]string{"lance.auto_cleanup.retain_versions": "20"})
	if o := decoded[cleanupObject](t, Done, "cleanup-versions", dir, "-retain_hours=0", "-min_versions_to_keep=1"); !o.Changed || o.Versions != 21 { // and a tagged one
		t.Errorf("cleanup: %+v", o)
	}
	configure(t, dir, map[string]string{"lance.auto_cleanup.retain_versions": "few"})
	if r := run(t, Env{}, "cleanup-versions", dir, "-retain_hours=0", "-min_versions_to_keep=1"); r.status != Refused || !strings.Contains(r.stderr, `lance.auto_cleanup.retain_versions is "few"`) {
		t.Errorf("cleanup: status %d, %s%s", r.status, r.stdout, r.stderr)
	}
}
