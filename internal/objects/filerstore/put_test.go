package filerstore

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"google.golang.org/grpc/codes"

	"github.com/seaweedfs/seaweedfs/weed/pb/filer_pb"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// chunked is more than two chunks of the fake cluster.
const chunked = 2<<20 + 300_000

func noise(n int) []byte {
	p := make([]byte, n)
	rand.NewChaCha8([32]byte{1}).Read(p)
	return p
}

func read(t *testing.T, s *store, name string) []byte {
	t.Helper()
	p, _, err := objects.ReadAll(t.Context(), s, name, 1<<30)
	if err != nil {
		t.Fatalf("reading %s: %v", name, err)
	}
	return p
}

// write streams content into a new object.
func write(ctx context.Context, s *store, name string, content []byte) (objects.Entry, error) {
	w, err := s.Create(ctx, name)
	if err != nil {
		return objects.Entry{}, err
	}
	defer w.Abort()
	if _, err := w.Write(content); err != nil {
		return objects.Entry{}, err
	}
	return w.Finish(ctx)
}

// TestCreateAnswers walks through what can become of the answers to an
// exclusive create, for streams and for small objects, with bytes and without.
func TestCreateAnswers(t *testing.T) {
	refusal := answers(codes.InvalidArgument, "no")
	vagueAnswer := answers(codes.Unknown, "disk")
	dead := answers(codes.Unavailable, `connection error: desc = "transport: Error while dialing: refused"`)
	for _, c := range []struct {
		name string
		// at are the scripts of two filers; taken puts another's object there first.
		at    [2][]step
		taken bool
		want  error
		// made: the object is there, with our content.
		made bool
		// kept are the uploads that stay although no entry names them.
		kept int
		old  bool
	}{
		{name: "answered", made: true},
		{name: "taken", taken: true, want: objects.ErrExists},
		{name: "taken, first filer down", at: [2][]step{{dead}}, taken: true, want: objects.ErrExists},
		{name: "first filer down", at: [2][]step{{dead}}, made: true},
		{name: "applied, answer lost", at: [2][]step{{lost}}, made: true},
		{name: "not applied, no answer", at: [2][]step{{dropped}}, made: true, kept: 1},
		{name: "taken, no answer first", at: [2][]step{{dropped}}, taken: true, want: objects.ErrExists, kept: 1},
		{name: "applied, all answers lost", at: [2][]step{{lost, lost, lost}, {lost, lost, lost}}, made: true, kept: 5},
		{name: "never applied, never answered", at: [2][]step{{dropped, dropped, dropped}, {dropped, dropped, dropped}}, want: objects.ErrUnknown, kept: 6},
		{name: "taken, never answered", at: [2][]step{{dropped, dropped, dropped}, {dropped, dropped, dropped}}, taken: true, want: objects.ErrExists, kept: 6},
		{name: "refused", at: [2][]step{{refusal}}, want: errRefused},
		{name: "refused, no answer first", at: [2][]step{{dropped}, {refusal}}, want: objects.ErrUnknown, kept: 1},
		{name: "applied and lost, then refused", at: [2][]step{{lost}, {refusal}}, made: true},
		{name: "vague", at: [2][]step{{vagueAnswer}}, made: true, kept: 1},
		{name: "vague for good", at: [2][]step{{vagueAnswer, vagueAnswer, vagueAnswer}, {vagueAnswer, vagueAnswer, vagueAnswer}}, want: objects.ErrUnknown, kept: 6},
		{name: "all filers down", at: [2][]step{{dead, dead, dead}, {dead, dead, dead}}, want: errRefused},
		{name: "not let in", at: [2][]step{{answers(codes.PermissionDenied, "you")}}, want: objects.ErrDenied},
		{name: "overloaded for a while", at: [2][]step{{answers(codes.ResourceExhausted, "busy")}}, made: true},
		{name: "an old filer, applied and lost", at: [2][]step{{lost}}, made: true, old: true},
		{name: "an old filer, taken", at: [2][]step{{dropped}}, taken: true, want: objects.ErrExists, kept: 1, old: true},
	} {
		for _, kind := range []struct {
			name    string
			content []byte
			create  func(ctx context.Context, s *store, content []byte) error
			again   bool
		}{
			{"stream", noise(chunked), func(ctx context.Context, s *store, p []byte) error { _, err := write(ctx, s, "data/x", p); return err }, false},
			{"small", []byte("content"), func(ctx context.Context, s *store, p []byte) error { return s.Publish(ctx, "data/x", p) }, true},
			{"empty", nil, func(ctx context.Context, s *store, p []byte) error { return s.Publish(ctx, "data/x", p) }, true},
		} {
			t.Run(c.name+"/"+kind.name, func(t *testing.T) {
				cl := newFake(t, 2)
				cl.oldFilers = c.old
				s := cl.store()
				if c.taken {
					cl.add(root+"/data/x", &filer_pb.Entry{Content: []byte("another's"), Attributes: &filer_pb.FuseAttributes{FileSize: 9}})
				}
				for i, steps := range c.at {
					cl.filers[i].plan("CreateEntry", steps...)
				}
				err := kind.create(t.Context(), s, kind.content)
				switch {
				case c.want == errRefused:
					if err == nil || errors.Is(err, objects.ErrUnknown) || errors.Is(err, objects.ErrExists) {
						t.Errorf("got %v, want a failure that is certain", err)
					}
				case !errors.Is(err, c.want):
					t.Errorf("got %v, want %v", err, c.want)
				}
				want := []byte("another's")
				if c.made {
					want = kind.content
				}
				if c.made || c.taken {
					if got := read(t, s, "data/x"); !bytes.Equal(got, want) {
						t.Errorf("the object holds %d bytes, want %d", len(got), len(want))
					}
				} else if cl.entry(root+"/data/x") != nil {
					t.Error("the object is there")
				}
				// An unanswered create keeps its chunks: one upload each of what is
				// small, the same three of a stream.
				kept := c.kept
				switch {
				case kind.content == nil, !kind.again && c.made:
					kept = 0
				case !kind.again:
					kept = min(kept, 1) * 3
				}
				cl.checkNeedles(kept)
			})
		}
	}
}

// errRefused stands for any failure that is neither unknown nor a lost race.
var errRefused = errors.New("refused")

// TestCreateStalls: filers that do not answer in time are like those whose
// answer is lost, whether they carried the create out or not.
func TestCreateStalls(t *testing.T) {
	for name, c := range map[string]struct {
		first step
		kept  int
	}{"not applied": {stalled, 1}, "applied": {hung, 0}} {
		t.Run(name, func(t *testing.T) {
			cl := newFake(t, 2)
			s := cl.store(impatient)
			cl.filers[0].plan("CreateEntry", c.first)
			if err := s.Publish(t.Context(), "v/1", []byte("content")); err != nil {
				t.Fatal(err)
			}
			if got := read(t, s, "v/1"); string(got) != "content" {
				t.Errorf("%q", got)
			}
			cl.checkNeedles(c.kept)
		})
	}
}

// TestCreateContext: a context that ends while the create is under way makes
// the outcome unknown, and nothing is taken away.
func TestCreateContext(t *testing.T) {
	for name, applied := range map[string]bool{"applied": true, "not applied": false} {
		t.Run(name, func(t *testing.T) {
			cl := newFake(t, 1)
			s := cl.store()
			ctx, cancel := context.WithCancel(t.Context())
			cl.filers[0].plan("CreateEntry", func(ctx context.Context, apply func() error) error {
				if applied {
					apply()
				}
				cancel()
				<-ctx.Done()
				return ctx.Err()
			})
			err := s.Publish(ctx, "v/1", []byte("content"))
			if !errors.Is(err, objects.ErrUnknown) || !errors.Is(err, context.Canceled) {
				t.Errorf("got %v, want unknown because cancelled", err)
			}
			if applied {
				cl.checkNeedles(0)
				if got := read(t, s, "v/1"); string(got) != "content" {
					t.Errorf("%q", got)
				}
			} else {
				cl.checkNeedles(1)
			}
		})
	}
}

// TestCreateResurrection: the entry of a create that was carried out but not
// answered is removed before the create is sent again. The one that is made
// then must not name chunks that went with the first.
func TestCreateResurrection(t *testing.T) {
	cl := newFake(t, 1)
	s := cl.store()
	cl.filers[0].plan("CreateEntry", func(ctx context.Context, apply func() error) error {
		apply()
		cl.volume.drop(cl.entry(root+"/v/1"), nil)
		cl.mu.Lock()
		delete(cl.entries, root+"/v/1")
		cl.mu.Unlock()
		cl.volume.vacuum()
		return errLost
	})
	if err := s.Publish(t.Context(), "v/1", []byte("content")); err != nil {
		t.Fatal(err)
	}
	if got := read(t, s, "v/1"); string(got) != "content" {
		t.Errorf("%q", got)
	}
	cl.checkNeedles(0)
}

// TestCreateStrange: that a filer does not understand the condition is neither
// success nor failure.
func TestCreateStrange(t *testing.T) {
	cl := newFake(t, 2)
	cl.strangeFilers = true
	s := cl.store()
	if err := s.Publish(t.Context(), "v/1", []byte("content")); err != nil {
		t.Fatal(err)
	}
	if got := read(t, s, "v/1"); string(got) != "content" {
		t.Errorf("%q", got)
	}
	for _, p := range []string{"other", "content"} {
		if err := s.Publish(t.Context(), "v/1", []byte(p)); !errors.Is(err, objects.ErrExists) {
			t.Errorf("got %v, want ErrExists", err)
		}
	}
	if _, err := write(t.Context(), s, "v/1", noise(chunked)); !errors.Is(err, objects.ErrExists) {
		t.Errorf("got %v, want ErrExists", err)
	}
	cl.checkNeedles(0)
}

// TestCreateVague: what the filer's store says when it fails proves nothing.
func TestCreateVague(t *testing.T) {
	for name, code := range map[string]filer_pb.FilerError{"untyped": filer_pb.FilerError_OK, "parent is a file": filer_pb.FilerError_PARENT_IS_FILE} {
		t.Run(name, func(t *testing.T) {
			cl := newFake(t, 1)
			s := cl.store()
			failing := &failingFiler{code: code, applies: true}
			failing.install(cl.filers[0])
			if err := s.Publish(t.Context(), "v/1", []byte("content")); err != nil {
				t.Errorf("applied before the store failed: %v", err)
			}
			cl.checkNeedles(2)

			cl = newFake(t, 1)
			s = cl.store()
			failing = &failingFiler{code: code}
			failing.install(cl.filers[0])
			if err := s.Publish(t.Context(), "v/1", []byte("content")); !errors.Is(err, objects.ErrUnknown) {
				t.Errorf("never applied: got %v, want unknown", err)
			}
			cl.checkNeedles(3)
		})
	}
	t.Run("read only", func(t *testing.T) {
		cl := newFake(t, 1)
		s := cl.store()
		(&failingFiler{code: filer_pb.FilerError_READ_ONLY}).install(cl.filers[0])
		if err := s.Publish(t.Context(), "v/1", []byte("content")); !errors.Is(err, objects.ErrDenied) || errors.Is(err, objects.ErrUnknown) {
			t.Errorf("got %v, want denied", err)
		}
		cl.checkNeedles(0)
	})
}
