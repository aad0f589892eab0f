package filerstore

import (
	"bytes"
	"errors"
	"io"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/seaweedfs/seaweedfs/weed/pb/filer_pb"
	"github.com/seaweedfs/seaweedfs/weed/util"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// file makes an entry of chunks.
func file(size int, chunks ...*filer_pb.FileChunk) *filer_pb.Entry {
	return &filer_pb.Entry{Chunks: chunks, Attributes: &filer_pb.FuseAttributes{FileSize: uint64(size)}}
}

// TestReadsJustTheRange: of a plain chunk only what is wanted is fetched, in
// one request for each chunk.
func TestReadsJustTheRange(t *testing.T) {
	cl := newFake(t, 1)
	content := noise(3000)
	a, b, c := cl.volume.chunk(0, content[:1000]), cl.volume.chunk(1000, content[1000:2000]), cl.volume.chunk(2000, content[2000:])
	cl.add(root+"/x", file(3000, c, a, b))
	s := cl.store()
	r, err := s.Open(t.Context(), "x")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		off, n int
		want   []string
	}{
		{0, 1, []string{a.FileId + " 0-0"}},
		{990, 10, []string{a.FileId + " 990-999"}},
		{999, 2, []string{a.FileId + " 999-999", b.FileId + " 0-0"}},
		{500, 2000, []string{a.FileId + " 500-999", b.FileId + " 0-999", c.FileId + " 0-499"}},
		{1000, 1000, []string{b.FileId + " 0-999"}},
	} {
		before := len(cl.volume.took())
		p := make([]byte, c.n)
		if err := r.ReadAt(t.Context(), p, int64(c.off)); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(p, content[c.off:c.off+c.n]) {
			t.Errorf("%d bytes at %d differ", c.n, c.off)
		}
		got := cl.volume.took()[before:]
		slices.Sort(got)
		slices.Sort(c.want)
		if !slices.Equal(got, c.want) {
			t.Errorf("%d bytes at %d: asked for %q, want %q", c.n, c.off, got, c.want)
		}
	}
	if n := cl.filers[0].called("LookupDirectoryEntry"); n != 1 {
		t.Errorf("%d lookups, want 1", n)
	}
}

// TestOverwrittenChunks: the newest write of each byte is seen.
func TestOverwrittenChunks(t *testing.T) {
	cl := newFake(t, 1)
	under, over := cl.volume.chunk(0, bytes.Repeat([]byte("a"), 100)), cl.volume.chunk(30, bytes.Repeat([]byte("b"), 20))
	cl.add(root+"/x", file(100, under, over))
	got := read(t, cl.store(), "x")
	if want := strings.Repeat("a", 30) + strings.Repeat("b", 20) + strings.Repeat("a", 50); string(got) != want {
		t.Errorf("%s", got)
	}
}

// TestMissingBytes: what is not there is an error, never zeros.
func TestMissingBytes(t *testing.T) {
	cl := newFake(t, 1)
	v := cl.volume
	truncated := v.chunk(0, noise(100))
	truncated.Size = 150
	cl.add(root+"/truncated", file(150, truncated))
	cl.add(root+"/hole", file(300, v.chunk(0, noise(100)), v.chunk(200, noise(100))))
	cl.add(root+"/tail", file(150, v.chunk(0, noise(100))))
	cl.add(root+"/nothing", file(10))
	lostChunk := v.chunk(0, noise(100))
	cl.add(root+"/lost", file(100, lostChunk))
	delete(v.needles, lostChunk.FileId)
	cut := v.chunk(0, noise(100))
	cut.CipherKey = util.GenCipherKey()
	cl.add(root+"/cipher", file(100, cut))
	key := util.GenCipherKey()
	sealed, err := util.Encrypt(noise(100), key)
	if err != nil {
		t.Fatal(err)
	}
	less := v.chunk(0, sealed)
	less.CipherKey, less.Size = key, 150
	cl.add(root+"/sealed", file(150, less))
	s := cl.store()
	for _, name := range []string{"truncated", "hole", "tail", "nothing", "lost", "cipher", "sealed"} {
		r, err := s.Open(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		err = r.ReadAt(t.Context(), make([]byte, r.Entry().Size), 0)
		if err == nil || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, objects.ErrNotFound) {
			t.Errorf("%s: got %v, want an error of its own", name, err)
		}
	}
	for name, c := range map[string]*filer_pb.FileChunk{
		"negative": {FileId: "7,01c0000001", Offset: -1, Size: 2},
		"overflow": {FileId: "7,01c0000001", Offset: 1, Size: math.MaxInt64},
		"huge":     {FileId: "7,01c0000001", Size: math.MaxUint64},
	} {
		cl.add(root+"/"+name, file(1, c))
		if r, err := s.Open(t.Context(), name); err == nil {
			t.Errorf("%s opened with %d bytes", name, r.Entry().Size)
		}
	}
	cl.add(root+"/size", &filer_pb.Entry{Attributes: &filer_pb.FuseAttributes{FileSize: math.MaxUint64}})
	if _, err := s.Open(t.Context(), "size"); err == nil {
		t.Error("2^64-1 bytes opened")
	}
}

// TestServersThatMisbehave: short answers and wrong ranges are noticed, and
// what another location has is taken.
func TestServersThatMisbehave(t *testing.T) {
	content := noise(1000)
	bad := map[string]func(w http.ResponseWriter, r *http.Request, data []byte){
		"cuts off": func(w http.ResponseWriter, r *http.Request, data []byte) {
			w.Header().Set("Content-Length", "500")
			w.Header().Set("Content-Range", "bytes 100-599/1000")
			w.WriteHeader(http.StatusPartialContent)
			w.Write(data[100:200])
		},
		"too little": func(w http.ResponseWriter, r *http.Request, data []byte) {
			w.Header().Set("Content-Range", "bytes 100-199/200")
			w.WriteHeader(http.StatusPartialContent)
			w.Write(data[100:200])
		},
		"another range": func(w http.ResponseWriter, r *http.Request, data []byte) {
			w.Header().Set("Content-Range", "bytes 0-499/1000")
			w.WriteHeader(http.StatusPartialContent)
			w.Write(data[:500])
		},
		"fails": func(w http.ResponseWriter, r *http.Request, data []byte) {
			http.Error(w, "disk", http.StatusInternalServerError)
		},
		"empty": func(w http.ResponseWriter, r *http.Request, data []byte) {},
	}
	for name, serve := range bad {
		cl := newFake(t, 1)
		cl.add(root+"/x", file(1000, cl.volume.chunk(0, content)))
		s := cl.store()
		r, err := s.Open(t.Context(), "x")
		if err != nil {
			t.Fatal(err)
		}
		cl.volume.serve = serve
		if err := r.ReadAt(t.Context(), make([]byte, 500), 100); err == nil || errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s: got %v, want an error of its own", name, err)
		}
		if n := cl.filers[0].called("LookupVolume"); n != 2 {
			t.Errorf("%s: %d volume lookups, want a second one after the failure", name, n)
		}
	}
	// The whole where a range was asked for is fine.
	cl := newFake(t, 1)
	cl.add(root+"/x", file(1000, cl.volume.chunk(0, content)))
	cl.volume.serve = func(w http.ResponseWriter, r *http.Request, data []byte) { w.Write(data) }
	r, err := cl.store().Open(t.Context(), "x")
	if err != nil {
		t.Fatal(err)
	}
	p := make([]byte, 500)
	if err := r.ReadAt(t.Context(), p, 100); err != nil || !bytes.Equal(p, content[100:600]) {
		t.Errorf("whole chunk for a range: %v", err)
	}
}

// TestMovedVolume: a volume that is elsewhere than remembered is looked up again.
func TestMovedVolume(t *testing.T) {
	cl := newFake(t, 1)
	c := cl.connect()
	cl.add(root+"/x", file(100, cl.volume.chunk(0, noise(100))))
	c.volumes.put("7", []string{"127.0.0.1:1"})
	if got := read(t, c.Table(root).(*store), "x"); !bytes.Equal(got, noise(100)) {
		t.Error("reads differently")
	}
}

// TestVolumeDenies: a missing read key is told as such.
func TestVolumeDenies(t *testing.T) {
	cl := newFake(t, 1)
	cl.add(root+"/x", file(100, cl.volume.chunk(0, noise(100))))
	cl.volume.refuse = func(*http.Request) int { return http.StatusUnauthorized }
	_, _, err := objects.ReadAll(t.Context(), cl.store(), "x", 1000)
	if !errors.Is(err, objects.ErrDenied) {
		t.Errorf("got %v, want denied", err)
	}
}

// TestRemovedWhileReading: a reader goes on after its object was deleted, until
// the volume is vacuumed; then the object is not found.
func TestRemovedWhileReading(t *testing.T) {
	cl := newFake(t, 1)
	s := cl.store()
	if err := s.Publish(t.Context(), "x", []byte("content")); err != nil {
		t.Fatal(err)
	}
	r, err := s.Open(t.Context(), "x")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Delete(t.Context(), "x"); err != nil {
		t.Fatal(err)
	}
	p := make([]byte, 7)
	if err := r.ReadAt(t.Context(), p, 0); err != nil || string(p) != "content" {
		t.Errorf("%q, %v", p, err)
	}
	cl.volume.vacuum()
	if err := r.ReadAt(t.Context(), p, 0); !errors.Is(err, objects.ErrNotFound) {
		t.Errorf("got %v, want not found", err)
	}
}
