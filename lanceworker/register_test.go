package lanceworker

import (
	"errors"
	"slices"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	pluginworker "github.com/seaweedfs/seaweedfs/weed/plugin/worker"
	"github.com/seaweedfs/seaweedfs/weed/stats"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

func TestRegistered(t *testing.T) {
	for tokens, want := range map[string][]string{
		"all":                                  {compactType, cleanupType},
		"heavy":                                {compactType},
		"default":                              {cleanupType},
		"lance_cleanup_versions,lance_compact": {cleanupType, compactType},
		"lance-compact":                        {compactType},
		"lance-cleanup":                        {cleanupType},
	} {
		factories, err := pluginworker.ResolveHandlerFactories(tokens)
		if err != nil {
			t.Errorf("%s: %v", tokens, err)
			continue
		}
		var got []string
		for _, f := range factories {
			if f.JobType == compactType || f.JobType == cleanupType {
				got = append(got, f.JobType)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", tokens, got, want)
		}
	}
}

func TestBuildRegistered(t *testing.T) {
	dial := grpc.WithTransportCredentials(insecure.NewCredentials())
	build := func(jobType string, o pluginworker.HandlerBuildOptions) *handler {
		t.Helper()
		factories, err := pluginworker.ResolveHandlerFactories(jobType)
		if err != nil {
			t.Fatal(err)
		}
		h, err := factories[0].Build(o)
		if err != nil {
			t.Fatal(err)
		}
		return h.(*handler)
	}
	o := pluginworker.HandlerBuildOptions{GrpcDialOption: dial, MaxExecute: 2, WorkingDir: t.TempDir()}
	a, b := build(compactType, o), build(cleanupType, o)
	if a.lakes != b.lakes || a.jobs != b.jobs || a.identity != b.identity {
		t.Error("two job types of one worker share nothing")
	}
	if a.jobs != &registered.jobs {
		t.Error("Shutdown does not know of the jobs")
	}
	if got := a.Capability().GetMaxExecutionConcurrency(); got != 2 {
		t.Errorf("offers %d executions", got)
	}
	o.WorkingDir = t.TempDir()
	if c := build(compactType, o); c.lakes == a.lakes {
		t.Error("two workers share a connection")
	}
	o.GrpcDialOption = grpc.WithTransportCredentials(insecure.NewCredentials())
	if c, d := build(compactType, o), build(cleanupType, o); c.lakes == a.lakes || c.lakes != d.lakes {
		t.Error("the connection does not follow the dial option")
	}
	found := false
	for name := range values(t, stats.Gather) {
		found = found || name == "SeaweedFS_worker_jobs_total{job_type=lance_compact,result=ok}"
	}
	if !found {
		t.Error("no metrics in SeaweedFS's registry")
	}
	if err := Shutdown(t.Context()); err != nil {
		t.Errorf("Shutdown: %v", err)
	}
	if err := a.Execute(t.Context(), jobOn("a"), new(execution)); !errors.Is(err, errStopping) {
		t.Errorf("after Shutdown: %v", err)
	}
}

func TestSameDial(t *testing.T) {
	a, b := grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithTransportCredentials(insecure.NewCredentials())
	uncomparable := struct {
		grpc.DialOption
		f []int
	}{DialOption: a}
	for _, c := range []struct {
		a, b grpc.DialOption
		want bool
	}{{nil, nil, true}, {a, nil, false}, {nil, a, false}, {a, a, true}, {a, b, false}, {uncomparable, uncomparable, false}} {
		if got := sameDial(c.a, c.b); got != c.want {
			t.Errorf("%v and %v: %v", c.a, c.b, got)
		}
	}
}

func TestHandlers(t *testing.T) {
	registry := prometheus.NewRegistry()
	jobs := new(Jobs)
	handlers, err := Handlers(Options{Registerer: registry, Jobs: jobs, WorkingDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	var types []string
	for _, h := range handlers {
		types = append(types, h.Descriptor().GetJobType())
		if h.Capability().GetJobType() != h.Descriptor().GetJobType() || h.Capability().GetMaxExecutionConcurrency() != 1 {
			t.Errorf("capability %v", h.Capability())
		}
		if h.(*handler).jobs != jobs {
			t.Error("the account of jobs is another")
		}
	}
	if !slices.Equal(types, []string{compactType, cleanupType}) {
		t.Errorf("job types %v", types)
	}
	// A worker takes them as they are.
	if _, err := pluginworker.NewWorker(pluginworker.WorkerOptions{
		AdminServer: "localhost:12535", GrpcDialOption: grpc.WithTransportCredentials(insecure.NewCredentials()), Handlers: handlers,
	}); err != nil {
		t.Errorf("NewWorker: %v", err)
	}
	if _, err := Handlers(Options{Registerer: registry}); err != nil {
		t.Errorf("a second set in one registry: %v", err)
	}
	if _, err := Handlers(Options{MaxExecute: -1}); !errors.Is(err, errNegativeExecute) {
		t.Errorf("MaxExecute -1: %v", err)
	}
}
