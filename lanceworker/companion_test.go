package lanceworker

import (
	"context"
	"log/slog"
	"net"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/seaweedfs/seaweedfs/weed/pb/plugin_pb"
	"go.uber.org/goleak"
	"google.golang.org/grpc"
)

// oneStream is an admin that takes one stream.
type oneStream struct {
	plugin_pb.UnimplementedPluginControlServiceServer
	// got has what came, ended is closed with the stream.
	got   chan *plugin_pb.WorkerToAdminMessage
	ended chan struct{}
}

func (a *oneStream) WorkerStream(s plugin_pb.PluginControlService_WorkerStreamServer) error {
	defer close(a.ended)
	for {
		m, err := s.Recv()
		if err != nil {
			return err
		}
		if m.GetHello() != nil {
			for _, answer := range []*plugin_pb.AdminToWorkerMessage{
				{Body: &plugin_pb.AdminToWorkerMessage_Hello{Hello: &plugin_pb.AdminHello{Accepted: true}}},
				{RequestId: "p1", Body: &plugin_pb.AdminToWorkerMessage_RequestObjectPreview{RequestObjectPreview: &plugin_pb.RequestObjectPreview{Format: "ICEBERG"}}},
			} {
				if err := s.Send(answer); err != nil {
					return err
				}
			}
		}
		a.got <- m
	}
}

// A detection of a worker that was told where admin is opens the second stream,
// and stopping the jobs ends it.
func TestCompanion(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	admin := &oneStream{got: make(chan *plugin_pb.WorkerToAdminMessage, 100), ended: make(chan struct{})}
	server := grpc.NewServer()
	plugin_pb.RegisterPluginControlServiceServer(server, admin)
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(l)
	}()
	defer func() {
		server.Stop()
		<-served
	}()
	host, port, _ := net.SplitHostPort(l.Addr().String())

	jobs, registry := new(Jobs), prometheus.NewRegistry()
	w, err := newWorkshop(Options{Registerer: registry, Logger: slog.New(slog.DiscardHandler), WorkerID: "worker-1", Jobs: jobs, Admin: host + ":1." + port})
	if err != nil {
		t.Fatal(err)
	}
	w.lakes.connect = func(context.Context, []string) (connection, error) { return lakeOf("a"), nil }
	h := w.handler(&fakeJob{look: func(context.Context, string) (finding, error) {
		return finding{seen: true, facts: &facts{version: 3, versions: 2, rows: 1}}, nil
	}})
	h.tables = new(fakeTables)
	if err := h.Detect(t.Context(), detectionRequest(0), new(detection)); err != nil {
		t.Fatal(err)
	}
	var hello, observed, answered bool
	for limit := time.After(20 * time.Second); !hello || !observed || !answered; {
		select {
		case <-limit:
			t.Fatalf("hello %v, observed %v, answered %v", hello, observed, answered)
		case m := <-admin.got:
			if m.GetWorkerId() != "worker-1-lance" {
				t.Errorf("worker %s", m.GetWorkerId())
			}
			if m.GetHello() != nil {
				hello = true
			}
			if o := m.GetObservations().GetObservations(); len(o) > 0 {
				observed = true
				if got := attributes(o[0]); got != "fragments=0 rows=1 schema= version=3 versions=2" || m.GetObservations().GetJobType() != "lance_fake" {
					t.Errorf("observed %s", got)
				}
			}
			if p := m.GetObjectPreviewResponse(); p != nil {
				answered = true
				if p.GetRequestId() != "p1" || p.GetSuccess() || p.GetErrorMessage() == "" {
					t.Errorf("answer %v", p)
				}
			}
		}
	}
	if err := jobs.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-admin.ended
	if got := values(t, registry); got["SeaweedFS_worker_stream_events_total{event=connected}"] != 1 || got["SeaweedFS_worker_stream_events_total{event=shutdown}"] != 1 {
		t.Errorf("metrics %v", got)
	}
}

func TestAdminAddress(t *testing.T) {
	known := func(address string) func() string { return func() string { return address } }
	for name, c := range map[string]struct {
		o        Options
		variable string
		want     string
	}{
		"nothing":         {},
		"option":          {Options{Admin: "a:1", admin: known("b:1")}, "c:1", "a:1"},
		"running command": {Options{admin: known("b:1")}, "c:1", "b:1"},
		"not known yet":   {Options{admin: known("")}, "c:1", "c:1"},
		"environment":     {Options{}, "c:1", "c:1"},
	} {
		t.Setenv(adminVariable, c.variable)
		if got := c.o.adminAddress(); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestReachAdmin(t *testing.T) {
	before := registered.mu.options
	defer func() { registered.mu.options = before }()
	ReachAdmin(func() string { return "mini:1" })
	Configure(Options{WorkerID: "x"})
	if got := registered.mu.options.adminAddress(); got != "mini:1" {
		t.Errorf("after Configure: %q", got)
	}
	Configure(Options{Admin: "own:1"})
	if got := registered.mu.options.adminAddress(); got != "own:1" {
		t.Errorf("with an Admin: %q", got)
	}
}

func TestCompanionID(t *testing.T) {
	if got := (&identity{workerID: "w"}).companion(); got != "w-lance" {
		t.Errorf("of a named worker: %s", got)
	}
	i := &identity{workingDir: t.TempDir()}
	if a, b := i.companion(), i.companion(); a == b {
		t.Errorf("two workers of unknown name share %s", a)
	}
}
