package filerstore

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/seaweedfs/seaweedfs/weed/pb/filer_pb"
	"github.com/seaweedfs/seaweedfs/weed/s3api/s3_constants"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
	"github.com/seaweedfs/seaweed-lance/internal/objects/filerstore/sses3"
)

// kek is a cluster's key, as its filers keep it.
var kek = strings.Repeat("5e", 32)

func (cl *fakeCluster) putKEK(content string) {
	cl.add(sses3.FileDir+"/"+sses3.FileName, &filer_pb.Entry{Content: []byte(content)})
}

// decoder reads an entry with the key, as any other process would.
func decoder(t *testing.T, e *filer_pb.Entry) *sses3.Decoder {
	t.Helper()
	keys, err := sses3.Load(sses3.File{Exists: true, Content: []byte(kek)})
	if err != nil {
		t.Fatal(err)
	}
	d, err := keys.NewDecoder(e, e.GetChunks())
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestSSES3: what is written into a bucket that encrypts is encrypted, with or
// without the volumes' own encryption around it, and reads back from anywhere.
func TestSSES3(t *testing.T) {
	plain := bytes.Repeat([]byte("not for the disk "), chunked/17)
	for _, cipher := range []bool{false, true} {
		for name, content := range map[string][]byte{"empty": nil, "small": plain[:100], "one chunk": plain[:1<<20], "chunked": plain} {
			t.Run(fmt.Sprintf("%s,cipher=%v", name, cipher), func(t *testing.T) {
				cl := newFake(t, 1)
				cl.conf.Cipher = cipher
				cl.encrypts("AES256")
				cl.putKEK(kek)
				s := cl.store()
				made, err := write(t.Context(), s, "data/x", content)
				if err != nil {
					t.Fatal(err)
				}
				if err := s.Publish(t.Context(), "_versions/1", content); err != nil {
					t.Fatal(err)
				}
				for range 2 {
					if err := s.Replace(t.Context(), "_versions/hint", content); err != nil {
						t.Fatal(err)
					}
				}
				if tag := ETag(made.Token); tag != md5hex(content) {
					t.Errorf("token %s", made.Token)
				}
				for _, data := range cl.volume.needles {
					if bytes.Contains(data, []byte("the disk")) {
						t.Error("stored in the clear")
					}
				}
				for _, object := range []string{"data/x", "_versions/1", "_versions/hint"} {
					checkSealed(t, cl, object, content)
					if got := read(t, s, object); !bytes.Equal(got, content) {
						t.Errorf("%s reads back differently", object)
					}
					ranges(t, s, object, content)
				}
				cl.checkNeedles(0)
			})
		}
	}
}

// checkSealed checks what the gateway needs to read an object, and that it does
// where the volumes do not encrypt besides.
func checkSealed(t *testing.T, cl *fakeCluster, object string, content []byte) {
	t.Helper()
	e := cl.entry(root + "/" + object)
	if string(e.Extended[s3_constants.AmzServerSideEncryption]) != "AES256" || len(e.Extended[s3_constants.SeaweedFSSSES3Key]) == 0 {
		t.Errorf("%s: attributes %q", object, e.Extended)
	}
	if tag := string(e.Extended[s3_constants.ExtETagKey]); tag != md5hex(content) || md5hexOf(e.Attributes.Md5) != tag || e.Attributes.FileSize != uint64(len(content)) {
		t.Errorf("%s: ETag %s, %v", object, tag, e.Attributes)
	}
	d := decoder(t, e)
	for _, c := range e.Chunks {
		if c.SseType != filer_pb.SSEType_SSE_S3 || len(c.SseMetadata) == 0 {
			t.Errorf("%s: chunk %v", object, c)
		}
		if len(c.CipherKey) > 0 {
			continue
		}
		data := slices.Clone(cl.volume.needles[c.FileId])
		if d.Chunk(data, c.FileId, 0, c.Offset); !bytes.Equal(data, content[c.Offset:c.Offset+int64(c.Size)]) {
			t.Errorf("%s: the chunk at %d differs", object, c.Offset)
		}
	}
}

// ranges reads pieces that begin and end in and between blocks and chunks.
func ranges(t *testing.T, s objects.Store, name string, content []byte) {
	t.Helper()
	r, err := s.Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, from := range []int{0, 1, 15, 16, 1<<20 - 1, 1 << 20, 1<<20 + 17} {
		for _, n := range []int{0, 1, 31, 1<<20 + 5} {
			if from+n > len(content) {
				continue
			}
			p := make([]byte, n)
			if err := r.ReadAt(t.Context(), p, int64(from)); err != nil || !bytes.Equal(p, content[from:from+n]) {
				t.Errorf("%d bytes at %d differ (%v)", n, from, err)
			}
		}
	}
}

// TestSSES3Manifests: the chunks within chunk manifests, which themselves are
// not encrypted, and an object whose bytes are in its entry.
func TestSSES3Manifests(t *testing.T) {
	cl := newFake(t, 1)
	cl.encrypts("AES256")
	cl.putKEK(kek)
	s := cl.store()
	content := noise(chunked)
	if _, err := write(t.Context(), s, "x", content); err != nil {
		t.Fatal(err)
	}
	e := cl.entry(root + "/x")
	data, err := proto.Marshal(&filer_pb.FileChunkManifest{Chunks: e.Chunks[1:]})
	if err != nil {
		t.Fatal(err)
	}
	folded := cl.volume.chunk(e.Chunks[1].Offset, data)
	folded.IsChunkManifest, folded.Size = true, uint64(len(content))-uint64(folded.Offset)
	e.Chunks = []*filer_pb.FileChunk{e.Chunks[0], folded}
	if got := read(t, s, "x"); !bytes.Equal(got, content) {
		t.Error("reads differently")
	}
	ranges(t, s, "x", content)

	if err := s.Publish(t.Context(), "y", content[:1000]); err != nil {
		t.Fatal(err)
	}
	inside := cl.entry(root + "/y")
	inside.Content, inside.Chunks = cl.volume.needles[inside.Chunks[0].FileId], nil
	if got := read(t, s, "y"); !bytes.Equal(got, content[:1000]) {
		t.Error("in the entry it reads differently")
	}
}

// TestSSES3Copy: from plain to encrypted, back, and between two under
// different keys.
func TestSSES3Copy(t *testing.T) {
	cl := newFake(t, 1)
	cl.encrypts("AES256")
	cl.putKEK(kek)
	cl.add("/buckets/open", &filer_pb.Entry{IsDirectory: true})
	c := cl.connect()
	sealed, plain := c.Table(root).(*store), c.Table("/buckets/open/t").(*store)
	content := noise(chunked)
	if _, err := write(t.Context(), plain, "a", content); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		from, to *store
		a, b     string
	}{{plain, sealed, "a", "b"}, {sealed, sealed, "b", "c"}, {sealed, plain, "c", "d"}} {
		r, err := step.from.Open(t.Context(), step.a)
		if err != nil {
			t.Fatal(err)
		}
		w, err := step.to.Create(t.Context(), step.b)
		if err != nil {
			t.Fatal(err)
		}
		if err := objects.CopyRange(t.Context(), w, r, 5, r.Entry().Size-5, nil); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Finish(t.Context()); err != nil {
			t.Fatal(err)
		}
		content = content[5:]
		if got := read(t, step.to, step.b); !bytes.Equal(got, content) {
			t.Errorf("%s to %s: differs", step.a, step.b)
		}
	}
	if len(cl.entry("/buckets/open/t/d").Extended[s3_constants.SeaweedFSSSES3Key]) > 0 {
		t.Error("encrypted in a bucket that does not")
	}
}
