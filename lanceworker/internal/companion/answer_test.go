package companion

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/seaweedfs/seaweedfs/weed/pb/plugin_pb"
)

func request(id, table string) *plugin_pb.AdminToWorkerMessage {
	return &plugin_pb.AdminToWorkerMessage{RequestId: id, Body: &plugin_pb.AdminToWorkerMessage_RequestObjectPreview{
		RequestObjectPreview: &plugin_pb.RequestObjectPreview{ObjectId: []string{table}, Format: "LANCE", RowLimit: 2},
	}}
}

func TestPreviews(t *testing.T) {
	a := newAdmin(t)
	r := newRig(t, a.flag, func(ctx context.Context, r *plugin_pb.RequestObjectPreview) *plugin_pb.ObjectPreviewResponse {
		if d, ok := ctx.Deadline(); !ok || time.Until(d) > answerTimeout {
			t.Errorf("deadline %v, %v", d, ok)
		}
		return &plugin_pb.ObjectPreviewResponse{Success: true, Columns: r.GetObjectId(), TotalRows: int64(r.GetRowLimit())}
	})
	r.Observe("compact", seen("one"))
	s := a.stream(t)
	for i := range 5 {
		id := fmt.Sprint("preview-", i)
		if err := s.Send(request(id, "one")); err != nil {
			t.Fatal(err)
		}
		p := s.other(t).GetObjectPreviewResponse()
		if !p.GetSuccess() || p.GetRequestId() != id || p.GetColumns()[0] != "one" || p.GetTotalRows() != 2 {
			t.Errorf("answer %v", p)
		}
	}
}

// Slow previews hold up neither heartbeats nor observations nor the end.
func TestSlowPreviews(t *testing.T) {
	a := newAdmin(t)
	began := make(chan struct{}, 10)
	r := newRig(t, a.flag, func(ctx context.Context, _ *plugin_pb.RequestObjectPreview) *plugin_pb.ObjectPreviewResponse {
		began <- struct{}{}
		<-ctx.Done()
		return &plugin_pb.ObjectPreviewResponse{ErrorMessage: ctx.Err().Error()}
	})
	r.Observe("compact", seen("one"))
	s := a.stream(t)
	for i := range 2 * maxAnswers {
		if err := s.Send(request(fmt.Sprint(i), "one")); err != nil {
			t.Fatal(err)
		}
	}
	for range maxAnswers {
		within(t, "a preview to begin", began)
	}
	r.Observe("compact", seen("two"))
	s.observed(t, 2)
	r.stop()
	if len(began) != 0 {
		t.Errorf("%d previews more at once than %d", len(began), maxAnswers)
	}
}

func TestOtherRequests(t *testing.T) {
	a := newAdmin(t)
	r := newRig(t, a.flag, nil)
	r.Observe("compact", seen("one"))
	s := a.stream(t)
	for _, c := range []struct {
		m        *plugin_pb.AdminToWorkerMessage
		accepted bool
	}{
		{&plugin_pb.AdminToWorkerMessage{RequestId: "a", Body: &plugin_pb.AdminToWorkerMessage_RunDetectionRequest{RunDetectionRequest: &plugin_pb.RunDetectionRequest{}}}, false},
		{&plugin_pb.AdminToWorkerMessage{RequestId: "b"}, false},
		{&plugin_pb.AdminToWorkerMessage{RequestId: "c", Body: &plugin_pb.AdminToWorkerMessage_Shutdown{Shutdown: &plugin_pb.AdminShutdown{}}}, true},
	} {
		if err := s.Send(c.m); err != nil {
			t.Fatal(err)
		}
		if ack := s.other(t).GetAcknowledge(); ack.GetRequestId() != c.m.GetRequestId() || ack.GetAccepted() != c.accepted {
			t.Errorf("answer to %s: %v", c.m.GetRequestId(), ack)
		}
	}
}
