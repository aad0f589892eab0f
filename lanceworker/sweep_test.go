package lanceworker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seaweedfs/seaweedfs/weed/pb/plugin_pb"

	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
	"github.com/seaweedfs/seaweed-lance/internal/objects/filerstore"
)

func TestDetectProposes(t *testing.T) {
	r := newRig(t, &fakeJob{look: due}, lakeOf("lab$ml$v", "a$x$x"))
	d := r.sweepOnce(t, 0)
	if got := d.proposed(); !slices.Equal(got, []string{"a$x$x", "lab$ml$v"}) {
		t.Fatalf("proposed %v", got)
	}
	p := d.proposals.GetProposals()[0]
	if p.GetProposalId() != "lance_fake:a$x$x" || p.GetDedupeKey() != p.GetProposalId() || p.GetJobType() != "lance_fake" {
		t.Errorf("identity of %v", p)
	}
	if got := p.GetParameters()["table_id"].GetStringList().GetValues(); !slices.Equal(got, []string{"a", "x", "x"}) {
		t.Errorf("table_id %v", got)
	}
	if got := p.GetParameters()["estimated_runtime_seconds"].GetInt64Value(); got != 3600 {
		t.Errorf("estimated runtime %d", got)
	}
	if p.GetSummary() != "Fake a$x$x (2 things)" || p.GetDetail() != "two are too many" {
		t.Errorf("words %q, %q", p.GetSummary(), p.GetDetail())
	}
	if got := d.order; !slices.Equal(got, []string{"activity", "proposals", "complete"}) {
		t.Errorf("order %v", got)
	}
	if !d.complete.GetSuccess() || d.complete.GetTotalProposals() != 2 || d.proposals.GetHasMore() || d.complete.GetRequestId() != "detect-1" {
		t.Errorf("complete %v, more %v", d.complete, d.proposals.GetHasMore())
	}
}

func TestDetectSendsEmptyProposals(t *testing.T) {
	r := newRig(t, &fakeJob{}, lakeOf())
	d := r.sweepOnce(t, 0)
	if d.proposals == nil || len(d.proposed()) != 0 || !d.complete.GetSuccess() {
		t.Errorf("proposals %v, complete %v", d.proposals, d.complete)
	}
}

func TestSweepRotates(t *testing.T) {
	r := newRig(t, &fakeJob{look: due}, lakeOf("a", "b", "c", "d", "e"))
	for i, want := range []string{"a b", "c d", "e a", "b c", "d e"} {
		d := r.sweepOnce(t, 2)
		if got := strings.Join(d.proposed(), " "); got != want || !d.proposals.GetHasMore() {
			t.Fatalf("sweep %d: %q, more %v; want %q", i+1, got, d.proposals.GetHasMore(), want)
		}
	}
	// What fits is no "more", and the next sweep begins at the first table again.
	r.sweepOnce(t, 3)
	for i, want := range []string{"d e a b c", "a b c d e"} {
		d := r.sweepOnce(t, 5)
		if got := strings.Join(d.proposed(), " "); got != want || d.proposals.GetHasMore() {
			t.Errorf("whole sweep %d: %q, more %v; want %q", i+1, got, d.proposals.GetHasMore(), want)
		}
	}
}

func TestSweepHasMoreOnlyWhenOneMoreIsDue(t *testing.T) {
	r := newRig(t, &fakeJob{look: func(ctx context.Context, table string) (finding, error) {
		if table == "c" {
			return finding{seen: true, reason: "fine"}, nil
		}
		return due(ctx, table)
	}}, lakeOf("a", "b", "c"))
	if d := r.sweepOnce(t, 2); d.proposals.GetHasMore() {
		t.Error("has more, though the third table needs nothing")
	}
}

func TestSweepStopsInTime(t *testing.T) {
	var r *rig
	r = newRig(t, &fakeJob{look: func(ctx context.Context, table string) (finding, error) {
		r.clock.advance(200 * time.Second)
		return due(ctx, table)
	}}, lakeOf("a", "b", "c", "d", "e"))
	for i, want := range []string{"a b c", "d e a"} {
		d := r.sweepOnce(t, 0)
		if got := strings.Join(d.proposed(), " "); got != want || !d.proposals.GetHasMore() {
			t.Fatalf("sweep %d: %q, more %v; want %q", i+1, got, d.proposals.GetHasMore(), want)
		}
	}
}

func TestSweepCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r := newRig(t, &fakeJob{look: func(ctx context.Context, table string) (finding, error) {
		if table == "b" {
			cancel()
			return finding{}, ctx.Err()
		}
		return due(ctx, table)
	}}, lakeOf("a", "b", "c"))
	d := new(detection)
	if err := r.Detect(ctx, detectionRequest(0), d); !errors.Is(err, context.Canceled) {
		t.Fatalf("Detect: %v", err)
	}
	if d.proposals != nil || d.complete != nil {
		t.Error("sent something after all")
	}
	if _, held := r.backoff.held("b", r.clock.now()); held {
		t.Error("a cancelled look counts as the table's failure")
	}
	r.job.(*fakeJob).look = due
	if got := r.sweepOnce(t, 0).proposed(); !slices.Equal(got, []string{"c", "a", "b"}) {
		t.Errorf("next time: %v", got)
	}
}

// One poisoned table among healthy ones: an hour of sweeps every five seconds.
func TestSweepBacksOff(t *testing.T) {
	tries := 0
	r := newRig(t, &fakeJob{look: func(_ context.Context, name string) (finding, error) {
		if name != "bad" {
			return finding{seen: true, reason: "fine"}, nil
		}
		tries++
		return finding{}, fmt.Errorf("reading _versions/1.manifest: %w", table.ErrCorrupt)
	}}, lakeOf("a", "b", "bad", "c", "d", "e"))
	sweeps := 0
	for end := r.clock.now().Add(time.Hour); r.clock.now().Before(end); r.clock.advance(5 * time.Second) {
		d := r.sweepOnce(t, 0)
		sweeps++
		if !strings.Contains(d.said(), "_versions/1.manifest") {
			t.Fatalf("sweep %d does not say what is wrong: %s", sweeps, d.said())
		}
	}
	if tries < 2 || tries > 8 {
		t.Errorf("%d tries in an hour", tries)
	}
	if n := strings.Count(r.logged.String(), "something is wrong with a Lance table"); n != 1 {
		t.Errorf("logged %d times for one reason:\n%s", n, r.logged)
	}
	got := values(t, r.registry)
	if n := got["SeaweedFS_worker_objects_skipped_total{job_type=lance_fake,reason=corrupt}"]; n != float64(tries) {
		t.Errorf("corrupt: %v, want %d", n, tries)
	}
	if n := got["SeaweedFS_worker_objects_skipped_total{job_type=lance_fake,reason=backoff}"]; n != float64(sweeps-tries) {
		t.Errorf("backoff: %v, want %d", n, sweeps-tries)
	}
	if n := got["SeaweedFS_worker_objects_seen_total{job_type=lance_fake}"]; n != float64(5*sweeps) {
		t.Errorf("seen: %v, want %d", n, 5*sweeps)
	}
}

func TestSweepLogsChangesOfReason(t *testing.T) {
	var failure error
	r := newRig(t, &fakeJob{look: func(_ context.Context, name string) (finding, error) {
		if name == "bad" && failure != nil {
			return finding{}, failure
		}
		return finding{seen: true, reason: "fine"}, nil
	}}, lakeOf("a", "bad"))
	for _, failure = range []error{errFake, errFake, errors.New("disk drowned"), nil, nil, errFake} {
		r.sweepOnce(t, 0)
		r.clock.advance(2 * time.Hour)
	}
	log := r.logged.String()
	if n := strings.Count(log, "something is wrong with a Lance table"); n != 3 {
		t.Errorf("%d warnings:\n%s", n, log)
	}
	if n := strings.Count(log, "nothing is wrong with the Lance table any more"); n != 1 {
		t.Errorf("%d all-clears:\n%s", n, log)
	}
	if f, _ := r.backoff.held("bad", r.clock.now().Add(-2*time.Hour)); f.count != 1 {
		t.Errorf("%d failures in a row, after it could be read", f.count)
	}
	// Gone and come back, it is a new table.
	all := r.lake.entries
	r.lake.entries = all[:1]
	r.sweepOnce(t, 0)
	if _, held := r.backoff.held("bad", r.clock.now().Add(-2*time.Hour)); held {
		t.Error("held though it is gone")
	}
	r.lake.entries, failure = all, errFake
	r.sweepOnce(t, 0)
	if n := strings.Count(r.logged.String(), "something is wrong with a Lance table"); n != 4 {
		t.Errorf("%d warnings:\n%s", n, r.logged)
	}
}

func TestSkipReasons(t *testing.T) {
	for name, c := range map[string]struct {
		seen bool
		err  error
		want string
	}{
		"not opened":        {false, errFake, "open"},
		"opened":            {true, errFake, "stats"},
		"refused":           {false, fmt.Errorf("flag 64: %w", table.ErrRefused), "refused"},
		"refused later":     {true, fmt.Errorf("flag 64: %w", table.ErrRefused), "refused"},
		"corrupt":           {true, fmt.Errorf("footer: %w", table.ErrCorrupt), "corrupt"},
		"encrypted":         {false, fmt.Errorf("opening: %w with SSE-KMS", filerstore.ErrEncrypted), "refused"},
		"without its key":   {false, fmt.Errorf("opening: %w: none is configured", filerstore.ErrKeys), "keys"},
		"denied":            {false, fmt.Errorf("listing: %w", objects.ErrDenied), "denied"},
		"an object is lost": {true, fmt.Errorf("opening: %w", objects.ErrNotFound), "stats"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, &fakeJob{look: func(_ context.Context, name string) (finding, error) {
				if name == "fine" {
					return finding{seen: true, reason: "fine"}, nil
				}
				return finding{seen: c.seen}, c.err
			}}, lakeOf("bad", "fine"))
			d := r.sweepOnce(t, 0)
			if want := "bad: " + c.want + ": " + c.err.Error(); !strings.Contains(d.said(), want) {
				t.Errorf("said %q, not %q", d.said(), want)
			}
			if got := values(t, r.registry)["SeaweedFS_worker_objects_skipped_total{job_type=lance_fake,reason="+c.want+"}"]; got != 1 {
				t.Errorf("counted %v", got)
			}
		})
	}
}

func TestDetectFailsWhenEveryTableFailed(t *testing.T) {
	r := newRig(t, &fakeJob{look: func(_ context.Context, name string) (finding, error) {
		if name == "unwritten" {
			return finding{}, fmt.Errorf("a: %w", table.ErrNoTable)
		}
		return finding{}, errFake
	}}, lakeOf("a", "b", "unwritten"))
	r.lake.entries = append(r.lake.entries, evil("c"))
	for i := range 3 {
		d := new(detection)
		err := r.Detect(t.Context(), detectionRequest(0), d)
		if !errors.Is(err, errAllFailed) || !strings.Contains(err.Error(), "a: ") || !strings.Contains(err.Error(), "b: ") ||
			!strings.Contains(err.Error(), "disk on fire") || !strings.Contains(err.Error(), "a name that leads out") {
			t.Fatalf("sweep %d: %v", i+1, err)
		}
		if d.complete != nil || d.proposals != nil {
			t.Error("completed all the same")
		}
	}
	got := values(t, r.registry)
	if got["SeaweedFS_worker_detections_total{job_type=lance_fake,result=failed}"] != 3 || got["SeaweedFS_worker_detection_seconds{job_type=lance_fake}"] != 3 {
		t.Errorf("metrics %v", got)
	}
	// One that could be read makes all the difference.
	r.clock.advance(2 * time.Hour)
	r.job.(*fakeJob).look = func(_ context.Context, name string) (finding, error) {
		if name == "a" {
			return finding{seen: true, reason: "fine"}, nil
		}
		return finding{}, errFake
	}
	r.sweepOnce(t, 0)
}

func TestUnwrittenTablesAreNobodysProblem(t *testing.T) {
	r := newRig(t, &fakeJob{look: func(_ context.Context, name string) (finding, error) {
		return finding{}, fmt.Errorf("opening %s: %w", name, table.ErrNoTable)
	}}, lakeOf("a", "b"))
	d := r.sweepOnce(t, 0)
	if len(d.activities) != 1 || !strings.Contains(d.said(), "2 not written yet") {
		t.Errorf("said %q", d.said())
	}
	if r.logged.Len() != 0 {
		t.Errorf("logged %s", r.logged)
	}
	for name, v := range values(t, r.registry) {
		if strings.HasPrefix(name, "SeaweedFS_worker_objects_") && v != 0 {
			t.Errorf("%s is %v", name, v)
		}
	}
}

func TestDetectErrors(t *testing.T) {
	r := newRig(t, &fakeJob{look: due}, lakeOf("a"))
	d := new(detection)
	for name, c := range map[string]struct {
		request *plugin_pb.RunDetectionRequest
		lakeErr error
		sendErr error
		want    string
	}{
		"no request":     {want: "the request is empty"},
		"other job type": {request: &plugin_pb.RunDetectionRequest{JobType: "vacuum"}, want: `job type "vacuum" sent to the handler of lance_fake`},
		"no filer":       {request: &plugin_pb.RunDetectionRequest{}, want: "admin named no filer"},
		"listing fails":  {request: detectionRequest(0), lakeErr: errFake, want: "listing the Lance tables: disk on fire"},
		"stream is gone": {request: detectionRequest(0), sendErr: errFake, want: "sending the proposals: disk on fire"},
	} {
		t.Run(name, func(t *testing.T) {
			r.lake.err, d.err = c.lakeErr, c.sendErr
			if err := r.Detect(t.Context(), c.request, d); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
	if err := r.Detect(t.Context(), detectionRequest(0), nil); !errors.Is(err, errNoSender) {
		t.Errorf("no sender: %v", err)
	}
	if n := values(t, r.registry)["SeaweedFS_worker_proposals_total{job_type=lance_fake}"]; n != 0 {
		t.Errorf("%v proposals counted that no stream took", n)
	}
}

func TestSweepSurvivesAPanic(t *testing.T) {
	r := newRig(t, &fakeJob{look: func(_ context.Context, name string) (finding, error) {
		if name == "bad" {
			panic("index out of range")
		}
		return due(nil, name)
	}}, lakeOf("bad", "good"))
	d := r.sweepOnce(t, 0)
	if got := d.proposed(); !slices.Equal(got, []string{"good"}) || !strings.Contains(d.said(), "panic: index out of range") {
		t.Errorf("proposed %v, said %q", got, d.said())
	}
}

func TestSweepNamesOddTables(t *testing.T) {
	r := newRig(t, &fakeJob{look: func(context.Context, string) (finding, error) {
		return finding{seen: true, reason: "9 fragments at version 8", problem: reasonCorrupt, trouble: "one is broken"}, nil
	}}, lakeOf("a"))
	d := r.sweepOnce(t, 0)
	if !strings.Contains(d.said(), "a: corrupt: one is broken") {
		t.Errorf("said %q", d.said())
	}
	if n := values(t, r.registry)["SeaweedFS_worker_objects_skipped_total{job_type=lance_fake,reason=corrupt}"]; n != 1 {
		t.Errorf("counted %v", n)
	}
}

func TestActivitiesAreBounded(t *testing.T) {
	var names []string
	for i := range 500 {
		names = append(names, fmt.Sprintf("t%03d", i))
	}
	r := newRig(t, &fakeJob{look: func(_ context.Context, name string) (finding, error) {
		if name < "t250" {
			return finding{seen: true, reason: "fine"}, nil
		}
		return finding{}, errFake
	}}, lakeOf(names...))
	d := r.sweepOnce(t, 0)
	if len(d.activities) != 1+maxNamed+1 || !strings.Contains(d.said(), "and 230 more") {
		t.Errorf("%d activities, the last says %q", len(d.activities), d.activities[len(d.activities)-1].GetMessage())
	}
	left := d.activities[0].GetDetails()["left_as_it_is"].GetStringList().GetValues()
	if len(left) != maxListed+1 || left[0] != "t000: fine" || left[maxListed] != "and 200 more" {
		t.Errorf("left: %d, %q … %q", len(left), left[0], left[len(left)-1])
	}
}

func TestSweepGoesOnWhenATableDoesNotAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &fakeJob{look: func(ctx context.Context, name string) (finding, error) {
			if name == "slow" {
				<-ctx.Done()
				return finding{}, fmt.Errorf("reading the manifest: %w", ctx.Err())
			}
			return due(ctx, name)
		}}, lakeOf("slow", "z"))
		d := r.sweepOnce(t, 0)
		if got := d.proposed(); !slices.Equal(got, []string{"z"}) {
			t.Errorf("proposed %v", got)
		}
		if want := "slow: open: no answer within 2m0s: reading the manifest"; !strings.Contains(d.said(), want) {
			t.Errorf("said %q, not %q", d.said(), want)
		}
	})
}

func TestDetectionBudget(t *testing.T) {
	for seconds, want := range map[int32]time.Duration{0: 36 * time.Second, -1: 36 * time.Second, 600: 480 * time.Second} {
		request := &plugin_pb.RunDetectionRequest{AdminRuntime: &plugin_pb.AdminRuntimeConfig{DetectionTimeoutSeconds: seconds}}
		if got := detectionBudget(request); got != want {
			t.Errorf("%d s: %s, want %s", seconds, got, want)
		}
	}
	if got := detectionBudget(nil); got != 36*time.Second {
		t.Errorf("no request: %s", got)
	}
}
