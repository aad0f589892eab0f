package lanceworker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/seaweedfs/seaweedfs/weed/pb/plugin_pb"

	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/session"
)

var errFake = errors.New("disk on fire")

// clock is a clock that stands still until it is moved.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

func newClock() *clock { return &clock{t: time.Date(2026, 11, 12, 8, 0, 0, 0, time.UTC)} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

// fakeLake is a lake of tables that exist in name only.
type fakeLake struct {
	entries []entry
	err     error
	closed  int
	// missing, where it is set, is what a table that is not there is looked up with.
	missing error
	// followed are the filers that it was turned to.
	followed [][]string
	// unfollowed is what turning fails with.
	unfollowed error
}

func (l *fakeLake) tables(context.Context) ([]entry, error) { return l.entries, l.err }

func (l *fakeLake) find(_ context.Context, id []string) (entry, error) {
	for _, e := range l.entries {
		if encodeID(e.id) == encodeID(id) {
			return e, nil
		}
	}
	if l.missing != nil {
		return entry{}, l.missing
	}
	return entry{}, fmt.Errorf("no table %s", encodeID(id))
}

func (l *fakeLake) follow(filers []string) error {
	l.followed = append(l.followed, filers)
	return l.unfollowed
}

func (l *fakeLake) close() { l.closed++ }

// evil is a table whose record is not to be trusted.
func evil(name string) entry {
	return entry{id: []string{name}, err: fmt.Errorf("%w: a name that leads out", table.ErrRefused)}
}

// placed is a table in name only.
func placed(name string) entry {
	return entry{id: strings.Split(name, "$"), place: session.Directory(name)}
}

// fakeTables has nothing to say of tables.
type fakeTables struct {
	// withdrawn are known to be deregistered when one looks closer.
	withdrawn map[string]bool
	changes   []string
	// unseen is what looking fails with.
	unseen error
	keeps  func(string) bool
}

func (f *fakeTables) look(_ context.Context, e entry) (sighting, error) {
	return sighting{entry: e}, f.unseen
}

func (f *fakeTables) still(_ context.Context, s sighting) error {
	if f.withdrawn[encodeID(s.id)] {
		return errWithdrawn
	}
	return nil
}

func (f *fakeTables) changed(_ context.Context, e entry) {
	f.changes = append(f.changes, encodeID(e.id))
}
func (f *fakeTables) keep(exists func(string) bool) { f.keeps = exists }

func lakeOf(names ...string) *fakeLake {
	l := &fakeLake{}
	for _, n := range names {
		l.entries = append(l.entries, placed(n))
	}
	return l
}

// fakeJob answers for each table what its functions say.
type fakeJob struct {
	look func(ctx context.Context, table string) (finding, error)
	do   func(ctx context.Context, table string, report reportFunc) (outcome, error)
}

func (*fakeJob) describe() description {
	return description{jobType: "lance_fake", verb: "Fake", doing: "faking", formID: "lance-fake-worker", formTitle: "Fake"}
}

func (j *fakeJob) configure(map[string]*plugin_pb.ConfigValue) task { return j }

func (j *fakeJob) inspect(ctx context.Context, s sighting) (finding, error) {
	return j.look(ctx, s.place.String())
}

func (j *fakeJob) run(ctx context.Context, e entry, report reportFunc) (outcome, error) {
	return j.do(ctx, e.place.String(), report)
}

// due is the look of a table that needs a job.
func due(context.Context, string) (finding, error) {
	return finding{seen: true, due: true, size: "2 things", reason: "two are too many", runtime: time.Hour}, nil
}

// rig is a handler with everything around it fake.
type rig struct {
	*handler
	clock    *clock
	lake     *fakeLake
	registry *prometheus.Registry
	logged   *bytes.Buffer
	link     *fakeLink
	fake     *fakeTables
}

// fakeLink takes observations to nobody.
type fakeLink struct {
	wanted bool
	// said are "job type:table" of what was observed, seen the last of each table.
	said []string
	seen map[string]*plugin_pb.ObjectObservation
	keep func(id []string) bool
}

func (l *fakeLink) Wanted() bool { return l.wanted }

func (l *fakeLink) Observe(jobType string, o *plugin_pb.ObjectObservation) {
	name := encodeID(o.GetObjectId())
	l.said = append(l.said, jobType+":"+name)
	if l.seen == nil {
		l.seen = make(map[string]*plugin_pb.ObjectObservation)
	}
	l.seen[name] = o
}

func (l *fakeLink) Keep(exists func(id []string) bool) { l.keep = exists }

func newRig(t *testing.T, j job, l *fakeLake) *rig {
	t.Helper()
	r := &rig{clock: newClock(), lake: l, registry: prometheus.NewRegistry(), logged: new(bytes.Buffer), link: new(fakeLink), fake: new(fakeTables)}
	w := newTestWorkshop(t, r)
	r.use(w.handler(j))
	return r
}

// use makes a handler the one of the rig.
func (r *rig) use(h *handler) {
	h.tables = r.fake
	r.handler = h
}

func newTestWorkshop(t *testing.T, r *rig) *workshop {
	t.Helper()
	w, err := newWorkshop(Options{
		Registerer: r.registry,
		Logger:     slog.New(slog.NewTextHandler(r.logged, nil)),
		Now:        r.clock.now,
		WorkerID:   "worker-1",
	})
	if err != nil {
		t.Fatal(err)
	}
	w.observer.link = r.link
	w.lakes.connect = func(context.Context, []string) (connection, error) { return r.lake, nil }
	return w
}

// detection collects what a detection sends.
type detection struct {
	activities []*plugin_pb.ActivityEvent
	proposals  *plugin_pb.DetectionProposals
	complete   *plugin_pb.DetectionComplete
	order      []string
	err        error
}

func (d *detection) SendActivity(a *plugin_pb.ActivityEvent) error {
	d.activities = append(d.activities, a)
	d.order = append(d.order, "activity")
	return d.err
}

func (d *detection) SendProposals(p *plugin_pb.DetectionProposals) error {
	d.proposals = p
	d.order = append(d.order, "proposals")
	return d.err
}

func (d *detection) SendComplete(c *plugin_pb.DetectionComplete) error {
	d.complete = c
	d.order = append(d.order, "complete")
	return d.err
}

// proposed are the tables that were proposed, in order.
func (d *detection) proposed() []string {
	var names []string
	for _, p := range d.proposals.GetProposals() {
		_, name, _ := strings.Cut(p.GetProposalId(), ":")
		names = append(names, name)
	}
	return names
}

// said are the messages of the activities.
func (d *detection) said() string {
	var b strings.Builder
	for _, a := range d.activities {
		fmt.Fprintln(&b, a.GetMessage())
	}
	return b.String()
}

func detectionRequest(max int32) *plugin_pb.RunDetectionRequest {
	return &plugin_pb.RunDetectionRequest{
		RequestId:      "detect-1",
		MaxResults:     max,
		AdminRuntime:   &plugin_pb.AdminRuntimeConfig{DetectionTimeoutSeconds: 600},
		ClusterContext: oneFiler(),
	}
}

func oneFiler() *plugin_pb.ClusterContext {
	return &plugin_pb.ClusterContext{FilerAddresses: []string{"filer-1:8888.18888"}}
}

// sweepOnce runs a detection that must not fail.
func (r *rig) sweepOnce(t *testing.T, max int32) *detection {
	t.Helper()
	d := new(detection)
	if err := r.Detect(t.Context(), detectionRequest(max), d); err != nil {
		t.Fatalf("Detect: %v", err)
	}
	return d
}

// execution collects what an execution sends.
type execution struct {
	mu        sync.Mutex
	progress  []*plugin_pb.JobProgressUpdate
	completed *plugin_pb.JobCompleted
	err       error
}

func (e *execution) SendProgress(p *plugin_pb.JobProgressUpdate) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.progress = append(e.progress, p)
	return e.err
}

func (e *execution) SendCompleted(c *plugin_pb.JobCompleted) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.completed = c
	return e.err
}

func jobOn(table string) *plugin_pb.ExecuteJobRequest {
	return &plugin_pb.ExecuteJobRequest{
		RequestId:      "exec-1",
		ClusterContext: oneFiler(),
		Job: &plugin_pb.JobSpec{JobId: "job-1", Parameters: map[string]*plugin_pb.ConfigValue{
			paramTable: stringList(strings.Split(table, "$")),
		}},
	}
}

// values reads all samples of a registry: "name{a=b,c=d}" to value. Histograms
// give their number of observations.
func values(t *testing.T, g prometheus.Gatherer) map[string]float64 {
	t.Helper()
	families, err := g.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := make(map[string]float64)
	for _, f := range families {
		for _, m := range f.GetMetric() {
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, l.GetName()+"="+l.GetValue())
			}
			key := f.GetName() + "{" + strings.Join(labels, ",") + "}"
			switch {
			case m.GetCounter() != nil:
				out[key] = m.GetCounter().GetValue()
			case m.GetGauge() != nil:
				out[key] = m.GetGauge().GetValue()
			case m.GetHistogram() != nil:
				out[key] = float64(m.GetHistogram().GetSampleCount())
			}
		}
	}
	return out
}
