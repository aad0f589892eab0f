package filerstore

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/seaweedfs/seaweedfs/weed/pb/filer_pb"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
	"github.com/seaweedfs/seaweed-lance/internal/objects/filerstore/sses3"
)

// TestSSES3Keys: without the key, or with another, tables of such buckets are
// refused; plain ones are not, and nobody asks for a key that is not needed. A
// key that comes is noticed.
func TestSSES3Keys(t *testing.T) {
	cl := newFake(t, 1)
	now := time.Now()
	clock := func(c *Config) { c.Now = func() time.Time { return now } }
	s := cl.store(clock)
	if err := s.Publish(t.Context(), "plain", []byte("plain")); err != nil {
		t.Fatal(err)
	}
	cl.putKEK(kek)
	cl.encrypts("AES256")
	if err := cl.store(clock).Publish(t.Context(), "secret", []byte("secret")); err != nil {
		t.Fatal(err)
	}
	for state, c := range map[string]struct{ kek, says string }{
		"none":     {"-", "s3.sse.kek"},
		"another":  {strings.Repeat("ab", 32), "KEK of this process"},
		"unclear":  {"?", "/etc/s3/sse_kek"},
		"an empty": {"", "it is empty"},
	} {
		cl.putKEK(c.kek)
		if c.kek == "-" {
			delete(cl.entries, sses3.FileDir+"/"+sses3.FileName)
		}
		s := cl.store(clock)
		if _, err := s.Open(t.Context(), "secret"); !errors.Is(err, ErrKeys) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: opening: %v", state, err)
		}
		if got := read(t, s, "plain"); string(got) != "plain" {
			t.Errorf("%s: the plain object: %q", state, got)
		}
		if err := s.c.checkKeys(t.Context()); errors.Is(err, ErrKeys) != (state != "another") {
			t.Errorf("%s: checking: %v", state, err)
		}
		if err := s.c.CheckKeys(t.Context(), root); !errors.Is(err, ErrKeys) {
			t.Errorf("%s: checking for the table: %v", state, err)
		}
		for what, err := range writes(t, s, "new") {
			if !errors.Is(err, ErrKeys) || errors.Is(err, objects.ErrUnknown) || !strings.Contains(err.Error(), "bucket lab encrypts with SSE-S3") {
				t.Errorf("%s: %s: %v", state, what, err)
			}
		}
		cl.putKEK(kek)
		now = now.Add(keysAge)
		if got := read(t, s, "secret"); string(got) != "secret" {
			t.Errorf("after %s: %q", state, got)
		}
	}
	cl.checkNeedles(0)
}

// TestKeyring: the key is asked for once by many, not believed for ever, and a
// filer that fails is not a cluster without a key.
func TestKeyring(t *testing.T) {
	cl := newFake(t, 1)
	cl.putKEK(kek)
	now := time.Now()
	c := cl.connect(func(c *Config) { c.Now = func() time.Time { return now } })
	lookups := func() int { return cl.filers[0].called("LookupDirectoryEntry") }
	cl.filers[0].plan("LookupDirectoryEntry", answers(codes.PermissionDenied, "no"))
	if err := c.checkKeys(t.Context()); !errors.Is(err, objects.ErrDenied) || errors.Is(err, ErrKeys) {
		t.Errorf("got %v", err)
	}
	before := lookups()
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if err := c.checkKeys(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := lookups() - before; n != 1 {
		t.Errorf("asked %d times", n)
	}
	cl.putKEK("?")
	now = now.Add(keysAge - 1)
	if err := c.checkKeys(t.Context()); err != nil {
		t.Error(err)
	}
	now = now.Add(1)
	if err := c.checkKeys(t.Context()); !errors.Is(err, ErrKeys) {
		t.Errorf("got %v", err)
	}
	cl.putKEK(kek)
	now = now.Add(noKeysAge)
	if err := c.checkKeys(t.Context()); err != nil {
		t.Error(err)
	}
	delete(cl.entries, sses3.FileDir+"/"+sses3.FileName)
	now = now.Add(keysAge)
	if err := c.checkKeys(t.Context()); !errors.Is(err, ErrKeys) || !strings.Contains(err.Error(), "none is configured") {
		t.Errorf("removed: %v", err)
	}
}

// TestBucketChanges: a bucket that begins to encrypt, or ends to, is followed.
func TestBucketChanges(t *testing.T) {
	cl := newFake(t, 1)
	cl.putKEK(kek)
	now := time.Now()
	s := cl.store(func(c *Config) { c.Now = func() time.Time { return now } })
	sealed := func(name string) bool {
		if err := s.Publish(t.Context(), name, []byte("x")); err != nil {
			t.Fatal(err)
		}
		return cl.entry(root + "/" + name).Chunks[0].SseType == filer_pb.SSEType_SSE_S3
	}
	if sealed("1") {
		t.Error("encrypted unasked")
	}
	cl.encrypts("AES256")
	if sealed("2") {
		t.Error("looked at the bucket each time")
	}
	if now = now.Add(guardAge); !sealed("3") {
		t.Error("not encrypted")
	}
	cl.add("/buckets/lab", &filer_pb.Entry{IsDirectory: true})
	if now = now.Add(guardAge); sealed("4") {
		t.Error("encrypted still")
	}
	for _, name := range []string{"1", "2", "3", "4"} {
		if got := read(t, s, name); string(got) != "x" {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestSSES3Lost: an exclusive create whose answer was lost, in a bucket that
// encrypts: each attempt has a key of its own.
func TestSSES3Lost(t *testing.T) {
	cl := newFake(t, 2)
	cl.putKEK(kek)
	cl.encrypts("AES256")
	s := cl.store()
	for name, step := range map[string]step{"lost": lost, "dropped": dropped} {
		for _, f := range cl.filers {
			f.plan("CreateEntry", step)
		}
		if err := s.Publish(t.Context(), name, noise(1000)); err != nil {
			t.Fatal(err)
		}
		if got := read(t, s, name); !bytes.Equal(got, noise(1000)) {
			t.Errorf("%s: reads back differently", name)
		}
		checkSealed(t, cl, name, noise(1000))
	}
}

// checkKeys is nil when tables under SSE-S3 can be read and written as far as
// the key of this process goes, ErrKeys when not.
func (c *Cluster) checkKeys(ctx context.Context) error {
	keys, err := c.sses3Keys(ctx)
	if err != nil {
		return err
	}
	return keys.Configured()
}
