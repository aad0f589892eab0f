package lanceworker

import (
	"math"
	"testing"

	"github.com/seaweedfs/seaweedfs/weed/pb/plugin_pb"
)

func double(v float64) *plugin_pb.ConfigValue {
	return &plugin_pb.ConfigValue{Kind: &plugin_pb.ConfigValue_DoubleValue{DoubleValue: v}}
}

func text(v string) *plugin_pb.ConfigValue {
	return &plugin_pb.ConfigValue{Kind: &plugin_pb.ConfigValue_StringValue{StringValue: v}}
}

func TestNumberRead(t *testing.T) {
	for name, c := range map[string]struct {
		n    number
		v    *plugin_pb.ConfigValue
		want int64
	}{
		"missing":              {minFragments, nil, 8},
		"no kind":              {minFragments, &plugin_pb.ConfigValue{}, 8},
		"integer":              {minFragments, int64Value(100), 100},
		"double is truncated":  {minFragments, double(99.9), 99},
		"not a number":         {minFragments, double(math.NaN()), 8},
		"infinite":             {minFragments, double(math.Inf(1)), 4096},
		"minus infinite":       {minFragments, double(math.Inf(-1)), 2},
		"text":                 {minFragments, text("100"), 8},
		"empty text":           {minFragments, text(""), 8},
		"bool":                 {minFragments, &plugin_pb.ConfigValue{Kind: &plugin_pb.ConfigValue_BoolValue{BoolValue: true}}, 8},
		"below the form":       {minFragments, int64Value(1), 2},
		"negative":             {minFragments, int64Value(math.MinInt64), 2},
		"above the form":       {minFragments, int64Value(math.MaxInt64), 4096},
		"target low":           {targetRows, int64Value(1), 1024},
		"target high":          {targetRows, int64Value(1 << 40), 16_777_216},
		"target default":       {targetRows, nil, 1_048_576},
		"retain zero":          {retainHours, int64Value(0), 0},
		"retain negative":      {retainHours, int64Value(-5), 0},
		"retain high":          {retainHours, int64Value(9000), 8760},
		"retain default":       {retainHours, nil, 168},
		"versions zero":        {minVersions, int64Value(0), 1},
		"versions high":        {minVersions, int64Value(5000), 1000},
		"versions default":     {minVersions, nil, 5},
		"versions as a double": {minVersions, double(7), 7},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.n.read(map[string]*plugin_pb.ConfigValue{c.n.name: c.v}); got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
		})
	}
}

func TestDescriptors(t *testing.T) {
	type bounds struct{ def, min, max int64 }
	for name, c := range map[string]struct {
		job     job
		display string
		icon    string
		weight  int32
		form    string
		title   string
		fields  map[string]bounds
	}{
		"lance_compact": {
			job: &compactJob{}, display: "Lance Compaction", icon: "fas fa-compress", weight: 20,
			form: "lance-compact-worker", title: "Compaction",
			fields: map[string]bounds{
				"target_rows_per_fragment": {1048576, 1024, 16777216}, "min_fragments": {8, 2, 4096},
				"max_bytes_per_file": {90 << 30, 16 << 20, 1 << 40}, "materialize_deletions_percent": {10, 0, 100},
				"max_source_bytes": {0, 0, 1 << 50}, "memory_budget_mb": {256, 96, 65536},
			},
		},
		"lance_cleanup_versions": {
			job: &cleanupJob{}, display: "Lance Version Cleanup", icon: "fas fa-broom", weight: 10,
			form: "lance-cleanup-worker", title: "Version cleanup",
			fields: map[string]bounds{"retain_hours": {168, 1, 8760}, "min_versions_to_keep": {5, 1, 1000}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := c.job.describe().descriptor()
			if d.JobType != name || d.DisplayName != c.display || d.Icon != c.icon || d.DescriptorVersion != 1 || d.AdminConfigForm != nil {
				t.Errorf("descriptor %v", d)
			}
			f := d.GetWorkerConfigForm()
			if f.GetFormId() != c.form || f.GetTitle() != c.title || len(f.GetSections()) != 1 {
				t.Fatalf("form %v", f)
			}
			section := f.GetSections()[0]
			if section.GetSectionId() != c.form+"-main" || section.GetTitle() != c.title {
				t.Errorf("section %q %q", section.GetSectionId(), section.GetTitle())
			}
			if len(section.GetFields()) != len(c.fields) || len(d.GetWorkerDefaultValues()) != len(c.fields) || len(f.GetDefaultValues()) != len(c.fields) {
				t.Errorf("%d fields, %d worker defaults, %d form defaults", len(section.GetFields()), len(d.GetWorkerDefaultValues()), len(f.GetDefaultValues()))
			}
			for _, field := range section.GetFields() {
				got := bounds{f.GetDefaultValues()[field.GetName()].GetInt64Value(), field.GetMinValue().GetInt64Value(), field.GetMaxValue().GetInt64Value()}
				if got != c.fields[field.GetName()] || d.GetWorkerDefaultValues()[field.GetName()].GetInt64Value() != got.def {
					t.Errorf("%s: %v", field.GetName(), got)
				}
				if field.GetFieldType() != plugin_pb.ConfigFieldType_CONFIG_FIELD_TYPE_INT64 || field.GetLabel() == "" || field.GetDescription() == "" {
					t.Errorf("field %v", field)
				}
			}
			r := d.GetAdminRuntimeDefaults()
			if r.GetEnabled() || r.GetDetectionIntervalMinutes() != 10 || r.GetDetectionTimeoutSeconds() != 600 || r.GetExecutionTimeoutSeconds() != 3600 || r.GetJobTypeMaxRuntimeSeconds() != 3600 {
				t.Errorf("runtime defaults %v", r)
			}
			capability := c.job.describe().capability(1)
			if capability.JobType != name || !capability.CanDetect || !capability.CanExecute || capability.Weight != c.weight ||
				capability.MaxDetectionConcurrency != 1 || capability.MaxExecutionConcurrency != 1 || capability.DisplayName != c.display {
				t.Errorf("capability %v", capability)
			}
		})
	}
}
