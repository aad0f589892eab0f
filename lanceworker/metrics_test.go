package lanceworker

import (
	"context"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

// The names and labels that SeaweedFS's dashboard row "Plugin Workers" and the
// worker in Rust use.
func TestMetricNames(t *testing.T) {
	r := newRig(t, does(outcome{}, nil), lakeOf("a", "b"))
	r.sweepOnce(t, 0)
	r.job.(*fakeJob).look = func(ctx context.Context, name string) (finding, error) {
		if name == "b" {
			return finding{}, errFake
		}
		return due(ctx, name)
	}
	r.sweepOnce(t, 0)
	if err := r.Execute(t.Context(), jobOn("a"), new(execution)); err != nil {
		t.Fatal(err)
	}
	want := map[string]float64{
		"SeaweedFS_worker_build_info{version=" + version() + ",worker_id=worker-1}": 1,
		"SeaweedFS_worker_detections_total{job_type=lance_fake,result=ok}":          2,
		"SeaweedFS_worker_detections_total{job_type=lance_fake,result=failed}":      0,
		"SeaweedFS_worker_detection_seconds{job_type=lance_fake}":                   2,
		"SeaweedFS_worker_proposals_total{job_type=lance_fake}":                     3,
		"SeaweedFS_worker_objects_seen_total{job_type=lance_fake}":                  3,
		"SeaweedFS_worker_objects_skipped_total{job_type=lance_fake,reason=open}":   1,
		"SeaweedFS_worker_jobs_total{job_type=lance_fake,result=ok}":                1,
		"SeaweedFS_worker_jobs_total{job_type=lance_fake,result=failed}":            0,
		"SeaweedFS_worker_job_seconds{job_type=lance_fake}":                         1,
		"SeaweedFS_worker_previews_total{result=ok}":                                0,
		"SeaweedFS_worker_previews_total{result=failed}":                            0,
		"SeaweedFS_worker_lance_fragments_removed_total{}":                          0,
		"SeaweedFS_worker_lance_versions_removed_total{}":                           0,
		"SeaweedFS_worker_lance_bytes_reclaimed_total{}":                            0,
	}
	// Those of the session and the leases, which nothing has used here.
	for _, name := range []string{
		"table_opens_total{}", "table_moves_total{}", "table_unchanged_total{}", "table_looks_shared_total{}", "table_start_overs_total{}", "tables_open{}",
		"cache_hits_total{cache=index}", "cache_misses_total{cache=index}", "cache_evicted_total{cache=index}", "cache_bytes{cache=index}",
		"cache_hits_total{cache=metadata}", "cache_misses_total{cache=metadata}", "cache_evicted_total{cache=metadata}", "cache_bytes{cache=metadata}",
		"leases_taken_total{}", "leases_shared_total{}", "leases_denied_total{}", "leases_reaped_total{}", "leases_held{}",
	} {
		want["SeaweedFS_worker_lance_"+name] = 0
	}
	got := values(t, r.registry)
	for name, v := range want {
		if g, ok := got[name]; !ok || g != v {
			t.Errorf("%s is %v (%v), want %v", name, g, ok, v)
		}
		delete(got, name)
	}
	if len(got) != 0 {
		t.Errorf("more than that: %v", got)
	}
}

func TestMetricBuckets(t *testing.T) {
	r := newRig(t, does(outcome{}, nil), lakeOf("a"))
	r.sweepOnce(t, 0)
	if err := r.Execute(t.Context(), jobOn("a"), new(execution)); err != nil {
		t.Fatal(err)
	}
	families, err := r.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][2]float64{
		"SeaweedFS_worker_detection_seconds": {0.01, 14},
		"SeaweedFS_worker_job_seconds":       {0.05, 16},
	}
	for _, f := range families {
		w, ok := want[f.GetName()]
		if !ok {
			continue
		}
		delete(want, f.GetName())
		buckets := f.GetMetric()[0].GetHistogram().GetBucket()
		if len(buckets) != int(w[1]) {
			t.Errorf("%s: %d buckets", f.GetName(), len(buckets))
		}
		bound := w[0]
		for i, b := range buckets {
			if b.GetUpperBound() != bound {
				t.Errorf("%s: bucket %d ends at %v, want %v", f.GetName(), i, b.GetUpperBound(), bound)
			}
			bound *= 2
		}
	}
	if len(want) != 0 {
		t.Errorf("missing: %v", want)
	}
}

func TestHandlersOfOneRegistryCountTogether(t *testing.T) {
	registry := prometheus.NewRegistry()
	a, err := newMetrics(registry)
	if err != nil {
		t.Fatal(err)
	}
	b, err := newMetrics(registry)
	if err != nil {
		t.Fatal(err)
	}
	a.fragmentsRemoved.Add(2)
	b.fragmentsRemoved.Add(3)
	a.skip("x", reasonOpen)
	b.skip("x", reasonOpen)
	got := values(t, registry)
	if got["SeaweedFS_worker_lance_fragments_removed_total{}"] != 5 || got["SeaweedFS_worker_objects_skipped_total{job_type=x,reason=open}"] != 2 {
		t.Errorf("counted %v", got)
	}
}

func TestMetricsThatCollide(t *testing.T) {
	registry := prometheus.NewRegistry()
	registry.MustRegister(prometheus.NewGauge(prometheus.GaugeOpts{Name: "SeaweedFS_worker_jobs_total", Help: "another's"}))
	if _, err := newMetrics(registry); err == nil || !strings.Contains(err.Error(), "registering the metrics of the Lance jobs") {
		t.Errorf("got %v", err)
	}
	if _, err := Handlers(Options{Registerer: registry}); err == nil {
		t.Error("handlers all the same")
	}
}

func TestIdentity(t *testing.T) {
	label := func(registry *prometheus.Registry) []string {
		var ids []string
		for name := range values(t, registry) {
			if _, id, ok := strings.Cut(name, "worker_id="); ok && strings.HasPrefix(name, "SeaweedFS_worker_build_info{") {
				ids = append(ids, strings.TrimSuffix(id, "}"))
			}
		}
		return ids
	}
	build := func(o Options) (*prometheus.Registry, *workshop) {
		registry := prometheus.NewRegistry()
		o.Registerer = registry
		w, err := newWorkshop(o)
		if err != nil {
			t.Fatal(err)
		}
		return registry, w
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}

	// Told.
	registry, w := build(Options{WorkerID: "me", WorkingDir: t.TempDir()})
	w.identity.announce(true)
	if got := label(registry); !slices.Equal(got, []string{"me"}) {
		t.Errorf("told: %q", got)
	}
	// Known from the start.
	dir := t.TempDir()
	write := func(id string) {
		if err := os.WriteFile(filepath.Join(dir, "worker.id"), []byte(id), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("w-host-1a2b\n")
	registry, _ = build(Options{WorkingDir: dir})
	if got := label(registry); !slices.Equal(got, []string{"w-host-1a2b"}) {
		t.Errorf("from the start: %q", got)
	}
	// Known by the first request.
	dir = t.TempDir()
	registry, w = build(Options{WorkingDir: dir})
	if got := label(registry); len(got) != 0 {
		t.Errorf("before it is known: %q", got)
	}
	write("w-late")
	w.identity.announce(true)
	w.identity.announce(true)
	if got := label(registry); !slices.Equal(got, []string{"w-late"}) {
		t.Errorf("late: %q", got)
	}
	// Never.
	registry, w = build(Options{WorkingDir: t.TempDir()})
	w.identity.announce(true)
	if got := label(registry); !slices.Equal(got, []string{host}) {
		t.Errorf("never: %q", got)
	}
}

func TestVersionOf(t *testing.T) {
	revision := []debug.BuildSetting{{Key: "vcs.revision", Value: "0123456789abcdef0123456789abcdef01234567"}}
	for name, c := range map[string]struct {
		info debug.BuildInfo
		want string
	}{
		"a dependency":             {debug.BuildInfo{Deps: []*debug.Module{{Path: "x", Version: "v9"}, {Path: modulePath, Version: "v1.2.3"}}}, "v1.2.3"},
		"a replaced dependency":    {debug.BuildInfo{Deps: []*debug.Module{{Path: modulePath, Version: "v1.2.3", Replace: &debug.Module{Path: "fork", Version: "v1.2.4"}}}}, "v1.2.4"},
		"replaced by a directory":  {debug.BuildInfo{Deps: []*debug.Module{{Path: modulePath, Version: "v1.2.3", Replace: &debug.Module{Path: "../x"}}}}, "devel"},
		"the program, released":    {debug.BuildInfo{Main: debug.Module{Path: modulePath, Version: "v1.2.3"}}, "v1.2.3"},
		"the program, from source": {debug.BuildInfo{Main: debug.Module{Path: modulePath, Version: "(devel)"}, Settings: revision}, "devel-0123456789ab"},
		"the program, unknown":     {debug.BuildInfo{Main: debug.Module{Path: modulePath}}, "devel"},
		"not there":                {debug.BuildInfo{Main: debug.Module{Path: "x", Version: "v3"}, Settings: revision}, "devel"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := versionOf(&c.info); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
