package compact

import (
	"errors"
	"fmt"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// What a table says itself takes the place of what was asked for.
func TestPolicyUnder(t *testing.T) {
	form := Policy{TargetRows: 7, MaxBytes: 8, Threshold: 0.5, MaxSourceFragments: 9, MaxSourceRows: 10, MaxSourceBytes: 11}
	all := table.Config{
		"lance.compaction.target_rows_per_fragment": "500", "lance.compaction.max_bytes_per_file": "+1000",
		"lance.compaction.materialize_deletions": "FALSE", "lance.compaction.materialize_deletions_threshold": "0.25",
		"lance.compaction.max_source_fragments": "1", "lance.compaction.max_source_rows": "2", "lance.compaction.max_source_bytes": "3",
	}
	tests := []struct {
		name string
		p    Policy
		c    table.Config
		want Policy
		own  string
	}{
		{"nothing", form, nil, form, "[]"},
		{"other keys", form, table.Config{"lance.compaction.batch_size": "x", "lance.auto_cleanup.interval": "x", "target_rows_per_fragment": "x", "LANCE.COMPACTION.TARGET_ROWS_PER_FRAGMENT": "x"}, form, "[]"},
		{"all of them", form, all, Policy{TargetRows: 500, MaxBytes: 1000, KeepDeleted: true, Threshold: 0.25, MaxSourceFragments: 1, MaxSourceRows: 2, MaxSourceBytes: 3},
			"[target_rows_per_fragment=500 max_bytes_per_file=+1000 materialize_deletions=false materialize_deletions_threshold=0.25 max_source_fragments=1 max_source_rows=2 max_source_bytes=3]"},
		{"one of them", form, table.Config{"lance.compaction.max_bytes_per_file": "1"}, Policy{TargetRows: 7, MaxBytes: 1, Threshold: 0.5, MaxSourceFragments: 9, MaxSourceRows: 10, MaxSourceBytes: 11}, "[max_bytes_per_file=1]"},
		{"any deleted row", Policy{}, table.Config{"lance.compaction.materialize_deletions_threshold": "0"}, Policy{Threshold: AnyDeleted}, "[materialize_deletions_threshold=0]"},
		{"deletions again", Policy{KeepDeleted: true}, table.Config{"lance.compaction.materialize_deletions": "true"}, Policy{}, "[materialize_deletions=true]"},
		{"more than an integer holds", Policy{}, table.Config{"lance.compaction.target_rows_per_fragment": "18446744073709551615"}, Policy{TargetRows: 1<<63 - 1}, "[target_rows_per_fragment=18446744073709551615]"},
	}
	for _, tt := range tests {
		got, own, err := tt.p.Under(tt.c)
		if err != nil || got != tt.want || fmt.Sprint(own) != tt.own {
			t.Errorf("%s: %+v, own %v, error %v", tt.name, got, own, err)
		}
	}
	// What somebody says who is at the table stands.
	settings := []Settings{SettingTargetRows, SettingMaxBytes, SettingDeletions, SettingMaxSourceFragments, SettingMaxSourceRows, SettingMaxSourceBytes}
	fixed := form
	for _, s := range settings {
		fixed.Fixed |= s
	}
	if got, own, err := fixed.Under(all); err != nil || got != fixed || len(own) != 0 {
		t.Errorf("fixed: %+v, own %v, error %v", got, own, err)
	}
	for _, key := range []string{"target_rows_per_fragment", "max_bytes_per_file", "materialize_deletions", "materialize_deletions_threshold", "max_source_fragments", "max_source_rows", "max_source_bytes"} {
		bad := table.Config{configPrefix + key: "7 apples"}
		_, _, err := form.Under(bad)
		if !errors.Is(err, table.ErrConfig) {
			t.Errorf("%s: error %v", key, err)
			continue
		}
		says(t, err.Error(), "lance.compaction."+key, `"7 apples"`)
		if _, _, err := fixed.Under(bad); err != nil {
			t.Errorf("%s, which is fixed: error %v", key, err)
		}
	}
}

// configure gives a table settings of its own.
func configure(tb testing.TB, s objects.Store, config map[string]string) {
	tb.Helper()
	txn := &pb.Transaction{Uuid: newUUID(), Operation: &pb.Transaction_UpdateConfig_{UpdateConfig: &pb.Transaction_UpdateConfig{}}}
	head := open(tb, s)
	m := proto.CloneOf(head.Manifest())
	m.Version++
	m.Config = config
	m.WriterFeatureFlags |= table.FlagTableConfig
	publishManifest(tb, s, head, m, txn)
}

// A table's own settings count for what is detected, planned and done; one that can't be read keeps everything as it is.
func TestRunUnderOwnSettings(t *testing.T) {
	const name = "many_appends"
	s := copyOf(t, name)
	before := open(t, s)
	rows, fragments := before.Rows(), len(before.Fragments())
	configure(t, s, map[string]string{"lance.compaction.target_rows_per_fragment": "1 million"})
	for _, dry := range []bool{true, false} {
		o := Options{Policy: Policy{TargetRows: 1000}}
		o.DryRun = dry
		r, err := Run(t.Context(), s, o)
		if err != nil || r.Changed || len(r.Plan.Tasks) != 0 || len(r.Plan.Left) != fragments {
			t.Fatalf("unreadable: %+v, error %v", r, err)
		}
		for _, l := range r.Plan.Left {
			if l.Kind != Unsupported {
				t.Errorf("left %+v", l)
			}
			says(t, l.Reason, "lance.compaction.target_rows_per_fragment", `"1 million"`)
		}
	}
	if plan, due, err := Detect(t.Context(), open(t, s), Policy{}); err != nil || due || len(plan.Left) != fragments {
		t.Errorf("detected %+v, due %t, error %v", plan, due, err)
	}
	configure(t, s, map[string]string{"lance.compaction.target_rows_per_fragment": fmt.Sprint((rows + 1) / 2)})
	if plan, due, err := Detect(t.Context(), open(t, s), Policy{}); err != nil || !due || len(plan.Own) != 1 {
		t.Errorf("detected %+v, due %t, error %v", plan, due, err)
	}
	r, err := Run(t.Context(), s, Options{Policy: Policy{TargetRows: 1}})
	if err != nil || !r.Changed || len(r.Plan.Own) != 1 {
		t.Fatalf("%+v, error %v", r, err)
	}
	if after := open(t, s); after.Rows() != rows || len(after.Fragments()) != 2 {
		t.Errorf("%d rows in %d fragments", after.Rows(), len(after.Fragments()))
	}
}

// A run takes no more than it may, however often it plans, and one run after the other comes to the same end.
func TestRunLimits(t *testing.T) {
	s := copyOf(t, "many_appends")
	before := open(t, s)
	rows := before.Rows()
	o := Options{}
	o.Policy.MaxSourceFragments = 3
	for n := len(before.Fragments()); n > 1; {
		r, err := Run(t.Context(), s, o)
		if err != nil || r.FragmentsRemoved < 2 || r.FragmentsRemoved > 3 || r.FragmentsAdded != 1 {
			t.Fatalf("%+v, error %v", r, err)
		}
		if n -= r.FragmentsRemoved - 1; len(open(t, s).Fragments()) != n {
			t.Fatalf("%d fragments, want %d", len(open(t, s).Fragments()), n)
		}
	}
	if after := open(t, s); after.Rows() != rows {
		t.Errorf("%d rows, want %d", after.Rows(), rows)
	}
	if r, err := Run(t.Context(), s, o); err != nil || r.Changed {
		t.Errorf("once more: %+v, error %v", r, err)
	}
}

// Sizes that the manifest does not say are those of the files, less the pages of columns that are gone.
func TestSurveySizes(t *testing.T) {
	s := copyOf(t, "many_appends")
	said := FactsOf(open(t, s))
	p := Policy{MaxBytes: 20_000}
	want, _, err := Survey(t.Context(), open(t, s), p)
	if err != nil {
		t.Fatal(err)
	}
	writer{tb: t, s: s}.put(&pb.Transaction{Operation: &pb.Transaction_UpdateConfig_{UpdateConfig: &pb.Transaction_UpdateConfig{}}}, func(m *pb.Manifest) {
		for _, f := range m.Fragments {
			f.Files[0].FileSizeBytes = 0
		}
	})
	if x := FactsOf(open(t, s)).Fragments[0]; x.Bytes != 0 {
		t.Errorf("a size that nobody says: %d", x.Bytes)
	}
	got, _, err := Survey(t.Context(), open(t, s), p)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := fmt.Sprint(MakePlan(got, p).Tasks), fmt.Sprint(MakePlan(want, p).Tasks); a != b {
		t.Errorf("planned %s, with sizes %s", a, b)
	}
	for i, x := range got.Fragments {
		if x.Bytes != said.Fragments[i].Bytes || x.Bytes == 0 {
			t.Errorf("fragment %d: %d bytes, the file has %d", x.ID, x.Bytes, said.Fragments[i].Bytes)
		}
	}
	writer{tb: t, s: s}.put(&pb.Transaction{Operation: &pb.Transaction_UpdateConfig_{UpdateConfig: &pb.Transaction_UpdateConfig{}}}, func(m *pb.Manifest) {
		m.Fragments[0].Files[0].Fields[0] = -2 // superseded
	})
	less, _, err := Survey(t.Context(), open(t, s), p)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := less.Fragments[0].Bytes, got.Fragments[0].Bytes; a >= b || a <= 0 {
		t.Errorf("without a column %d bytes of %d", a, b)
	}
}
