package lanceworker

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/seaweedfs/seaweedfs/weed/pb/plugin_pb"

	"github.com/seaweedfs/seaweed-lance/internal/lance/cleanup"
)

func newCleanupRig(t *testing.T, e cleanupEngine) *rig {
	t.Helper()
	r := newRig(t, &fakeJob{}, lakeOf("lab$ml$v"))
	w := newTestWorkshop(t, r)
	w.clean = e
	r.use(w.cleanup().(*handler))
	return r
}

func TestCleanupDetection(t *testing.T) {
	for _, isDue := range []bool{true, false} {
		var policy cleanup.Policy
		r := newCleanupRig(t, cleanupEngine{detect: func(_ context.Context, _ sighting, p cleanup.Policy) (cleanup.Detection, error) {
			policy = p
			return cleanup.Detection{Due: isDue, Versions: 12, Newest: 40, Reason: "12 versions, 7 of them older than 2h"}, nil
		}})
		request := detectionRequest(0)
		request.WorkerConfigValues = map[string]*plugin_pb.ConfigValue{"retain_hours": int64Value(2)}
		d := new(detection)
		if err := r.Detect(t.Context(), request, d); err != nil {
			t.Fatal(err)
		}
		if policy != (cleanup.Policy{Retain: 2 * time.Hour, MinVersions: 5}) {
			t.Errorf("policy %+v", policy)
		}
		if !isDue {
			if len(d.proposed()) != 0 {
				t.Errorf("proposed %v", d.proposals)
			}
			continue
		}
		p := d.proposals.GetProposals()[0]
		if p.GetProposalId() != "lance_cleanup_versions:lab$ml$v" || p.GetSummary() != "Clean up lab$ml$v (12 versions)" ||
			p.GetDetail() != "12 versions, 7 of them older than 2h" || p.GetParameters()["estimated_runtime_seconds"].GetInt64Value() != 3602 {
			t.Errorf("proposal %v", p)
		}
	}
}

func TestCleanupExecution(t *testing.T) {
	for name, c := range map[string]struct {
		result  cleanup.Result
		err     error
		summary string
		outputs map[string]int64
		failure string
	}{
		"removed": {
			result:  cleanup.Result{Changed: true, OldVersionsRemoved: 3, BytesRemoved: 2048, DataFilesRemoved: 7, Versions: 5},
			summary: "removed 3 versions and 2.0 KiB, 5 versions left",
			outputs: map[string]int64{"old_versions_removed": 3, "bytes_removed": 2048, "data_files_removed": 7},
		},
		"some are tagged": {
			result: cleanup.Result{Changed: true, OldVersionsRemoved: 1, BytesRemoved: 10, Versions: 8,
				Kept: []cleanup.Kept{{Version: 1, Reason: `tag "a"`}, {Version: 2, Reason: "branched from"}, {Version: 3, Reason: "branched from"}}},
			summary: `removed 1 version and 10 B, 8 versions left; kept though due: 2 versions (branched from), 1 version (tag "a")`,
			outputs: map[string]int64{"old_versions_removed": 1, "bytes_removed": 10, "data_files_removed": 0},
		},
		"the floor": {
			result:  cleanup.Result{Versions: 5},
			summary: "all 5 versions stay, as at least 5 are kept",
		},
		"leftovers below the floor": {
			result:  cleanup.Result{Changed: true, BytesRemoved: 100, Versions: 2},
			summary: "removed 0 versions and 100 B, 2 versions left",
			outputs: map[string]int64{"old_versions_removed": 0, "bytes_removed": 100, "data_files_removed": 0},
		},
		"nothing is due": {
			result:  cleanup.Result{Versions: 9},
			summary: "removed 0 versions and 0 B, 9 versions left",
			outputs: map[string]int64{"old_versions_removed": 0, "bytes_removed": 0, "data_files_removed": 0},
		},
		"failed half way": {
			result:  cleanup.Result{Changed: true, OldVersionsRemoved: 2, BytesRemoved: 5, Versions: 4},
			err:     errFake,
			summary: "removed 2 versions and 5 B, 4 versions left",
			outputs: map[string]int64{"old_versions_removed": 2, "bytes_removed": 5, "data_files_removed": 0},
			failure: "cleaning up lab$ml$v: disk on fire",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newCleanupRig(t, cleanupEngine{run: func(_ context.Context, _ entry, o cleanup.Options) (cleanup.Result, error) {
				if o.Policy != (cleanup.Policy{Retain: 168 * time.Hour, MinVersions: 5}) || o.DryRun || o.Now == nil {
					t.Errorf("options %+v", o)
				}
				o.Progress(1, 2)
				return c.result, c.err
			}})
			e := new(execution)
			if err := r.Execute(t.Context(), jobOn("lab$ml$v"), e); err != nil {
				t.Fatal(err)
			}
			if e.completed.GetSuccess() != (c.err == nil) || e.completed.GetErrorMessage() != c.failure || e.completed.GetResult().GetSummary() != c.summary {
				t.Errorf("completed %v", e.completed)
			}
			out := e.completed.GetResult().GetOutputValues()
			if len(out) != len(c.outputs) {
				t.Errorf("outputs %v", out)
			}
			for name, want := range c.outputs {
				if out[name].GetInt64Value() != want {
					t.Errorf("%s is %d, want %d", name, out[name].GetInt64Value(), want)
				}
			}
			got := values(t, r.registry)
			if got["SeaweedFS_worker_lance_versions_removed_total{}"] != float64(c.result.OldVersionsRemoved) ||
				got["SeaweedFS_worker_lance_bytes_reclaimed_total{}"] != float64(c.result.BytesRemoved) {
				t.Errorf("metrics %v", got)
			}
		})
	}
}

func TestRuntimeAtWorst(t *testing.T) {
	for _, c := range []struct {
		bytes int64
		want  time.Duration
	}{
		{0, time.Hour},
		{slowestCopy * 60, time.Hour + time.Minute},
		{1 << 62, 8 * time.Hour},
	} {
		if got := runtimeAtWorst(c.bytes, slowestCopy); got != c.want {
			t.Errorf("%d bytes: %s, want %s", c.bytes, got, c.want)
		}
	}
}

func TestWords(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 1536: "1.5 KiB", 5 << 30: "5.0 GiB", 1<<63 - 1: "8.0 EiB",
	} {
		if got := byteText(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
	many := strings.Split("a b b c c c d e e e e", " ")
	if got, want := tally(many, "thing"), "4 things (e), 3 things (c), 2 things (b), 2 more for other reasons"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, c := range []struct {
		done, total int64
		want        float64
	}{{0, 0, 0}, {1, 0, 0}, {-1, 4, 0}, {1, 4, 0.25}, {9, 4, 1}} {
		if got := fraction(c.done, c.total); got != c.want {
			t.Errorf("%d of %d is %v", c.done, c.total, got)
		}
	}
}
