package filerstore

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/seaweedfs/seaweedfs/weed/s3api/s3_constants"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// TestEntry: what is written has all that the gateway would have given it.
func TestEntry(t *testing.T) {
	for name, content := range map[string][]byte{"empty": nil, "small": []byte("hello"), "text": bytes.Repeat([]byte("words "), 10_000), "chunked": noise(chunked)} {
		for _, cipher := range []bool{false, true} {
			cl := newFake(t, 1)
			cl.conf.Cipher = cipher
			cl.conf.FilerGroup = "north"
			cl.volume.wantFsync = true
			s := cl.store()
			made, err := write(t.Context(), s, "data/x.lance", content)
			if err != nil {
				t.Fatal(err)
			}
			e := cl.entry(root + "/data/x.lance")
			sum := md5hex(content)
			if got := string(e.Extended[s3_constants.ExtETagKey]); got != sum || md5hexOf(e.Attributes.Md5) != sum || ETag(made.Token) != sum {
				t.Errorf("%s: ETag %s, MD5 %x, token %s, want %s", name, got, e.Attributes.Md5, made.Token, sum)
			}
			if e.Attributes.FileMode != 0o660 || e.Attributes.Mime != "application/octet-stream" || e.Attributes.FileSize != uint64(len(content)) || len(e.Content) > 0 || e.Attributes.TtlSec != 0 {
				t.Errorf("%s: %v", name, e.Attributes)
			}
			if len(e.Extended[s3_constants.SeaweedFSWriteId]) == 0 {
				t.Errorf("%s: no write id", name)
			}
			offset := int64(0)
			for _, c := range e.Chunks {
				if c.Offset != offset || c.IsCompressed || c.ETag == "" || (len(c.CipherKey) > 0) != cipher {
					t.Errorf("%s: chunk %v at %d", name, c, offset)
				}
				offset += int64(c.Size)
			}
			if offset != int64(len(content)) {
				t.Errorf("%s: chunks of %d bytes, want %d", name, offset, len(content))
			}
			for _, h := range cl.volume.uploads {
				if h.Get("Authorization") != "Bearer token of north_lab" || h.Get("Content-Encoding") != "" {
					t.Errorf("%s: uploaded with %v", name, h)
				}
			}
			if got := read(t, s, "data/x.lance"); !bytes.Equal(got, content) {
				t.Errorf("%s: reads back differently", name)
			}
		}
	}
}

// TestUploadRetries: a volume server that fails for a while costs attempts,
// each at a file id of its own, and those that failed are given back.
func TestUploadRetries(t *testing.T) {
	cl := newFake(t, 1)
	var posts atomic.Int32
	cl.volume.refuse = func(r *http.Request) int {
		if r.Method == http.MethodPost && posts.Add(1) <= 2 {
			return http.StatusInternalServerError
		}
		return 0
	}
	s := cl.store()
	if _, err := write(t.Context(), s, "data/x", noise(1000)); err != nil {
		t.Fatal(err)
	}
	if got := read(t, s, "data/x"); !bytes.Equal(got, noise(1000)) {
		t.Error("reads back differently")
	}
	if n := cl.filers[0].called("AssignVolume"); n != 3 {
		t.Errorf("%d assignments, want 3", n)
	}
	cl.checkNeedles(0)

	cl.volume.refuse = func(*http.Request) int { return http.StatusInternalServerError }
	if _, err := write(t.Context(), s, "data/y", noise(chunked)); err == nil || errors.Is(err, objects.ErrUnknown) {
		t.Errorf("got %v, want a failure that is certain", err)
	}
	cl.checkNeedles(0)
}

// TestAbort: needles of what is not finished go back.
func TestAbort(t *testing.T) {
	cl := newFake(t, 1)
	s := cl.store()
	w, err := s.Create(t.Context(), "data/x")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(noise(chunked)); err != nil {
		t.Fatal(err)
	}
	w.Abort()
	cl.checkNeedles(0)
	if n := cl.filers[0].called("CreateEntry"); n != 0 {
		t.Errorf("%d creates", n)
	}
}

// TestAbortWhileSending: a chunk that is on its way when the object is given up
// has arrived before it is removed, and so does not stay.
func TestAbortWhileSending(t *testing.T) {
	cl := newFake(t, 1)
	arrived, release := make(chan struct{}, 10), make(chan struct{})
	cl.volume.refuse = func(r *http.Request) int {
		if r.Method == http.MethodPost {
			arrived <- struct{}{}
			<-release
		}
		return 0
	}
	ctx, cancel := context.WithCancel(t.Context())
	s := cl.store()
	w, err := s.Create(ctx, "data/x")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(noise(chunked)); err != nil {
		t.Fatal(err)
	}
	<-arrived
	cancel()
	aborted := make(chan struct{})
	go func() {
		w.Abort()
		close(aborted)
	}()
	select {
	case <-aborted:
		t.Error("Abort did not wait for what is on its way")
	default:
	}
	close(release)
	<-aborted
	cl.checkNeedles(0)
}

// TestManifestOfChunks: many chunks are folded, and are all given back when
// the object is not made after all.
func TestManifestOfChunks(t *testing.T) {
	cl := newFake(t, 1)
	s := cl.store()
	w, err := s.newWriter(t.Context(), "data/x")
	if err != nil {
		t.Fatal(err)
	}
	w.to.conf.chunk = 1000
	content := noise(300*1000 + 7)
	if _, err := w.Write(content); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	e := cl.entry(root + "/data/x")
	if len(e.Chunks) >= 301 || !e.Chunks[len(e.Chunks)-1].IsChunkManifest && !e.Chunks[0].IsChunkManifest {
		t.Fatalf("%d chunks, want fewer and a manifest", len(e.Chunks))
	}
	if got := read(t, s, "data/x"); !bytes.Equal(got, content) {
		t.Error("reads back differently")
	}
	held := len(cl.volume.held())
	again, err := s.newWriter(t.Context(), "data/x")
	if err != nil {
		t.Fatal(err)
	}
	again.to.conf.chunk = 1000
	if _, err := again.Write(content); err != nil {
		t.Fatal(err)
	}
	if _, err := again.Finish(t.Context()); !errors.Is(err, objects.ErrExists) {
		t.Errorf("got %v, want ErrExists", err)
	}
	if now := len(cl.volume.held()); now != held {
		t.Errorf("%d needles, want %d as before", now, held)
	}
}

// TestReplaceAnswers: a replace without an answer is done again with chunks of
// its own, and is unknown when none is ever answered.
func TestReplaceAnswers(t *testing.T) {
	cl := newFake(t, 2)
	s := cl.store()
	cl.filers[0].plan("CreateEntry", works, lost)
	for _, p := range []string{"one", "two", "three"} {
		if err := s.Replace(t.Context(), "_versions/latest", []byte(p)); err != nil {
			t.Fatal(err)
		}
		if got := read(t, s, "_versions/latest"); string(got) != p {
			t.Errorf("%q, want %q", got, p)
		}
	}
	cl.checkNeedles(0)
	for _, f := range cl.filers {
		f.plan("CreateEntry", dropped, dropped, dropped)
	}
	if err := s.Replace(t.Context(), "_versions/latest", []byte("four")); !errors.Is(err, objects.ErrUnknown) {
		t.Errorf("got %v, want unknown", err)
	}
	cl.checkNeedles(6)
	if got := read(t, s, "_versions/latest"); string(got) != "three" {
		t.Errorf("%q", got)
	}
}
