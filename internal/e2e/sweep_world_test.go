package e2e

import (
	"log/slog"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/seaweedfs/seaweedfs/weed/pb/plugin_pb"
	pluginworker "github.com/seaweedfs/seaweedfs/weed/plugin/worker"

	"github.com/seaweedfs/seaweed-lance/internal/e2e/counting"
	"github.com/seaweedfs/seaweed-lance/internal/e2e/manytables"
	"github.com/seaweedfs/seaweed-lance/internal/lance/lancetest"
	"github.com/seaweedfs/seaweed-lance/internal/weed/cluster"
	"github.com/seaweedfs/seaweed-lance/lanceworker"
)

// The bucket and namespace of the tables that are swept.
const (
	sweptBucket    = "lab"
	sweptNamespace = "ml"
)

// lake is a cluster with many tables, and the filer that counts before its own.
type lake struct {
	*testCluster
	*manytables.Lake
	counter *counting.Filer
	// kinds are those of the tables in turn; names are the tables.
	kinds []manytables.Kind
	names []string
}

// startLake starts a cluster and makes n tables.
func startLake(t *testing.T, n int, options cluster.Options) *lake {
	t.Helper()
	options.Buckets = append(options.Buckets, sweptBucket)
	l := &lake{testCluster: startCluster(t, options)}
	var err error
	if l.kinds, err = manytables.Kinds(lancetest.Root()); err != nil {
		t.Fatal(err)
	}
	if l.Lake, err = manytables.New(l.Cluster, sweptBucket, sweptNamespace); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	start := time.Now()
	if l.names, err = l.Fill(t.Context(), n, l.kinds); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d tables made in %v", n, time.Since(start).Round(time.Millisecond))
	if l.counter, err = counting.Start(l.FilerGRPC(), l.Filer()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.counter.Stop(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// sweepClock is a clock that stands still until it is moved.
type sweepClock struct {
	mu sync.Mutex
	t  time.Time
}

func (c *sweepClock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *sweepClock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

// Between job types of a round, and between rounds, as admin's schedule has it.
const (
	betweenTypes  = 30 * time.Second
	betweenSweeps = 10 * time.Minute
)

// sweeper is a worker's handlers of all job types, driven as admin would.
type sweeper struct {
	handlers []pluginworker.JobHandler
	filer    string
	clock    *sweepClock
	// settings of the jobs' forms.
	settings map[string]int64
}

// sweeper makes handlers that nothing is known to.
func (l *lake) sweeper(t *testing.T, clock *sweepClock, settings map[string]int64) *sweeper {
	t.Helper()
	handlers, err := lanceworker.Handlers(lanceworker.Options{
		Registerer: prometheus.NewRegistry(),
		Logger:     slog.New(slog.DiscardHandler),
		Now:        clock.now,
		WorkerID:   "sweeper",
	})
	if err != nil {
		t.Fatal(err)
	}
	var types []string
	for _, h := range handlers {
		types = append(types, h.Capability().GetJobType())
	}
	registered, err := pluginworker.ResolveHandlerFactories("all")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range registered {
		if strings.HasPrefix(r.JobType, "lance_") && !slices.Contains(types, r.JobType) {
			t.Fatalf("%s is registered and not among the handlers of %v", r.JobType, types)
		}
	}
	return &sweeper{handlers: handlers, filer: l.counter.Address(), clock: clock, settings: settings}
}

// swept is what one detection sent.
type swept struct {
	activities   []*plugin_pb.ActivityEvent
	proposals    *plugin_pb.DetectionProposals
	complete     *plugin_pb.DetectionComplete
	observations []*plugin_pb.ObjectObservation
}

func (s *swept) SendActivity(a *plugin_pb.ActivityEvent) error {
	s.activities = append(s.activities, a)
	return nil
}

func (s *swept) SendProposals(p *plugin_pb.DetectionProposals) error {
	s.proposals = p
	return nil
}

func (s *swept) SendComplete(c *plugin_pb.DetectionComplete) error {
	s.complete = c
	return nil
}

// SendObservations makes a sweep observe each table, as it does in a worker that knows admin.
func (s *swept) SendObservations(o *plugin_pb.WorkerObservations) error {
	s.observations = append(s.observations, o.GetObservations()...)
	return nil
}

// sweep runs a detection of each job type, with pauses between them and after the last, and
// returns what they sent by job type.
func (s *sweeper) sweep(t *testing.T) map[string]*swept {
	t.Helper()
	end := s.clock.now().Add(betweenSweeps)
	all := make(map[string]*swept)
	for _, h := range s.handlers {
		jobType := h.Capability().GetJobType()
		all[jobType] = s.detect(t, h)
		s.clock.advance(betweenTypes)
	}
	s.clock.advance(end.Sub(s.clock.now()))
	return all
}

func (s *sweeper) detect(t *testing.T, h pluginworker.JobHandler) *swept {
	t.Helper()
	jobType := h.Capability().GetJobType()
	values := make(map[string]*plugin_pb.ConfigValue)
	for name, v := range s.settings {
		values[name] = &plugin_pb.ConfigValue{Kind: &plugin_pb.ConfigValue_Int64Value{Int64Value: v}}
	}
	got := new(swept)
	err := h.Detect(t.Context(), &plugin_pb.RunDetectionRequest{
		RequestId:          "sweep",
		JobType:            jobType,
		WorkerConfigValues: values,
		AdminRuntime:       &plugin_pb.AdminRuntimeConfig{DetectionTimeoutSeconds: 600},
		ClusterContext:     &plugin_pb.ClusterContext{FilerAddresses: []string{s.filer}},
	}, got)
	if err != nil || !got.complete.GetSuccess() || got.proposals.GetHasMore() {
		t.Fatalf("sweeping for %s: %v, %v", jobType, err, got.complete)
	}
	return got
}

// say puts what a detection found into words: all that it proposes and says, in order.
func (s *swept) say() []string {
	var out []string
	for _, p := range s.proposals.GetProposals() {
		out = append(out, "proposed: "+p.String())
	}
	for _, a := range s.activities {
		out = append(out, a.GetMessage())
		for _, reason := range a.GetDetails()["left_as_it_is"].GetStringList().GetValues() {
			out = append(out, "left: "+reason)
		}
	}
	return out
}

// observed are the tables of observations, with their versions.
func (s *swept) observed() map[string]int64 {
	out := make(map[string]int64)
	for _, o := range s.observations {
		out[path.Base(strings.Join(o.GetObjectId(), "/"))] = o.GetAttributes()["version"].GetInt64Value()
	}
	return out
}

// place says in few words what a call is about: the part below a table, or the catalog.
func place(c counting.Call) string {
	parts := strings.Split(strings.TrimPrefix(c.Path, "/buckets"), "/")
	switch {
	case c.Path == "":
		return c.Method
	case len(parts) < 4:
		return c.Method + " of the catalog"
	case len(parts) == 4:
		return c.Method + " of a table's directory"
	}
	below := parts[4:]
	if c.Method == "LookupDirectoryEntry" {
		below = below[:len(below)-1]
	}
	return c.Method + " below " + strings.Join(below, "/")
}
