package lanceworker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/seaweedfs/seaweedfs/weed/pb/plugin_pb"

	"github.com/seaweedfs/seaweed-lance/internal/catalog"
)

// does is a job that ends at once.
func does(o outcome, err error) *fakeJob {
	return &fakeJob{look: due, do: func(context.Context, string, reportFunc) (outcome, error) { return o, err }}
}

func TestExecuteErrors(t *testing.T) {
	withoutTable := jobOn("a")
	withoutTable.Job.Parameters = nil
	otherType := jobOn("a")
	otherType.Job.JobType = "vacuum"
	withoutFiler := jobOn("a")
	withoutFiler.ClusterContext = nil
	for name, c := range map[string]struct {
		request *plugin_pb.ExecuteJobRequest
		want    string
		// sent: the failure is reported by a completion.
		sent bool
	}{
		"no request":   {want: "the request is empty"},
		"no job":       {request: &plugin_pb.ExecuteJobRequest{}, want: "the request holds no job"},
		"no table":     {request: withoutTable, want: "job job-1 names no table: its parameter table_id is missing or empty"},
		"other type":   {request: otherType, want: `job type "vacuum" sent to the handler of lance_fake`},
		"no filer":     {request: withoutFiler, want: "faking a: admin named no filer of the cluster", sent: true},
		"table gone":   {request: jobOn("b$c"), want: "faking b$c: no table b$c", sent: true},
		"not to trust": {request: jobOn("evil"), want: "faking evil: refused: a name that leads out", sent: true},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, does(outcome{}, nil), lakeOf("a"))
			r.lake.entries = append(r.lake.entries, evil("evil"))
			e := new(execution)
			err := r.Execute(t.Context(), c.request, e)
			switch {
			case c.sent && (err != nil || e.completed.GetSuccess() || e.completed.GetErrorMessage() != c.want):
				t.Errorf("%v, completed %v, want %q", err, e.completed, c.want)
			case !c.sent && (err == nil || !strings.Contains(err.Error(), c.want) || e.completed != nil):
				t.Errorf("%v, completed %v, want %q", err, e.completed, c.want)
			}
		})
	}
	r := newRig(t, does(outcome{}, nil), lakeOf("a"))
	if err := r.Execute(t.Context(), jobOn("a"), nil); !errors.Is(err, errNoSender) {
		t.Errorf("no sender: %v", err)
	}
}

func TestExecuteReports(t *testing.T) {
	r := newRig(t, &fakeJob{}, lakeOf("a"))
	r.job = &fakeJob{do: func(_ context.Context, _ string, report reportFunc) (outcome, error) {
		report(0, "planning")
		report(0.1, "too soon")
		r.clock.advance(progressPause)
		report(0.5, "half")
		r.clock.advance(progressPause)
		report(7, "beyond")
		return outcome{summary: "faked it", values: map[string]int64{"things": 3}}, nil
	}}
	e := new(execution)
	if err := r.Execute(t.Context(), jobOn("a"), e); err != nil {
		t.Fatal(err)
	}
	want := []struct {
		percent float64
		stage   string
	}{{10, "planning"}, {54.5, "half"}, {99, "beyond"}}
	if len(e.progress) != len(want) {
		t.Fatalf("%d messages: %v", len(e.progress), e.progress)
	}
	for i, w := range want {
		p := e.progress[i]
		if p.GetProgressPercent() != w.percent || p.GetStage() != w.stage || p.GetJobId() != "job-1" || p.GetRequestId() != "exec-1" || p.GetJobType() != "lance_fake" {
			t.Errorf("message %d: %v", i, p)
		}
	}
	c := e.completed
	if !c.GetSuccess() || c.GetJobId() != "job-1" || c.GetRequestId() != "exec-1" || c.GetJobType() != "lance_fake" ||
		c.GetResult().GetSummary() != "faked it" || c.GetResult().GetOutputValues()["things"].GetInt64Value() != 3 {
		t.Errorf("completed %v", c)
	}
}

func TestExecuteOnALostStream(t *testing.T) {
	r := newRig(t, does(outcome{summary: "faked it"}, nil), lakeOf("a"))
	e := &execution{err: errors.New("stream closed")}
	if err := r.Execute(t.Context(), jobOn("a"), e); err == nil || !strings.Contains(err.Error(), "reporting the end of job job-1 on a: stream closed") {
		t.Errorf("got %v", err)
	}
}

func TestExecuteSurvivesAPanic(t *testing.T) {
	r := newRig(t, &fakeJob{do: func(context.Context, string, reportFunc) (outcome, error) { panic("index out of range") }}, lakeOf("a"))
	e := new(execution)
	if err := r.Execute(t.Context(), jobOn("a"), e); err != nil {
		t.Fatal(err)
	}
	if e.completed.GetSuccess() || !strings.Contains(e.completed.GetErrorMessage(), "panic: index out of range") {
		t.Errorf("completed %v", e.completed)
	}
	if !strings.Contains(r.logged.String(), "execute_test.go") {
		t.Errorf("no stack in the log: %s", r.logged)
	}
}

// A job that fails for ever is proposed at most eight times in an hour, and the
// reason is visible meanwhile.
func TestFailedJobsBackOff(t *testing.T) {
	r := newRig(t, does(outcome{}, errFake), lakeOf("bad", "good"))
	runs := 0
	for end := r.clock.now().Add(time.Hour); r.clock.now().Before(end); r.clock.advance(5 * time.Second) {
		d := r.sweepOnce(t, 0)
		if got := d.proposed(); len(got) == 0 || got[len(got)-1] != "good" {
			t.Fatalf("the good table is not proposed: %v", got)
		}
		if d.proposed()[0] == "bad" {
			runs++
			if err := r.Execute(t.Context(), jobOn("bad"), new(execution)); err != nil {
				t.Fatal(err)
			}
		} else if !strings.Contains(d.said(), "disk on fire") {
			t.Fatalf("does not say why: %s", d.said())
		}
	}
	if runs < 2 || runs > 8 {
		t.Errorf("%d runs in an hour", runs)
	}
	if n := strings.Count(r.logged.String(), "Lance job failed"); n != 1 {
		t.Errorf("logged %d times for one reason", n)
	}
	// It gets well, and is as good as any other.
	r.clock.advance(time.Hour)
	r.job.(*fakeJob).do = does(outcome{}, nil).do
	if err := r.Execute(t.Context(), jobOn("bad"), new(execution)); err != nil {
		t.Fatal(err)
	}
	if got := r.sweepOnce(t, 0).proposed(); len(got) != 2 {
		t.Errorf("proposed %v", got)
	}
}

func TestHeldTablesAreNoFailedDetection(t *testing.T) {
	r := newRig(t, does(outcome{}, errFake), lakeOf("a"))
	if err := r.Execute(t.Context(), jobOn("a"), new(execution)); err != nil {
		t.Fatal(err)
	}
	d := r.sweepOnce(t, 0)
	if len(d.proposed()) != 0 || !strings.Contains(d.said(), "a: backoff: left alone until 2026-11-12T08:01:00Z after 1 failure: faking a: disk on fire") {
		t.Errorf("proposed %v, said %q", d.proposed(), d.said())
	}
}

func TestPreemptedAndCancelledJobsAreNotHeld(t *testing.T) {
	r := newRig(t, does(outcome{preempted: "a run on host-2"}, nil), lakeOf("a"))
	if err := r.Execute(t.Context(), jobOn("a"), new(execution)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	r.job.(*fakeJob).do = func(ctx context.Context, _ string, _ reportFunc) (outcome, error) {
		cancel()
		return outcome{}, ctx.Err()
	}
	e := new(execution)
	if err := r.Execute(ctx, jobOn("a"), e); err != nil || e.completed.GetSuccess() || e.completed.GetErrorMessage() != "faking a: context canceled" {
		t.Fatalf("%v, completed %v", err, e.completed)
	}
	if got := r.sweepOnce(t, 0).proposed(); len(got) != 1 {
		t.Errorf("proposed %v", got)
	}
}

func TestStopWaitsForRunningJobs(t *testing.T) {
	started, cleaned := make(chan struct{}), make(chan struct{})
	r := newRig(t, &fakeJob{do: func(ctx context.Context, _ string, _ reportFunc) (outcome, error) {
		close(started)
		<-ctx.Done()
		close(cleaned)
		return outcome{}, ctx.Err()
	}}, lakeOf("a"))
	e, ended := new(execution), make(chan error)
	go func() { ended <- r.Execute(context.Background(), jobOn("a"), e) }()
	<-started
	// Twice at once: the signal's hook and whoever ends the process.
	second := make(chan error)
	go func() { second <- r.jobs.Stop(context.Background()) }()
	if err := r.jobs.Stop(context.Background()); err != nil {
		t.Errorf("Stop: %v", err)
	}
	select {
	case <-cleaned:
	default:
		t.Error("Stop returned before the job had ended")
	}
	if err := <-second; err != nil {
		t.Errorf("second Stop: %v", err)
	}
	if err := <-ended; err != nil {
		t.Errorf("Execute: %v", err)
	}
	if want := "faking a: the worker is shutting down: context canceled"; e.completed.GetErrorMessage() != want {
		t.Errorf("completed %v, want %q", e.completed, want)
	}
	late := new(execution)
	if err := r.Execute(context.Background(), jobOn("a"), late); !errors.Is(err, errStopping) || late.completed != nil {
		t.Errorf("a job that came late: %v", err)
	}
}

func TestStopGivesUp(t *testing.T) {
	var jobs Jobs
	_, end, err := jobs.begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := jobs.Stop(ctx); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "1 Lance jobs") {
		t.Errorf("Stop: %v", err)
	}
	end()
	if err := jobs.Stop(t.Context()); err != nil {
		t.Errorf("Stop after the end: %v", err)
	}
}

// A table that was dropped or deregistered since it was proposed is nobody's failure.
func TestExecuteOnADroppedTable(t *testing.T) {
	r := newRig(t, does(outcome{}, nil), lakeOf("a"))
	r.lake.missing = fmt.Errorf("finding table b: %w: it is deregistered", catalog.ErrNotFound)
	e := new(execution)
	if err := r.Execute(t.Context(), jobOn("b"), e); err != nil {
		t.Fatal(err)
	}
	if !e.completed.GetSuccess() || !strings.Contains(e.completed.GetResult().GetSummary(), "deregistered") {
		t.Errorf("completed %v", e.completed)
	}
}
