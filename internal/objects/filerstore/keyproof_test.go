package filerstore

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seaweedfs/seaweedfs/weed/pb/filer_pb"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
	"github.com/seaweedfs/seaweed-lance/internal/objects/filerstore/sses3"
)

// another is a key that is not the cluster's.
var another = strings.Repeat("ab", 32)

// gateway writes an object under a key, as a gateway that has it, whatever else
// is there.
func (cl *fakeCluster) gateway(key, dir, name string) {
	cl.t.Helper()
	hidden := map[string]*filer_pb.Entry{}
	cl.mu.Lock()
	for path, e := range cl.entries {
		if !e.IsDirectory {
			hidden[path] = e
			delete(cl.entries, path)
		}
	}
	cl.mu.Unlock()
	cl.putKEK(key)
	if err := cl.connect().Table(dir).Publish(cl.t.Context(), name, []byte("by the gateway")); err != nil {
		cl.t.Fatal(err)
	}
	cl.mu.Lock()
	defer cl.mu.Unlock()
	delete(cl.entries, sses3.FileDir+"/"+sses3.FileName)
	maps.Copy(cl.entries, hidden)
}

// TestProof: under a key that only the configuration of this process knows,
// nothing is written until something shows that it is the gateway's.
func TestProof(t *testing.T) {
	const beside = "/buckets/lab/ml/other"
	for name, c := range map[string]struct {
		stored func(cl *fakeCluster)
		// says is in the refusal; writes are taken where it is empty.
		says string
	}{
		"nothing":                 {func(*fakeCluster) {}, "nothing in bucket lab is encrypted yet"},
		"in the table":            {func(cl *fakeCluster) { cl.gateway(kek, root, "_versions/1") }, ""},
		"elsewhere in the bucket": {func(cl *fakeCluster) { cl.gateway(kek, beside, "_versions/1") }, ""},
		"in another bucket":       {func(cl *fakeCluster) { cl.gateway(kek, "/buckets/other/x", "1") }, "nothing in bucket lab"},
		"under another key":       {func(cl *fakeCluster) { cl.gateway(another, beside, "data/1") }, beside + "/data/1"},
		"under another and this":  {func(cl *fakeCluster) { cl.gateway(another, root, "1"); cl.gateway(kek, beside, "1") }, ""},
		"an algorithm without a key": {func(cl *fakeCluster) {
			cl.add(root+"/x", &filer_pb.Entry{Extended: map[string][]byte{"X-Amz-Server-Side-Encryption": []byte("AES256")}})
		}, "nothing in bucket lab"},
	} {
		t.Run(name, func(t *testing.T) {
			cl := newFake(t, 1)
			cl.encrypts("AES256")
			e := cl.entry("/buckets/lab")
			cl.add("/buckets/other", &filer_pb.Entry{IsDirectory: true, Extended: e.Extended})
			c.stored(cl)
			t.Setenv("WEED_S3_SSE_KEK", kek)
			before := len(cl.volume.needles)
			s := cl.store()
			if err := s.c.checkKeys(t.Context()); err != nil {
				t.Error(err)
			}
			if err := s.c.CheckKeys(t.Context(), root); errors.Is(err, ErrKeys) != (c.says != "") {
				t.Errorf("checking: %v", err)
			}
			for what, err := range writes(t, s, "new") {
				if c.says == "" && err != nil {
					t.Errorf("%s: %v", what, err)
				}
				if c.says != "" && (!errors.Is(err, ErrKeys) || !errors.Is(err, objects.ErrDenied) || errors.Is(err, objects.ErrUnknown) || !strings.Contains(err.Error(), c.says)) {
					t.Errorf("%s: %v", what, err)
				}
			}
			if n := len(cl.volume.needles); c.says != "" && n != before {
				t.Errorf("%d chunks were stored", n-before)
			}
			if err := s.c.CheckKeys(t.Context(), "/buckets/lab"); errors.Is(err, ErrKeys) != (c.says != "") {
				t.Errorf("checking another: %v", err)
			}
		})
	}
}

// TestProofLater: a proof that comes is noticed; it costs one search for many
// writers and a while, none where the table itself was decrypted, and is
// remembered when the key is read again.
func TestProofLater(t *testing.T) {
	cl := newFake(t, 1)
	cl.encrypts("AES256")
	cl.add("/buckets/plain", &filer_pb.Entry{IsDirectory: true})
	t.Setenv("WEED_S3_SSE_KEK", kek)
	now := time.Now()
	s := cl.store(func(c *Config) { c.Now = func() time.Time { return now } })
	listings := func() int { return cl.filers[0].called("ListEntries") }
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			if err := s.Publish(t.Context(), fmt.Sprint(i), nil); !errors.Is(err, ErrKeys) {
				t.Errorf("got %v", err)
			}
		})
	}
	all.Wait()
	// Of the table's directory and the bucket's.
	if n := listings(); n != 2 {
		t.Errorf("%d listings", n)
	}
	cl.gateway(kek, root, "theirs")
	if err := s.Publish(t.Context(), "new", nil); !errors.Is(err, ErrKeys) {
		t.Errorf("searched again at once: %v", err)
	}
	if got := read(t, s, "theirs"); string(got) != "by the gateway" {
		t.Errorf("%q", got)
	}
	before := listings()
	if err := s.Publish(t.Context(), "new", []byte("x")); err != nil {
		t.Error(err)
	}
	now = now.Add(keysAge)
	if err := s.Publish(t.Context(), "newer", []byte("x")); err != nil {
		t.Error(err)
	}
	if n := listings(); n != before {
		t.Errorf("%d listings although it was read", n-before)
	}
	cl.mu.Lock()
	for _, name := range []string{"theirs", "new", "newer"} {
		delete(cl.entries, root+"/"+name)
	}
	cl.mu.Unlock()
	// Nothing is left that shows it; but the key is another, as by a restart.
	t.Setenv("WEED_S3_SSE_KEK", another)
	now = now.Add(keysAge)
	if err := s.Publish(t.Context(), "newest", nil); !errors.Is(err, ErrKeys) {
		t.Errorf("under a key that nothing shows: %v", err)
	}
}

// TestProofSearch: the search of a bucket is bounded, and what fails in it is no
// verdict.
func TestProofSearch(t *testing.T) {
	cl := newFake(t, 1)
	cl.encrypts("AES256")
	for i := range 3 * proofListings {
		cl.add(fmt.Sprintf("/buckets/lab/ml/t%03d/_versions/1", i), &filer_pb.Entry{Content: []byte("x")})
	}
	t.Setenv("WEED_S3_SSE_KEK", kek)
	now := time.Now()
	s := cl.store(func(c *Config) { c.Now = func() time.Time { return now } })
	cl.filers[0].plan("ListEntries", dropped, dropped, dropped)
	if err := s.c.CheckKeys(t.Context(), root); err == nil || errors.Is(err, ErrKeys) {
		t.Errorf("a filer that fails: %v", err)
	}
	before := cl.filers[0].called("ListEntries")
	if err := s.c.CheckKeys(t.Context(), root); !errors.Is(err, ErrKeys) {
		t.Errorf("got %v", err)
	}
	if n := cl.filers[0].called("ListEntries") - before; n > proofListings {
		t.Errorf("%d listings", n)
	}
	// Beyond the bound, but there once it has been read.
	cl.gateway(kek, "/buckets/lab/ml/t190", "_versions/2")
	now = now.Add(noKeysAge)
	if err := s.c.CheckKeys(t.Context(), root); !errors.Is(err, ErrKeys) {
		t.Errorf("got %v", err)
	}
	if got := read(t, s.c.Table("/buckets/lab/ml/t190").(*store), "_versions/2"); !bytes.Equal(got, []byte("by the gateway")) {
		t.Errorf("%q", got)
	}
	if err := s.c.CheckKeys(t.Context(), root); err != nil {
		t.Error(err)
	}
}
