package filerstore

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/seaweedfs/seaweedfs/weed/pb/filer_pb"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// asked counts what the filer was asked about entries.
func asked(cl *fakeCluster) int {
	return cl.filers[0].called("ListEntries") + cl.filers[0].called("LookupDirectoryEntry")
}

// listOne lists a directory that holds one object.
func listOne(t *testing.T, s objects.Store, dir string) objects.Listed {
	t.Helper()
	page, err := objects.ListOpen(t.Context(), s, dir, "", 2)
	if err != nil || len(page) != 1 {
		t.Fatalf("listing %s: %+v, %v", dir, page, err)
	}
	return page[0]
}

// TestListOpenCalls: listing, opening and reading is one call to the filer,
// whatever way the bytes are kept.
func TestListOpenCalls(t *testing.T) {
	cl := newFake(t, 1)
	s := cl.store()
	content := noise(300)
	two := []*filer_pb.FileChunk{cl.volume.chunk(0, content[:100]), cl.volume.chunk(100, content[100:])}
	folded, err := proto.Marshal(&filer_pb.FileChunkManifest{Chunks: two})
	if err != nil {
		t.Fatal(err)
	}
	manifest := cl.volume.chunk(0, folded)
	manifest.IsChunkManifest, manifest.Size = true, 300
	for name, e := range map[string]*filer_pb.Entry{
		"chunks":   file(300, two...),
		"manifest": file(300, manifest),
		"inline":   {Content: content, Attributes: &filer_pb.FuseAttributes{FileSize: 300}},
	} {
		cl.add(root+"/"+name+"/x", e)
	}
	if err := s.Publish(t.Context(), "published/x", content); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"chunks", "manifest", "inline", "published"} {
		before := asked(cl)
		l := listOne(t, s, dir)
		p, e, err := objects.ReadListed(t.Context(), l, 300)
		if err != nil || !bytes.Equal(p, content) || e.Name != dir+"/x" {
			t.Errorf("%s: %d bytes, %+v, %v", dir, len(p), e, err)
		}
		if n := asked(cl) - before; n != 1 {
			t.Errorf("%s: %d calls", dir, n)
		}
	}
	// The plain listing does not carry what nobody asked for.
	entries, err := s.c.ListEntries(t.Context(), root+"/chunks", "", 1)
	if err != nil || len(entries) != 1 || len(entries[0].Chunks) != 0 {
		t.Errorf("%+v, %v", entries, err)
	}
}

// TestListOpenTokens: with the chunks at hand no token needs another call.
func TestListOpenTokens(t *testing.T) {
	cl := newFake(t, 1)
	s := cl.store()
	cl.add(root+"/d/x", file(3, cl.volume.chunk(0, []byte("abc"))))
	before := asked(cl)
	l := listOne(t, s, "d")
	if n := asked(cl) - before; n != 1 {
		t.Errorf("%d calls", n)
	}
	r, err := s.Open(t.Context(), "d/x")
	if err != nil || r.Entry().Token != l.Token || ETag(l.Token) != md5hex([]byte("abc")) {
		t.Errorf("listed with %q, opened with %+v, %v", l.Token, r.Entry(), err)
	}
}

// TestListOpenRemoved: what was removed since the listing reads until its
// volume is vacuumed; then it is not found, and not before.
func TestListOpenRemoved(t *testing.T) {
	cl := newFake(t, 1)
	s := cl.store()
	folded, err := proto.Marshal(&filer_pb.FileChunkManifest{Chunks: []*filer_pb.FileChunk{cl.volume.chunk(0, []byte("folded!"))}})
	if err != nil {
		t.Fatal(err)
	}
	manifest := cl.volume.chunk(0, folded)
	manifest.IsChunkManifest, manifest.Size = true, 7
	cl.add(root+"/m/x", file(7, manifest))
	if err := s.Publish(t.Context(), "d/x", []byte("content")); err != nil {
		t.Fatal(err)
	}
	plain, fold := listOne(t, s, "d"), listOne(t, s, "m")
	if err := s.Delete(t.Context(), "d/x"); err != nil {
		t.Fatal(err)
	}
	if p, _, err := objects.ReadListed(t.Context(), plain, 7); err != nil || string(p) != "content" {
		t.Errorf("%q, %v", p, err)
	}
	cl.volume.vacuum()
	r, err := plain.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := r.ReadAt(t.Context(), make([]byte, 7), 0); !errors.Is(err, objects.ErrNotFound) {
		t.Errorf("got %v, want not found", err)
	}
	// Its chunk manifest is needed to open it at all.
	delete(cl.volume.needles, manifest.FileId)
	if _, err := fold.Open(t.Context()); err == nil || errors.Is(err, objects.ErrNotFound) {
		t.Errorf("a lost chunk manifest: %v", err)
	}
	if err := s.Delete(t.Context(), "m/x"); err != nil {
		t.Fatal(err)
	}
	if _, err := fold.Open(t.Context()); !errors.Is(err, objects.ErrNotFound) {
		t.Errorf("a chunk manifest of a removed object: %v", err)
	}
}

// TestListOpenRemote: an object that is only in the remote storage is fetched when it
// is opened, not when it is listed.
func TestListOpenRemote(t *testing.T) {
	cl := newFake(t, 1)
	cl.remote[root+"/d/x"] = noise(500)
	cl.add(root+"/d/x", &filer_pb.Entry{
		Attributes:  &filer_pb.FuseAttributes{FileSize: 500},
		RemoteEntry: &filer_pb.RemoteEntry{RemoteSize: 500, RemoteETag: `"remote"`},
	})
	s := cl.store()
	l := listOne(t, s, "d")
	if n := cl.filers[0].called("CacheRemoteObjectToLocalCluster"); n != 0 || ETag(l.Token) != "remote" {
		t.Errorf("fetched %d times, listed as %+v", n, l.Entry)
	}
	if p, _, err := objects.ReadListed(t.Context(), l, 500); err != nil || !bytes.Equal(p, noise(500)) {
		t.Errorf("%d bytes, %v", len(p), err)
	}
}

// TestListOpenRefuses: what Open refuses is listed and refused in the same way.
func TestListOpenRefuses(t *testing.T) {
	cl := newFake(t, 1)
	secret := cl.volume.chunk(0, []byte("abc"))
	secret.SseType = filer_pb.SSEType_SSE_C
	cl.add(root+"/d/x", file(3, secret))
	l := listOne(t, cl.store(), "d")
	if _, err := l.Open(t.Context()); !errors.Is(err, ErrEncrypted) {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.Open(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
