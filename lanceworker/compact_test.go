package lanceworker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/seaweedfs/seaweedfs/weed/pb/plugin_pb"

	"github.com/seaweedfs/seaweed-lance/internal/lance/compact"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
)

// fakeView is a version with a plan made up.
type fakeView struct {
	n    int
	p    compact.Plan
	due  bool
	err  error
	seen *compact.Policy
}

func (v fakeView) facts() facts {
	return facts{version: 7, rows: 100, fragments: v.n, schema: "[]"}
}

func (v fakeView) plan(_ context.Context, p compact.Policy) (compact.Plan, bool, error) {
	if v.seen != nil {
		*v.seen = p
	}
	return v.p, v.due, v.err
}

func newCompactRig(t *testing.T, e compactEngine) *rig {
	t.Helper()
	r := newRig(t, &fakeJob{}, lakeOf("lab$ml$v"))
	w := newTestWorkshop(t, r)
	w.compact = e
	r.use(w.compaction().(*handler))
	return r
}

// judges has a version judged that may be refused, and remembers nothing.
func judges(v compactView, refused error) func(context.Context, sighting, string, func(context.Context, compactView, error) (finding, error)) (finding, error) {
	return func(ctx context.Context, _ sighting, _ string, find func(context.Context, compactView, error) (finding, error)) (finding, error) {
		return find(ctx, v, refused)
	}
}

func TestCompactDetection(t *testing.T) {
	merge := compact.Plan{Tasks: []compact.Task{
		{Fragments: []uint64{0, 1, 2}, Outputs: []int64{300}, Rows: 300, Bytes: 3 << 20},
		{Fragments: []uint64{4, 5}, Outputs: []int64{1}, Rows: 1, Bytes: 1 << 20},
	}}
	unsupported := []compact.Left{
		{Fragment: 0, Kind: compact.Unsupported, Reason: "has deletions"},
		{Fragment: 1, Kind: compact.Fine, Reason: "big enough"},
		{Fragment: 2, Kind: compact.Unsupported, Reason: "an index covers it"},
		{Fragment: 3, Kind: compact.Unsupported, Reason: "has deletions"},
	}
	broken := []compact.Left{{Fragment: 3, Kind: compact.Broken, Reason: "data/x.lance: cut off"}}
	for name, c := range map[string]struct {
		view     fakeView
		proposed bool
		says     string
		skipped  string
	}{
		"too few": {
			view: fakeView{n: 7, p: merge, due: true},
			says: "lab$ml$v: 7 fragments at version 7, fewer than the 8 from which on a table is compacted",
		},
		"many that are full": {
			view: fakeView{n: 100},
			says: "lab$ml$v: 100 fragments at version 7, none of which can be merged",
		},
		"many that can't be merged yet": {
			view: fakeView{n: 8, p: compact.Plan{Left: unsupported}},
			says: "8 fragments at version 7, none of which can be merged; left alone: 2 fragments (has deletions), 1 fragment (an index covers it)",
		},
		"due": {
			view:     fakeView{n: 8, p: merge, due: true},
			proposed: true,
			says:     "8 fragments at version 7, 8 or more are compacted: 2 tasks would turn 5 fragments of 301 rows and 4.0 MiB into 2",
		},
		"due in part": {
			view:     fakeView{n: 8, p: compact.Plan{Tasks: merge.Tasks, Left: broken}, due: true},
			proposed: true,
			says:     "into 2; left alone: 1 fragment (data/x.lance: cut off)",
			skipped:  "corrupt",
		},
		"by its own settings": {
			view:     fakeView{n: 8, p: compact.Plan{Tasks: merge.Tasks, Own: []string{"max_bytes_per_file=5", "max_source_rows=7"}}, due: true},
			proposed: true,
			says:     "into 2; by the table's own settings: max_bytes_per_file=5, max_source_rows=7",
		},
		"broken": {
			view:    fakeView{n: 8, p: compact.Plan{Left: broken}},
			says:    "none of which can be merged; left alone: 1 fragment (data/x.lance: cut off)",
			skipped: "corrupt",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newCompactRig(t, compactEngine{judge: judges(c.view, nil)})
			d := r.sweepOnce(t, 0)
			said := strings.Join(d.activities[0].GetDetails()["left_as_it_is"].GetStringList().GetValues(), "\n")
			if c.proposed {
				if len(d.proposed()) != 1 {
					t.Fatalf("not proposed: %s", said)
				}
				p := d.proposals.GetProposals()[0]
				said = p.GetDetail()
				if p.GetProposalId() != "lance_compact:lab$ml$v" || p.GetSummary() != "Compact lab$ml$v (8 fragments)" {
					t.Errorf("proposal %v", p)
				}
			} else if len(d.proposed()) != 0 {
				t.Fatalf("proposed %v", d.proposals)
			}
			if c.skipped != "" && !strings.Contains(d.said(), "lab$ml$v: corrupt: 1 fragment (data/x.lance: cut off)") {
				t.Errorf("does not name what is broken: %q", d.said())
			}
			if !strings.Contains(said, c.says) {
				t.Errorf("said %q, not %q", said, c.says)
			}
			got := values(t, r.registry)
			if got["SeaweedFS_worker_objects_seen_total{job_type=lance_compact}"] != 1 {
				t.Error("not counted as seen")
			}
			for _, reason := range []string{"open", "stats", "corrupt", "refused"} {
				n := got["SeaweedFS_worker_objects_skipped_total{job_type=lance_compact,reason="+reason+"}"]
				if (n == 1) != (reason == c.skipped) {
					t.Errorf("skipped for %s: %v", reason, n)
				}
			}
		})
	}
}

func TestCompactDetectionTellsOpenFromStats(t *testing.T) {
	for want, unseen := range map[string]error{"open": errFake, "stats": nil} {
		r := newCompactRig(t, compactEngine{judge: judges(fakeView{n: 9, err: errFake}, nil)})
		r.fake.unseen = unseen
		if err := r.Detect(t.Context(), detectionRequest(0), new(detection)); !errors.Is(err, errAllFailed) {
			t.Errorf("%s: %v", want, err)
		}
		if got := values(t, r.registry)["SeaweedFS_worker_objects_skipped_total{job_type=lance_compact,reason="+want+"}"]; got != 1 {
			t.Errorf("%s: counted %v", want, got)
		}
	}
}

func TestCompactConfig(t *testing.T) {
	var seen compact.Policy
	r := newCompactRig(t, compactEngine{judge: judges(fakeView{n: 3, due: true, seen: &seen, p: compact.Plan{Tasks: []compact.Task{{}}}}, nil)})
	request := detectionRequest(0)
	request.WorkerConfigValues = map[string]*plugin_pb.ConfigValue{
		"min_fragments":            double(3),
		"target_rows_per_fragment": int64Value(10),
	}
	d := new(detection)
	if err := r.Detect(t.Context(), request, d); err != nil || len(d.proposed()) != 1 {
		t.Fatalf("%v, proposed %v", err, d.proposed())
	}
	if want := (compact.Policy{TargetRows: 1024, MaxBytes: compact.DefaultMaxBytes, Threshold: 0.1}); seen != want {
		t.Errorf("policy %+v", seen)
	}
	request.WorkerConfigValues = map[string]*plugin_pb.ConfigValue{
		"min_fragments": int64Value(2), "max_bytes_per_file": int64Value(1 << 30), "materialize_deletions_percent": int64Value(0), "max_source_bytes": int64Value(5 << 30),
	}
	d = new(detection)
	if err := r.Detect(t.Context(), request, d); err != nil || len(d.proposed()) != 1 {
		t.Fatalf("%v, proposed %v", err, d.proposed())
	}
	if want := (compact.Policy{TargetRows: compact.DefaultTargetRows, MaxBytes: 1 << 30, Threshold: compact.AnyDeleted, MaxSourceBytes: 5 << 30}); seen != want {
		t.Errorf("policy %+v", seen)
	}
}

// How long a job may take grows with what it has to read and write, and more with what it has to encode.
func TestCompactRuntime(t *testing.T) {
	seconds := func(bytes, encoded int64) int64 {
		plan := compact.Plan{Tasks: []compact.Task{{Fragments: []uint64{1, 2}, Outputs: []int64{5}, Rows: 5, Bytes: bytes, Encoded: encoded}}}
		r := newCompactRig(t, compactEngine{judge: judges(fakeView{n: 8, p: plan, due: true}, nil)})
		p := r.sweepOnce(t, 0).proposals.GetProposals()
		return p[0].GetParameters()["estimated_runtime_seconds"].GetInt64Value()
	}
	const floor, most = 3600, 8 * 3600
	for _, c := range []struct{ bytes, encoded, want int64 }{
		{0, 0, floor},
		{8 << 30, 0, floor + 1024},
		{8 << 30, 8 << 30, floor + 2048},
		{1 << 50, 0, most},
	} {
		if got := seconds(c.bytes, c.encoded); got != c.want {
			t.Errorf("%d bytes, %d of them encoded: %d s, want %d", c.bytes, c.encoded, got, c.want)
		}
	}
}

func TestCompactProgressText(t *testing.T) {
	p := compact.Progress{TasksDone: 1, Tasks: 4, RowsDone: 100, Rows: 400, BytesDone: 2 << 20, Bytes: 8 << 20}
	const so = "compacting: 1 of 4 tasks done, 100 of 400 rows, 2.0 MiB of 8.0 MiB"
	for passed, want := range map[time.Duration]string{
		time.Second: so, 10 * time.Second: so + ", less than a minute left", time.Minute: so + ", about 3 minutes left",
		20 * time.Second: so + ", about 1 minute left", time.Hour: so + ", about 3 hours left", 48 * time.Hour: so + ", about 6 days left",
	} {
		if got := progressText(p, passed); got != want {
			t.Errorf("after %s: %q", passed, got)
		}
	}
}

func TestCompactExecution(t *testing.T) {
	done := compact.Result{Changed: true, FragmentsRemoved: 100, FragmentsAdded: 4, FilesRemoved: 100, BytesWritten: 5 << 20}
	for name, c := range map[string]struct {
		result  compact.Result
		err     error
		success bool
		summary string
		failure string
		removed float64
	}{
		"merged": {
			result: done, success: true, removed: 100,
			summary: "100 fragments became 4, 5.0 MiB written",
		},
		"nothing to do": {
			success: true,
			result:  compact.Result{Plan: compact.Plan{Left: []compact.Left{{Kind: compact.Unsupported, Reason: "has deletions"}, {Reason: "big enough"}}}},
			summary: "nothing was merged; left alone: 1 fragment (has deletions)",
		},
		"pre-empted": {
			result: compact.Result{Preempted: "a run on host-2 since 08:00"}, success: true,
			summary: "nothing was merged; pre-empted: a run on host-2 since 08:00",
		},
		"pre-empted in part": {
			result:  compact.Result{Changed: true, FragmentsRemoved: 2, FragmentsAdded: 1, Preempted: "a run on host-2"},
			success: true, removed: 2,
			summary: "2 fragments became 1, 0 B written; pre-empted: a run on host-2",
		},
		"another commit came first": {
			err: fmt.Errorf("committing version 8: %w", table.ErrConflict), success: true,
			summary: "nothing was merged; pre-empted: committing version 8: conflict",
		},
		"contended": {
			err:     fmt.Errorf("committing version 8: %w", table.ErrContended),
			summary: "nothing was merged",
			failure: "compacting lab$ml$v: committing version 8: other writers won every attempt",
		},
		"failed half way": {
			result: done, err: fmt.Errorf("reading data/x.lance: %w", errFake), removed: 100,
			summary: "100 fragments became 4, 5.0 MiB written",
			failure: "compacting lab$ml$v: reading data/x.lance: disk on fire",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var got compact.Options
			r := newCompactRig(t, compactEngine{run: func(_ context.Context, _ entry, o compact.Options) (compact.Result, error) {
				got = o
				o.Progress(compact.Progress{TasksDone: 1, Tasks: 4, BytesDone: 50, Bytes: 100})
				return c.result, c.err
			}})
			e := new(execution)
			if err := r.Execute(t.Context(), jobOn("lab$ml$v"), e); err != nil {
				t.Fatal(err)
			}
			if got.Policy.TargetRows != compact.DefaultTargetRows || got.DryRun || got.Now == nil || got.MemoryBudget != 256<<20 {
				t.Errorf("options %+v", got)
			}
			if e.completed.GetSuccess() != c.success || e.completed.GetErrorMessage() != c.failure || e.completed.GetResult().GetSummary() != c.summary {
				t.Errorf("completed %v", e.completed)
			}
			out := e.completed.GetResult().GetOutputValues()
			if len(out) != 3 || out["fragments_removed"].GetInt64Value() != int64(c.result.FragmentsRemoved) ||
				out["fragments_added"].GetInt64Value() != int64(c.result.FragmentsAdded) || out["files_removed"].GetInt64Value() != int64(c.result.FilesRemoved) {
				t.Errorf("outputs %v", out)
			}
			counts := values(t, r.registry)
			if n := counts["SeaweedFS_worker_lance_fragments_removed_total{}"]; n != c.removed {
				t.Errorf("%v fragments counted", n)
			}
			if n := counts["SeaweedFS_worker_jobs_total{job_type=lance_compact,result="+result(c.success)+"}"]; n != 1 {
				t.Errorf("%v jobs counted", n)
			}
		})
	}
}
