package companion

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seaweedfs/seaweedfs/weed/security"
	"github.com/seaweedfs/seaweedfs/weed/util"
)

func TestObservationsArrive(t *testing.T) {
	a := newAdmin(t)
	r := newRig(t, a.flag, nil)
	select {
	case <-a.streams:
		t.Fatal("a stream before there is something to say")
	default:
	}
	r.Observe("compact", seen("one"))
	s := a.stream(t)
	if h := s.hello; h.GetWorkerId() != "w-lance" || h.GetWorkerVersion() != "v1" || len(h.GetCapabilities()) != 0 || h.GetWorkerInstanceId() == "" || h.GetProtocolVersion() != "plugin.v1" {
		t.Errorf("hello %v", h)
	}
	if len(s.token) != 0 {
		t.Errorf("a token without a key: %v", s.token)
	}
	if got := s.observed(t, 1); got[0] != "compact:one" {
		t.Errorf("observed %v", got)
	}
	r.Observe("compact", seen("two"))
	r.Observe("cleanup", seen("one"))
	if got := s.observed(t, 2); !slices.Equal(got, []string{"compact:two", "cleanup:one"}) {
		t.Errorf("observed %v", got)
	}
	r.event(t, "connected")
	r.stop()
	r.event(t, "shutdown")
	// Nothing is kept or started after the end.
	r.Observe("compact", seen("three"))
	if r.mu.book.order.Len() != 0 {
		t.Error("something is kept after the end")
	}
}

func TestHeartbeats(t *testing.T) {
	a := newAdmin(t)
	r := newRig(t, a.flag, nil)
	r.Observe("compact", seen("one"))
	s := a.stream(t)
	beats := func(n int) {
		t.Helper()
		for n > 0 {
			if m := within(t, "a heartbeat", s.got); m.GetHeartbeat() != nil {
				if m.GetHeartbeat().GetWorkerId() != "w-lance" || m.GetWorkerId() != "w-lance" || m.GetSentAt() == nil {
					t.Errorf("heartbeat %v", m)
				}
				n--
			}
		}
	}
	beats(1)
	for range 3 {
		for within(t, "the next heartbeat to be due", r.clock.asked) != heartbeat {
		}
		r.clock.fire(heartbeat)
		beats(1)
	}
}

// Every stream gets everything again, in the order in which it was seen, the
// newest look at each table only.
func TestReconnects(t *testing.T) {
	for name, end := range map[string]error{"in order": nil, "broken": errors.New("admin stumbled")} {
		t.Run(name, func(t *testing.T) {
			a := newAdmin(t)
			r := newRig(t, a.flag, nil)
			r.Observe("compact", seen("one"))
			r.Observe("compact", seen("two"))
			s := a.stream(t)
			s.observed(t, 2)
			r.event(t, "connected")
			s.end <- end
			r.event(t, map[bool]string{true: "closed", false: "failed"}[end == nil])
			r.Observe("compact", seen("one"))
			if d := r.clock.pause(t); d != firstPause {
				t.Errorf("pause %s", d)
			}
			r.clock.fire(firstPause)
			s = a.stream(t)
			if got := s.observed(t, 2); !slices.Equal(got, []string{"compact:two", "compact:one"}) {
				t.Errorf("sent again: %v", got)
			}
			r.Keep(func(id []string) bool { return id[0] == "two" })
			r.event(t, "connected")
			s.end <- end
			if d := r.clock.pause(t); d != 2*firstPause {
				t.Errorf("second pause %s", d)
			}
			r.clock.fire(2 * firstPause)
			r.Observe("compact", seen("three"))
			if got := a.stream(t).observed(t, 2); !slices.Equal(got, []string{"compact:two", "compact:three"}) {
				t.Errorf("after one table is gone: %v", got)
			}
		})
	}
}

// The pauses grow while admin is away, and begin anew after a stream that
// lived.
func TestPauses(t *testing.T) {
	a := newAdmin(t)
	address := a.address
	a.stop()
	r := newRig(t, a.flag, nil)
	r.Observe("compact", seen("one"))
	for _, want := range []time.Duration{1, 2, 4, 8, 16, 30, 30} {
		if d := r.clock.pause(t); d != want*time.Second {
			t.Fatalf("pause %s, want %d s", d, want)
		}
		r.event(t, "failed")
		if want == 30 {
			break
		}
		r.clock.fire(want * time.Second)
	}
	if n := strings.Count(r.logged.String(), "no stream to admin"); n != 1 {
		t.Errorf("one reason was logged %d times:\n%s", n, r.logged)
	}
	a.listen(t, address)
	r.clock.fire(30 * time.Second)
	s := a.stream(t)
	s.observed(t, 1)
	r.clock.fire(steadyAfter)
	s.end <- nil
	if d := r.clock.pause(t); d != firstPause {
		t.Errorf("pause after a stream that lived: %s", d)
	}
}

func TestRefusedByAdmin(t *testing.T) {
	a := newAdmin(t)
	a.refuse = "too many workers"
	r := newRig(t, a.flag, nil)
	r.Observe("compact", seen("one"))
	r.clock.pause(t)
	r.event(t, "failed")
	if log := r.logged.String(); !strings.Contains(log, "too many workers") {
		t.Errorf("log %s", log)
	}
}

// An admin that takes the stream and says nothing is given up.
func TestSilentAdmin(t *testing.T) {
	a := newAdmin(t)
	a.silent = true
	r := newRig(t, a.flag, nil)
	r.Observe("compact", seen("one"))
	a.stream(t)
	for within(t, "the wait for admin's hello", r.clock.asked) != connectTimeout {
	}
	r.clock.fire(connectTimeout)
	if d := r.clock.pause(t); d != firstPause {
		t.Errorf("pause %s", d)
	}
	r.event(t, "failed")
	if log := r.logged.String(); !strings.Contains(log, "none within 20s") {
		t.Errorf("log %s", log)
	}
}

func TestUnknownAddress(t *testing.T) {
	address := ""
	r := newRig(t, func() string { return address }, nil)
	for range 3 {
		r.Observe("compact", seen("one"))
	}
	if n := strings.Count(r.logged.String(), "address is not known"); n != 1 {
		t.Errorf("said %d times:\n%s", n, r.logged)
	}
	if r.mu.book.order.Len() != 0 {
		t.Error("observations are kept for nobody")
	}
	// It may become known: weed mini moves its ports before it starts its worker.
	a := newAdmin(t)
	address = a.flag()
	r.Observe("compact", seen("two"))
	if got := a.stream(t).observed(t, 1); got[0] != "compact:two" {
		t.Errorf("observed %v", got)
	}
}

func TestToken(t *testing.T) {
	const key = "signing key of admins"
	util.GetViper().Set("jwt.filer_signing.key", key)
	t.Cleanup(func() { util.GetViper().Set("jwt.filer_signing.key", "") })
	a := newAdmin(t)
	r := newRig(t, a.flag, nil)
	r.Observe("compact", seen("one"))
	s := a.stream(t)
	if len(s.token) != 1 {
		t.Fatalf("tokens %v", s.token)
	}
	token, ok := strings.CutPrefix(s.token[0], "Bearer ")
	if !ok || !security.IsFilerAdminToken(security.SigningKey(key), security.EncodedJwt(token)) {
		t.Errorf("token %v", s.token)
	}
}
