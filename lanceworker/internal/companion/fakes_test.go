package companion

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/seaweedfs/seaweedfs/weed/pb/plugin_pb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
)

// fakeAdmin is the admin's end of streams.
type fakeAdmin struct {
	plugin_pb.UnimplementedPluginControlServiceServer
	address string
	// stop ends the server and waits for it.
	stop func()
	// streams are those that were opened, each once its hello has come.
	streams chan *adminStream
	// refuse is what hellos are answered with instead of being accepted.
	refuse string
	// silent: no hello is answered.
	silent bool
}

// adminStream is one stream at the admin's end.
type adminStream struct {
	plugin_pb.PluginControlService_WorkerStreamServer
	hello *plugin_pb.WorkerHello
	token []string
	got   chan *plugin_pb.WorkerToAdminMessage
	// end ends the stream with an error, or with nil.
	end chan error
}

func newAdmin(t *testing.T) *fakeAdmin {
	t.Helper()
	a := &fakeAdmin{streams: make(chan *adminStream, 10)}
	a.address = a.listen(t, "127.0.0.1:0")
	return a
}

// listen serves at an address, which it returns.
func (a *fakeAdmin) listen(t *testing.T, address string) string {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	plugin_pb.RegisterPluginControlServiceServer(server, a)
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(l)
	}()
	a.stop = func() {
		server.Stop()
		<-served
	}
	t.Cleanup(a.stop)
	return l.Addr().String()
}

// flag is the address as `-admin` takes it, with a gRPC port of its own.
func (a *fakeAdmin) flag() string {
	host, port, _ := net.SplitHostPort(a.address)
	return host + ":1." + port
}

func (a *fakeAdmin) WorkerStream(s plugin_pb.PluginControlService_WorkerStreamServer) error {
	m, err := s.Recv()
	if err != nil {
		return err
	}
	md, _ := metadata.FromIncomingContext(s.Context())
	st := &adminStream{PluginControlService_WorkerStreamServer: s, hello: m.GetHello(), token: md.Get("authorization"),
		got: make(chan *plugin_pb.WorkerToAdminMessage, 100), end: make(chan error, 1)}
	answer := &plugin_pb.AdminHello{Accepted: a.refuse == "", Message: a.refuse}
	if !a.silent {
		if err := s.Send(&plugin_pb.AdminToWorkerMessage{Body: &plugin_pb.AdminToWorkerMessage_Hello{Hello: answer}}); err != nil {
			return err
		}
	}
	a.streams <- st
	received := make(chan error, 1)
	go func() {
		for {
			m, err := s.Recv()
			if err != nil {
				received <- err
				return
			}
			st.got <- m
		}
	}()
	select {
	case err := <-received:
		return err
	case err := <-st.end:
		return err
	}
}

// waitLimit bounds what a test waits for on a busy machine.
const waitLimit = 20 * time.Second

func within[T any](t *testing.T, what string, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(waitLimit):
		t.Fatalf("waited for %s in vain", what)
		panic("not reached")
	}
}

func (a *fakeAdmin) stream(t *testing.T) *adminStream {
	t.Helper()
	return within(t, "a stream", a.streams)
}

// observed reads observations until as many have come, and returns their names.
func (s *adminStream) observed(t *testing.T, n int) []string {
	t.Helper()
	var names []string
	for len(names) < n {
		m := within(t, fmt.Sprintf("observations beyond %v", names), s.got)
		for _, o := range m.GetObservations().GetObservations() {
			names = append(names, m.GetObservations().GetJobType()+":"+o.GetObjectId()[0])
		}
	}
	return names
}

// other is the next message that is neither heartbeat nor observation.
func (s *adminStream) other(t *testing.T) *plugin_pb.WorkerToAdminMessage {
	t.Helper()
	for {
		m := within(t, "an answer", s.got)
		if m.GetHeartbeat() == nil && m.GetObservations() == nil {
			return m
		}
	}
}

// timers is a clock that a test moves.
type timers struct {
	mu      sync.Mutex
	now     time.Time
	waiting map[time.Duration][]chan time.Time
	// asked has every duration that was asked for.
	asked chan time.Duration
}

func newTimers() *timers {
	return &timers{now: time.Unix(1_800_000_000, 0), waiting: make(map[time.Duration][]chan time.Time), asked: make(chan time.Duration, 1000)}
}

func (c *timers) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *timers) After(d time.Duration) <-chan time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	ch := make(chan time.Time, 1)
	if d == 0 {
		ch <- c.now
	} else {
		c.waiting[d] = append(c.waiting[d], ch)
	}
	c.asked <- d
	return ch
}

// fire ends all waiting for that long.
func (c *timers) fire(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	for _, ch := range c.waiting[d] {
		ch <- c.now
	}
	delete(c.waiting, d)
}

// pause is the next pause before a reconnect that is asked for.
func (c *timers) pause(t *testing.T) time.Duration {
	t.Helper()
	for {
		if d := within(t, "a pause", c.asked); d != 0 && d != heartbeat && d != connectTimeout {
			return d
		}
	}
}

// rig is a companion with everything around it fake.
type rig struct {
	*Companion
	clock  *timers
	logged *lockedBuffer
	events chan string
	// stop ends the companion and waits for it.
	stop func()
}

func newRig(t *testing.T, admin func() string, preview func(context.Context, *plugin_pb.RequestObjectPreview) *plugin_pb.ObjectPreviewResponse) *rig {
	t.Helper()
	r := &rig{clock: newTimers(), logged: new(lockedBuffer), events: make(chan string, 100)}
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	r.stop = func() {
		cancel()
		wg.Wait()
	}
	t.Cleanup(r.stop)
	r.Companion = New(Options{
		Admin: admin, WorkerID: func() string { return "w-lance" }, Version: "v1",
		Dial: grpc.WithTransportCredentials(insecure.NewCredentials()),
		Begin: func(context.Context) (context.Context, func(), error) {
			if ctx.Err() != nil {
				return nil, nil, errors.New("over")
			}
			wg.Add(1)
			return ctx, wg.Done, nil
		},
		Preview: preview,
		Log:     slog.New(slog.NewTextHandler(r.logged, nil)),
		Now:     r.clock.Now, After: r.clock.After,
		Event: func(e string) { r.events <- e },
	})
	return r
}

func (r *rig) event(t *testing.T, want ...string) {
	t.Helper()
	if got := within(t, "an event", r.events); !slices.Contains(want, got) {
		t.Fatalf("event %s, want %v", got, want)
	}
}

func seen(name string) *plugin_pb.ObjectObservation {
	return &plugin_pb.ObjectObservation{ObjectId: []string{name}, ObjectKind: "table", Format: "LANCE"}
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
