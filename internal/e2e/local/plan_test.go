package local_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/e2e/oracle"
	"github.com/seaweedfs/seaweed-lance/internal/lance/compact"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
)

// TestPlanAsLance plans as Lance does, by the settings that Lance wrote into the table. Where Lance does nothing because its first task
// would be more than a run is to merge, ours does a part of it.
func TestPlanAsLance(t *testing.T) {
	lance := oracle.Start(t, oracle.Newest)
	seeds := 40
	if full() {
		seeds = 400
	}
	empty, tasks := 0, 0
	for seed := range seeds {
		dir := filepath.Join(t.TempDir(), "t")
		var made struct {
			Config map[string]string
			Tasks  [][]uint64
		}
		lance.Do(t, "make_planned", oracle.Args{"uri": dir, "seed": seed}, &made)
		r, err := compact.Run(t.Context(), store(t, dir), compact.Options{DryRun: true})
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		ours := [][]uint64{}
		for _, x := range r.Plan.Tasks {
			ours = append(ours, x.Fragments)
		}
		limited := made.Config["max_source_fragments"] != "" || made.Config["max_source_rows"] != ""
		if len(made.Tasks) == 0 && limited {
			empty++
			continue
		}
		tasks += len(ours)
		if fmt.Sprint(ours) != fmt.Sprint(made.Tasks) {
			t.Errorf("seed %d, %v: tasks %v, Lance's %v", seed, made.Config, ours, made.Tasks)
		}
		if len(r.Plan.Own) != len(made.Config) {
			t.Errorf("seed %d, %v: the plan heeds %v", seed, made.Config, r.Plan.Own)
		}
	}
	if tasks < seeds/2 || empty > seeds/4 {
		t.Errorf("%d tasks in %d tables, %d of them left alone by Lance for their size", tasks, seeds, empty)
	}
}

// TestSettingsAsLance takes for a setting what Lance takes, but for values that make no sense.
func TestSettingsAsLance(t *testing.T) {
	lance := oracle.Start(t, oracle.Newest)
	counts := []string{"500", "+500", "0500", "18446744073709551615", " 500", "500 ", "5e2", "500.0", "0x1f4", "5_00", "-1", "", "abc", "18446744073709551616", "++5", "0"}
	settings := map[string][]string{
		"target_rows_per_fragment":        counts,
		"max_bytes_per_file":              counts,
		"max_source_fragments":            counts,
		"max_source_rows":                 counts,
		"max_source_bytes":                counts,
		"materialize_deletions":           {"true", "false", "True", "FALSE", "1", "0", "yes", "", " true", "t"},
		"materialize_deletions_threshold": {"0", "0.1", ".1", "1.", "1", "2", "1e-1", "+0.3", "inf", "Infinity", "0.1f", "10%", "", " 0.1", "1_0", "0x1p-2", "nan", "-0.5"},
	}
	stricter := map[string]bool{"target_rows_per_fragment 0": true, "max_bytes_per_file 0": true, "materialize_deletions_threshold nan": true, "materialize_deletions_threshold -0.5": true}
	for key, values := range settings {
		var theirs map[string]bool
		lance.Do(t, "reads_settings", oracle.Args{"uri": filepath.Join(t.TempDir(), "t"), "key": key, "values": values}, &theirs)
		for _, v := range values {
			_, _, err := compact.Policy{}.Under(table.Config{"lance.compaction." + key: v})
			if ours := err == nil; ours != (theirs[v] && !stricter[key+" "+v]) {
				t.Errorf("%s %q: Lance takes it %t; error %v", key, v, theirs[v], err)
			}
		}
	}
}
