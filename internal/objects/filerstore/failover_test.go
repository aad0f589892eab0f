package filerstore

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/seaweedfs/seaweedfs/weed/pb"
	"github.com/seaweedfs/seaweedfs/weed/pb/filer_pb"
	"github.com/seaweedfs/seaweedfs/weed/s3api/s3tables"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

type pbAddress = pb.ServerAddress

// nobody is where no filer listens.
const nobody = pb.ServerAddress("127.0.0.1:1.1")

func TestClassify(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want answer
	}{
		"nothing wrong":     {nil, answered},
		"a sentinel":        {filer_pb.ErrNotFound, answered},
		"not found":         {status.Error(codes.NotFound, "x"), answered},
		"denied":            {status.Error(codes.PermissionDenied, "x"), answered},
		"unavailable":       {status.Error(codes.Unavailable, "EOF"), silent},
		"no connection":     {status.Error(codes.Unavailable, `connection error: desc = "transport: Error while dialing: dial tcp: refused"`), undone},
		"busy":              {status.Error(codes.ResourceExhausted, "x"), undone},
		"deadline":          {status.Error(codes.DeadlineExceeded, "x"), silent},
		"own deadline":      {context.DeadlineExceeded, silent},
		"cancelled":         {status.Error(codes.Canceled, "the client connection is closing"), silent},
		"aborted":           {status.Error(codes.Aborted, "x"), silent},
		"transport":         {status.Error(codes.Unknown, "transport is closing"), silent},
		"stream reset":      {status.Error(codes.Internal, "stream terminated by RST_STREAM"), silent},
		"what a filer says": {status.Error(codes.Unknown, "insert entry: disk full"), vague},
	} {
		if got := classify(c.err); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
		if c.err == nil {
			continue
		}
		if got := classify(errors.Join(errors.New("around it"), c.err)); got != c.want {
			t.Errorf("%s, wrapped: %v, want %v", name, got, c.want)
		}
	}
}

// TestOneFilerDown: the next is asked, and is the first the next time.
func TestOneFilerDown(t *testing.T) {
	cl := newFake(t, 1)
	cl.add(root+"/x", &filer_pb.Entry{Content: []byte("x")})
	c := cl.connect(func(c *Config) { c.Filers = []pb.ServerAddress{nobody, cl.filers[0].addr} })
	s := c.Table(root).(*store)
	if got := read(t, s, "x"); string(got) != "x" {
		t.Errorf("%q", got)
	}
	if first := c.order()[0].addr; first != cl.filers[0].addr {
		t.Errorf("%s is asked first", first)
	}
	if err := s.Publish(t.Context(), "y", []byte("y")); err != nil {
		t.Error(err)
	}
	cl.checkNeedles(0)
}

// TestStalledFiler: silence is like being down, for reads at once.
func TestStalledFiler(t *testing.T) {
	cl := newFake(t, 2)
	cl.add(root+"/x", &filer_pb.Entry{Content: []byte("x")})
	s := cl.store(impatient)
	cl.filers[0].plan("LookupDirectoryEntry", stalled)
	if got := read(t, s, "x"); string(got) != "x" {
		t.Errorf("%q", got)
	}
	cl.filers[1].plan("ListEntries", stalled)
	if es, err := s.List(t.Context(), "", "", 10); err != nil || len(es) != 1 {
		t.Errorf("%v, %v", es, err)
	}
}

// TestNoFilerAtAll: an error that says so, and no waiting beyond the context.
func TestNoFilerAtAll(t *testing.T) {
	_, err := Connect(t.Context(), Config{Filers: []pb.ServerAddress{nobody}, Pauses: []time.Duration{time.Millisecond}})
	if !errors.Is(err, errNoAnswer) || !strings.Contains(err.Error(), "refused") {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = Connect(ctx, Config{Filers: []pb.ServerAddress{nobody}, Pauses: []time.Duration{time.Hour}})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	if _, err := Connect(t.Context(), Config{}); err == nil {
		t.Error("connected to nothing")
	}
}

// TestFinalAnswers: what a filer says is not asked of another.
func TestFinalAnswers(t *testing.T) {
	cl := newFake(t, 2)
	s := cl.store()
	cl.filers[0].plan("LookupDirectoryEntry", answers(codes.PermissionDenied, "you"), answers(codes.Unknown, "disk"))
	if _, err := s.Open(t.Context(), "x"); !errors.Is(err, objects.ErrDenied) {
		t.Errorf("got %v, want denied", err)
	}
	if _, err := s.Open(t.Context(), "x"); err == nil || errors.Is(err, objects.ErrNotFound) {
		t.Errorf("got %v, want the filer's error", err)
	}
	if _, err := s.Open(t.Context(), "x"); !errors.Is(err, objects.ErrNotFound) {
		t.Errorf("got %v, want not found", err)
	}
	if n := cl.filers[1].called("LookupDirectoryEntry"); n != 0 {
		t.Errorf("the second filer was asked %d times", n)
	}
}

// TestSetFilers: connections to filers that stay are kept.
func TestSetFilers(t *testing.T) {
	cl := newFake(t, 3)
	addr := func(i int) pb.ServerAddress { return cl.filers[i].addr }
	c := cl.connect(func(c *Config) { c.Filers = []pb.ServerAddress{addr(0), addr(1), addr(1)} })
	before := c.order()
	if len(before) != 2 {
		t.Fatalf("%d filers", len(before))
	}
	c.prefer(before[1])
	if err := c.SetFilers([]pb.ServerAddress{addr(2), addr(1)}); err != nil {
		t.Fatal(err)
	}
	after := c.order()
	if len(after) != 2 || after[0] != before[1] || after[1].addr != addr(2) {
		t.Errorf("order %v", after)
	}
	if err := c.SetFilers(nil); err != nil || len(c.order()) != 2 {
		t.Errorf("no filers: %v, %d left", err, len(c.order()))
	}
	if _, err := c.Table(root).Open(t.Context(), "x"); !errors.Is(err, objects.ErrNotFound) {
		t.Error(err)
	}
	c.Close()
	if _, err := c.Table(root).Open(t.Context(), "x"); err == nil || errors.Is(err, objects.ErrNotFound) {
		t.Errorf("after Close: %v", err)
	}
}

// TestDeleteAnswers: a delete may be sent again; only one that was never
// answered is unknown.
func TestDeleteAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		at   [2][]step
		want error
		gone bool
	}{
		"answered":                {gone: true},
		"answer lost":             {at: [2][]step{{lost}}, gone: true},
		"not applied, no answer":  {at: [2][]step{{dropped}}, gone: true},
		"never answered":          {at: [2][]step{{dropped, dropped, dropped}, {dropped, dropped, dropped}}, want: objects.ErrUnknown},
		"never answered, applied": {at: [2][]step{{lost, lost, lost}, {lost, lost, lost}}, want: objects.ErrUnknown, gone: true},
		"not let in":              {at: [2][]step{{answers(codes.PermissionDenied, "you")}}, want: objects.ErrDenied},
		"throttled":               {at: [2][]step{{answers(codes.ResourceExhausted, "busy")}, {answers(codes.ResourceExhausted, "busy")}}, gone: true},
		"the store fails":         {at: [2][]step{{answers(codes.Unknown, "disk")}}, gone: true},
	} {
		t.Run(name, func(t *testing.T) {
			cl := newFake(t, 2)
			s := cl.store()
			if err := s.Publish(t.Context(), "x", []byte("x")); err != nil {
				t.Fatal(err)
			}
			for i, steps := range c.at {
				cl.filers[i].plan("DeleteEntry", steps...)
			}
			if err := s.Delete(t.Context(), "x"); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
			if gone := cl.entry(root+"/x") == nil; gone != c.gone {
				t.Errorf("gone: %v, want %v", gone, c.gone)
			}
			cl.checkNeedles(0)
		})
	}
}

// TestEncryptingBucket: nothing is written into a bucket that encrypts with keys
// that are not the cluster's, from within half a minute after it began to.
func TestEncryptingBucket(t *testing.T) {
	cl := newFake(t, 1)
	now := time.Now()
	s := cl.store(func(c *Config) { c.Now = func() time.Time { return now } })
	if err := s.Publish(t.Context(), "1", nil); err != nil {
		t.Fatal(err)
	}
	cl.encrypts("aws:kms")
	now = now.Add(31 * time.Second)
	for what, err := range writes(t, s, "2") {
		if !errors.Is(err, ErrEncrypted) || !strings.Contains(err.Error(), "SSE-KMS") || !strings.Contains(err.Error(), "lab") {
			t.Errorf("%s: got %v", what, err)
		}
	}
	if scheme, err := s.c.BucketEncryption(t.Context(), "lab"); scheme != "SSE-KMS" || err != nil {
		t.Errorf("%q, %v", scheme, err)
	}
	cl.entry("/buckets/lab").Extended[s3tables.ExtendedKeyMetadata] = []byte("{")
	if scheme, err := s.c.BucketEncryption(t.Context(), "lab"); err == nil {
		t.Errorf("unreadable record: %q", scheme)
	}
	if err := s.Publish(t.Context(), "3", nil); err == nil {
		t.Error("written into a bucket whose record can't be read")
	}
	if _, err := s.c.BucketEncryption(t.Context(), "none"); !errors.Is(err, objects.ErrNotFound) {
		t.Errorf("got %v", err)
	}
}

// writes is what each way to write an object comes to.
func writes(t *testing.T, s *store, name string) map[string]error {
	return map[string]error{
		"Publish": s.Publish(t.Context(), name, nil),
		"Replace": s.Replace(t.Context(), name, nil),
		"Create":  func() error { _, err := write(t.Context(), s, name+".data", nil); return err }(),
	}
}

// TestSettingsAge: a cluster that begins to encrypt its volumes is noticed.
func TestSettingsAge(t *testing.T) {
	cl := newFake(t, 1)
	now := time.Now()
	s := cl.store(func(c *Config) { c.Now = func() time.Time { return now } })
	cl.conf.Cipher = true
	now = now.Add(settingsAge)
	if err := s.Publish(t.Context(), "x", []byte("secret")); err != nil {
		t.Fatal(err)
	}
	if e := cl.entry(root + "/x"); len(e.Chunks[0].CipherKey) == 0 {
		t.Error("stored in the clear")
	}
}

// TestClock: what is written is dated by the filers' clock.
func TestClock(t *testing.T) {
	cl := newFake(t, 1)
	slow := func() time.Time { return time.Now().Add(-10 * 24 * time.Hour) }
	s := cl.store(func(c *Config) { c.Now = slow })
	if err := s.Publish(t.Context(), "x", nil); err != nil {
		t.Fatal(err)
	}
	if age := time.Since(time.Unix(cl.entry(root+"/x").Attributes.Mtime, 0)); age > time.Minute || age < -time.Minute {
		t.Errorf("dated %v ago", age)
	}
}

func TestTable(t *testing.T) {
	cl := newFake(t, 1)
	c := cl.connect()
	for dir, want := range map[string][2]string{
		"/buckets/lab/ml/vectors":  {"lab/ml/vectors", "lab"},
		"/buckets/lab/ml/vectors/": {"lab/ml/vectors", "lab"},
		"/elsewhere/x":             {"elsewhere/x", ""},
		"/bucketsX/x":              {"bucketsX/x", ""},
	} {
		s := c.Table(dir).(*store)
		if s.String() != want[0] || s.bucket != want[1] {
			t.Errorf("%s: %q in bucket %q", dir, s, s.bucket)
		}
	}
}
