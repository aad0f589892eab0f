package companion

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/seaweedfs/seaweedfs/weed/pb"
	"github.com/seaweedfs/seaweedfs/weed/pb/plugin_pb"
	"github.com/seaweedfs/seaweedfs/weed/security"
	"github.com/seaweedfs/seaweedfs/weed/util"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// stream connects and serves until the stream ends. It tells whether admin had
// accepted it.
func (c *Companion) stream(ctx context.Context, id string) (connected bool, _ error) {
	ctx, cancel := context.WithCancel(ctx)
	admin := c.o.Admin()
	address := grpcAddress(ctx, admin)
	conn, err := pb.GrpcDial(ctx, address, false, c.o.Dial)
	if err != nil {
		cancel()
		return false, fmt.Errorf("connecting to admin %s: %w", admin, err)
	}
	var s session
	defer func() {
		// Also what still answers must be gone before the next stream is.
		cancel()
		s.wg.Wait()
		conn.Close()
	}()
	s = session{c: c, id: id, in: make(chan *plugin_pb.AdminToWorkerMessage), out: make(chan *plugin_pb.WorkerToAdminMessage), slots: make(chan struct{}, maxAnswers)}
	s.stream, err = plugin_pb.NewPluginControlServiceClient(conn).WorkerStream(withToken(ctx))
	if err != nil {
		return false, fmt.Errorf("opening a stream to admin %s: %w", admin, err)
	}
	if err := s.send(hello(id, c.o.Version)); err != nil {
		return false, fmt.Errorf("saying hello to admin %s: %w", admin, err)
	}
	broken := make(chan error, 1)
	s.wg.Go(func() { broken <- s.receive(ctx) })
	if err := s.accepted(ctx, broken); err != nil {
		return false, fmt.Errorf("waiting for the hello of admin %s: %w", admin, err)
	}
	c.o.Event("connected")
	c.o.Log.Info("observations and previews of Lance tables go to admin", "admin", admin, "worker_id", id)
	if err := s.serve(ctx, broken); err != nil {
		return true, fmt.Errorf("stream to admin %s: %w", admin, err)
	}
	return true, nil
}

// withToken adds the token of the cluster's admins, where it has a key. The
// token is made anew for each stream: it may expire.
func withToken(ctx context.Context) context.Context {
	v := util.GetViper()
	token := security.GrpcAdminPeerCredentials(
		security.SigningKey(v.GetString("jwt.filer_signing.key")), v.GetInt("jwt.filer_signing.expires_after_seconds"))
	if len(token) == 0 {
		return ctx
	}
	return metadata.NewOutgoingContext(ctx, token)
}

func hello(id, version string) *plugin_pb.WorkerToAdminMessage {
	return &plugin_pb.WorkerToAdminMessage{Body: &plugin_pb.WorkerToAdminMessage_Hello{Hello: &plugin_pb.WorkerHello{
		WorkerId:         id,
		WorkerInstanceId: "inst-" + rand.Text(),
		WorkerVersion:    version,
		ProtocolVersion:  "plugin.v1",
		Metadata:         map[string]string{"runtime": "plugin", "serves": "observations and previews of Lance tables"},
	}}}
}

// session is one open stream. Only the goroutine that serves sends, only
// receive receives.
type session struct {
	c      *Companion
	id     string
	stream plugin_pb.PluginControlService_WorkerStreamClient
	in     chan *plugin_pb.AdminToWorkerMessage
	out    chan *plugin_pb.WorkerToAdminMessage
	// slots bounds how many answers are made at once.
	slots chan struct{}
	wg    sync.WaitGroup
}

func (s *session) send(m *plugin_pb.WorkerToAdminMessage) error {
	m.WorkerId = s.id
	m.SentAt = timestamppb.New(s.c.o.Now())
	err := s.stream.Send(m)
	if errors.Is(err, io.EOF) {
		// Why, only Recv tells.
		return nil
	}
	return err
}

// receive hands on what admin says until the stream ends, and returns why.
func (s *session) receive(ctx context.Context) error {
	for {
		m, err := s.stream.Recv()
		if errors.Is(err, io.EOF) {
			return errClosed
		}
		if err != nil {
			return err
		}
		select {
		case s.in <- m:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// accepted waits for admin's hello.
func (s *session) accepted(ctx context.Context, broken <-chan error) error {
	timeout := s.c.o.After(connectTimeout)
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-broken:
			return err
		case <-timeout:
			return fmt.Errorf("none within %s", connectTimeout)
		case m := <-s.in:
			h := m.GetHello()
			if h == nil {
				continue
			}
			if !h.GetAccepted() {
				return fmt.Errorf("%w: %s", errNotAccepted, h.GetMessage())
			}
			return nil
		}
	}
}

// serve sends what there is to send and answers what is asked.
func (s *session) serve(ctx context.Context, broken <-chan error) error {
	var sent uint64
	beat := s.c.o.After(0)
	for {
		for {
			report, last := s.c.next(sent)
			if report == nil {
				break
			}
			if err := s.send(&plugin_pb.WorkerToAdminMessage{Body: &plugin_pb.WorkerToAdminMessage_Observations{Observations: report}}); err != nil {
				return err
			}
			sent = last
		}
		var err error
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-broken:
			return err
		case <-s.c.wake:
		case <-beat:
			err = s.send(&plugin_pb.WorkerToAdminMessage{Body: &plugin_pb.WorkerToAdminMessage_Heartbeat{
				Heartbeat: &plugin_pb.WorkerHeartbeat{WorkerId: s.id},
			}})
			beat = s.c.o.After(heartbeat)
		case m := <-s.in:
			err = s.handle(ctx, m)
		case m := <-s.out:
			err = s.send(m)
		}
		if err != nil {
			return err
		}
	}
}

// handle does what admin asks for. Nothing but previews should arrive here.
func (s *session) handle(ctx context.Context, m *plugin_pb.AdminToWorkerMessage) error {
	switch body := m.GetBody().(type) {
	case *plugin_pb.AdminToWorkerMessage_Hello:
		return nil
	case *plugin_pb.AdminToWorkerMessage_RequestObjectPreview:
		s.wg.Go(func() { s.answer(ctx, m.GetRequestId(), body.RequestObjectPreview) })
		return nil
	case *plugin_pb.AdminToWorkerMessage_Shutdown:
		return s.acknowledge(m, true, "shutdown acknowledged")
	}
	return s.acknowledge(m, false, "this worker serves observations and previews only")
}

func (s *session) acknowledge(m *plugin_pb.AdminToWorkerMessage, accepted bool, text string) error {
	return s.send(&plugin_pb.WorkerToAdminMessage{Body: &plugin_pb.WorkerToAdminMessage_Acknowledge{
		Acknowledge: &plugin_pb.WorkerAcknowledge{RequestId: m.GetRequestId(), Accepted: accepted, Message: text},
	}})
}

// answer makes a preview and has it sent.
func (s *session) answer(ctx context.Context, requestID string, r *plugin_pb.RequestObjectPreview) {
	limited, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	response := &plugin_pb.ObjectPreviewResponse{ErrorMessage: fmt.Sprintf("the worker was busy with other previews for %s", answerTimeout)}
	select {
	case s.slots <- struct{}{}:
		// Of two that ended at once, either may have been taken.
		if ctx.Err() == nil && limited.Err() == nil {
			response = s.c.o.Preview(limited, r)
		}
		<-s.slots
	case <-limited.Done():
	}
	response.RequestId = requestID
	select {
	case s.out <- &plugin_pb.WorkerToAdminMessage{Body: &plugin_pb.WorkerToAdminMessage_ObjectPreviewResponse{ObjectPreviewResponse: response}}:
	case <-ctx.Done():
	}
}
