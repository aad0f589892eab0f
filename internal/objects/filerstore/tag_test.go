package filerstore

import (
	"bytes"
	"crypto/md5"
	"encoding/base64"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seaweedfs/seaweedfs/weed/pb/filer_pb"
)

// digests are what MD5 volume servers were sent with each upload.
func (v *fakeVolume) digests() (out []string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, h := range v.uploads {
		out = append(out, h.Get("Content-MD5"))
	}
	return out
}

// TestTag: volume servers are sent the MD5 of a chunk only where their tag would
// not tell what they stored. The entry has it in any case.
func TestTag(t *testing.T) {
	text := bytes.Repeat([]byte("words "), 10_000)
	for name, c := range map[string]struct {
		content []byte
		prepare func(*fakeCluster)
		sent    bool
	}{
		"plain":     {noise(chunked), func(*fakeCluster) {}, false},
		"sealed":    {noise(chunked), func(cl *fakeCluster) { cl.encrypts("AES256"); cl.putKEK(kek) }, false},
		"text":      {text, func(*fakeCluster) {}, true},
		"replicas":  {noise(chunked), func(cl *fakeCluster) { cl.replicas = []*filer_pb.Location{{Url: "127.0.0.1:1"}} }, true},
		"replicate": {noise(chunked), func(cl *fakeCluster) { cl.replication = "010" }, true},
		"one copy":  {noise(chunked), func(cl *fakeCluster) { cl.replication = "000" }, false},
	} {
		t.Run(name, func(t *testing.T) {
			cl := newFake(t, 1)
			c.prepare(cl)
			s := cl.store()
			if _, err := write(t.Context(), s, "data/x", c.content); err != nil {
				t.Fatal(err)
			}
			for _, d := range cl.volume.digests() {
				if (d != "") != c.sent {
					t.Errorf("MD5 %q sent", d)
				}
			}
			e := cl.entry(root + "/data/x")
			if md5hexOf(e.Attributes.Md5) != md5hex(c.content) {
				t.Errorf("MD5 %x", e.Attributes.Md5)
			}
			for _, k := range e.Chunks {
				if sum := md5.Sum(cl.volume.needles[k.FileId]); k.ETag != base64.StdEncoding.EncodeToString(sum[:]) {
					t.Errorf("chunk at %d: ETag %s", k.Offset, k.ETag)
				}
			}
			if got := read(t, s, "data/x"); !bytes.Equal(got, c.content) {
				t.Error("reads back differently")
			}
			if n := cl.filers[0].called("AssignVolume"); n != len(e.Chunks) {
				t.Errorf("%d assignments for %d chunks", n, len(e.Chunks))
			}
		})
	}
}

// TestUntagged: a volume server whose answers have no checksum, or something
// else for a tag, is sent the MD5 from then on, with no attempt lost.
func TestUntagged(t *testing.T) {
	for name, tag := range map[string]string{"none": "", "short": "1234567", "long": "123456789", "no number": "1234567x", "signed": "+1234567", "weak": `W/"12345678`} {
		t.Run(name, func(t *testing.T) {
			cl := newFake(t, 1)
			cl.volume.tag = func(string) string { return tag }
			s := cl.store(func(c *Config) { c.Pauses, c.InFlight = []time.Duration{}, 1 })
			content := noise(chunked)
			if _, err := write(t.Context(), s, "data/x", content); err != nil {
				t.Fatal(err)
			}
			if got := read(t, s, "data/x"); !bytes.Equal(got, content) {
				t.Error("reads back differently")
			}
			sent := cl.volume.digests()
			if without := slices.Index(sent, ""); without != 0 || slices.Contains(sent[1:], "") || len(sent) != len(cl.entry(root+"/data/x").Chunks)+1 {
				t.Errorf("sent with %q", sent)
			}
			cl.checkNeedles(0)
		})
	}
}

// TestSpoiled: what a volume server stores otherwise than it was sent is noticed
// by its tag, and then by the MD5 it is sent.
func TestSpoiled(t *testing.T) {
	cl := newFake(t, 1)
	var posts, spoiled atomic.Int32
	cl.volume.spoil = func(data []byte) {
		if posts.Add(1) <= spoiled.Load() {
			data[0] ^= 1
		}
	}
	content := noise(1000)
	spoiled.Store(2)
	s := cl.store()
	if _, err := write(t.Context(), s, "data/x", content); err != nil {
		t.Fatal(err)
	}
	if got := read(t, s, "data/x"); !bytes.Equal(got, content) {
		t.Error("reads back differently")
	}
	if sent := cl.volume.digests(); len(sent) != 2 || sent[0] != "" || sent[1] == "" {
		t.Errorf("taken with %q, want none and then an MD5", sent)
	}
	cl.checkNeedles(0)

	spoiled.Store(1 << 30)
	if _, err := write(t.Context(), s, "data/y", content); err == nil {
		t.Error("spoiled and not noticed")
	}
	once := cl.store(func(c *Config) { c.Pauses = []time.Duration{} })
	_, err := write(t.Context(), once, "data/y", content)
	bad := slices.Clone(content)
	bad[0] ^= 1
	if err == nil || !strings.Contains(err.Error(), tagOf(content)) || !strings.Contains(err.Error(), tagOf(bad)) {
		t.Errorf("got %v, want both sums", err)
	}
	cl.checkNeedles(0)
}

// TestTagFails: a failed upload costs an attempt, whatever tag its answer has.
func TestTagFails(t *testing.T) {
	cl := newFake(t, 1)
	cl.volume.tag = func(string) string { return "" }
	cl.volume.refuse = func(r *http.Request) int {
		if r.Method == http.MethodPost {
			return http.StatusInternalServerError
		}
		return 0
	}
	if _, err := write(t.Context(), cl.store(), "data/x", noise(10)); err == nil {
		t.Error("no error")
	}
	if n := cl.filers[0].called("AssignVolume"); n != 3 {
		t.Errorf("%d attempts, want 3", n)
	}
}
