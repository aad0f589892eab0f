package filerstore

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/zstd"
	"google.golang.org/protobuf/proto"

	"github.com/seaweedfs/seaweedfs/weed/pb/filer_pb"
	"github.com/seaweedfs/seaweedfs/weed/s3api/s3_constants"
	"github.com/seaweedfs/seaweedfs/weed/util"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// TestDecodedOnce: an encrypted chunk is fetched once for many small reads,
// also when they are made at once, and is not kept for ever.
func TestDecodedOnce(t *testing.T) {
	cl := newFake(t, 1)
	cl.conf.Cipher = true
	s := cl.store(func(c *Config) { c.DecodedBytes = 2 << 20 })
	content := noise(4 << 20)
	if _, err := write(t.Context(), s, "x", content); err != nil {
		t.Fatal(err)
	}
	r, err := s.Open(t.Context(), "x")
	if err != nil {
		t.Fatal(err)
	}
	var reading sync.WaitGroup
	for i := range 50 {
		reading.Go(func() {
			p := make([]byte, 1000)
			if err := r.ReadAt(t.Context(), p, int64(i)*1000); err != nil || !bytes.Equal(p, content[i*1000:(i+1)*1000]) {
				t.Errorf("read %d: %v", i, err)
			}
		})
	}
	reading.Wait()
	if got := cl.volume.took(); len(got) != 1 {
		t.Errorf("%d fetches, want 1: %q", len(got), got)
	}
	for range 2 {
		if got := read(t, s, "x"); !bytes.Equal(got, content) {
			t.Error("reads differently")
		}
	}
	s.c.decoded.mu.Lock()
	defer s.c.decoded.mu.Unlock()
	if s.c.decoded.size > 2<<20 || len(s.c.decoded.at) > 2 || s.c.decoded.used.Len() != len(s.c.decoded.at) {
		t.Errorf("%d bytes in %d chunks kept", s.c.decoded.size, len(s.c.decoded.at))
	}
}

// TestDecodeLeaderGone: that the one who fetches a chunk gives up is nothing
// to those who wait for it.
func TestDecodeLeaderGone(t *testing.T) {
	c := &chunkCache{limit: 100}
	ctx, cancel := context.WithCancel(t.Context())
	started, end := make(chan struct{}), make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		_, err := c.get(ctx, "1", func() ([]byte, error) {
			close(started)
			<-end
			return nil, ctx.Err()
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("the leader got %v", err)
		}
	})
	<-started
	for range 5 {
		all.Go(func() {
			data, err := c.get(t.Context(), "1", func() ([]byte, error) { return []byte("data"), nil })
			if err != nil || string(data) != "data" {
				t.Errorf("a waiter got %q, %v", data, err)
			}
		})
	}
	waiting, stop := context.WithCancel(t.Context())
	stop()
	if _, err := c.get(waiting, "1", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("an impatient waiter got %v", err)
	}
	cancel()
	close(end)
	all.Wait()
}

// TestCompressedChunks: what others stored compressed is read, encrypted too.
func TestCompressedChunks(t *testing.T) {
	content := bytes.Repeat([]byte("manifest "), 1000)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write(content)
	z.Close()
	cl := newFake(t, 1)
	plain := cl.volume.chunk(0, packed.Bytes())
	plain.Size, plain.IsCompressed = uint64(len(content)), true
	cl.add(root+"/plain", file(len(content), plain))
	key := util.GenCipherKey()
	secret, err := util.Encrypt(packed.Bytes(), key)
	if err != nil {
		t.Fatal(err)
	}
	sealed := cl.volume.chunk(0, secret)
	sealed.Size, sealed.IsCompressed, sealed.CipherKey = uint64(len(content)), true, key
	cl.add(root+"/sealed", file(len(content), sealed))
	cl.volume.serve = func(w http.ResponseWriter, r *http.Request, data []byte) {
		// As weed does for a needle flagged compressed.
		if strings.HasPrefix(string(data), "\x1f\x8b") {
			w.Header().Set("Content-Encoding", "gzip")
		}
		w.Write(data)
	}
	zstdKey := util.GenCipherKey()
	zw, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, stored := range map[string][]byte{"zstd": zw.EncodeAll(content, nil), "not compressed": content} {
		secret, err := util.Encrypt(stored, zstdKey)
		if err != nil {
			t.Fatal(err)
		}
		c := cl.volume.chunk(0, secret)
		c.Size, c.IsCompressed, c.CipherKey = uint64(len(content)), true, zstdKey
		cl.add(root+"/"+name, file(len(content), c))
	}
	zw.Close()
	s := cl.store()
	for _, name := range []string{"plain", "sealed", "zstd", "not compressed"} {
		if got := read(t, s, name); !bytes.Equal(got, content) {
			t.Errorf("%s reads differently", name)
		}
	}
	// A bomb inflates to what the entry says at most.
	sealed.Size = 100
	cl.entry(root + "/sealed").Attributes.FileSize = 100
	if got := read(t, s, "sealed"); !bytes.Equal(got, content[:100]) {
		t.Error("cut short reads differently")
	}
}

// TestChunkManifests: nested manifests are resolved when the object is opened.
func TestChunkManifests(t *testing.T) {
	cl := newFake(t, 1)
	fold := func(chunks ...*filer_pb.FileChunk) *filer_pb.FileChunk {
		data, err := proto.Marshal(&filer_pb.FileChunkManifest{Chunks: chunks})
		if err != nil {
			t.Fatal(err)
		}
		m := cl.volume.chunk(chunks[0].Offset, data)
		m.IsChunkManifest, m.Size = true, 0
		for _, c := range chunks {
			m.Size += c.Size
		}
		return m
	}
	content := noise(400)
	part := func(i int) *filer_pb.FileChunk { return cl.volume.chunk(int64(i)*100, content[i*100:(i+1)*100]) }
	inner := fold(part(0), part(1))
	outer := fold(inner, part(2))
	cl.add(root+"/x", file(400, outer, part(3)))
	s := cl.store()
	if got := read(t, s, "x"); !bytes.Equal(got, content) {
		t.Error("reads differently")
	}
	secret := part(0)
	secret.SseType = filer_pb.SSEType_SSE_C
	cl.add(root+"/secret", file(100, fold(secret)))
	if _, err := s.Open(t.Context(), "secret"); !errors.Is(err, ErrEncrypted) {
		t.Errorf("an encrypted chunk in a manifest: got %v", err)
	}
	gone := fold(part(0))
	delete(cl.volume.needles, gone.FileId)
	cl.add(root+"/gone", file(100, gone))
	if _, err := s.Open(t.Context(), "gone"); err == nil || errors.Is(err, objects.ErrNotFound) {
		t.Errorf("a lost manifest: got %v", err)
	}
}

// TestInline: bytes in the entry itself.
func TestInline(t *testing.T) {
	cl := newFake(t, 1)
	cl.add(root+"/x", &filer_pb.Entry{Content: []byte("inside"), Attributes: &filer_pb.FuseAttributes{FileSize: 6}})
	cl.add(root+"/unsized", &filer_pb.Entry{Content: []byte("inside")})
	s := cl.store()
	for _, name := range []string{"x", "unsized"} {
		if got := read(t, s, name); string(got) != "inside" {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got := cl.volume.took(); len(got) != 0 {
		t.Errorf("fetched %q", got)
	}
}

// TestRemoteOnly: an object that is only in the remote storage is fetched by
// the filer first.
func TestRemoteOnly(t *testing.T) {
	cl := newFake(t, 1)
	cl.remote[root+"/x"] = noise(500)
	cl.add(root+"/x", &filer_pb.Entry{
		Attributes:  &filer_pb.FuseAttributes{FileSize: 500},
		RemoteEntry: &filer_pb.RemoteEntry{RemoteSize: 500, RemoteETag: `"remote"`},
	})
	s := cl.store()
	es, err := s.List(t.Context(), "", "", 10)
	if err != nil || len(es) != 1 || ETag(es[0].Token) != "remote" || es[0].Size != 500 {
		t.Errorf("listed as %+v, %v", es, err)
	}
	if got := read(t, s, "x"); !bytes.Equal(got, noise(500)) {
		t.Error("reads differently")
	}
	read(t, s, "x")
	if n := cl.filers[0].called("CacheRemoteObjectToLocalCluster"); n != 1 {
		t.Errorf("fetched %d times", n)
	}
}

// TestRefusesEncrypted: what S3 encrypted with keys that are not the cluster's
// is refused by the name of its scheme.
func TestRefusesEncrypted(t *testing.T) {
	cl := newFake(t, 1)
	s := cl.store()
	for scheme, extended := range map[string]map[string][]byte{
		"SSE-KMS": {s3_constants.AmzServerSideEncryption: []byte("aws:kms")},
		"SSE-C":   {s3_constants.AmzServerSideEncryptionCustomerAlgorithm: []byte("AES256")},
	} {
		cl.add(root+"/x", &filer_pb.Entry{Content: []byte("x"), Extended: extended})
		_, err := s.Open(t.Context(), "x")
		if !errors.Is(err, ErrEncrypted) || !strings.Contains(fmt.Sprint(err), scheme) {
			t.Errorf("%s: got %v", scheme, err)
		}
	}
}
