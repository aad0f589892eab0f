package sses3

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/seaweedfs/seaweedfs/weed/pb/filer_pb"
	"github.com/seaweedfs/seaweedfs/weed/s3api"
	"github.com/seaweedfs/seaweedfs/weed/s3api/s3_constants"
)

func keys(t *testing.T, f fixture) *Keys {
	t.Helper()
	k, err := load(settings{}, File{Exists: true, Content: []byte(f.KEK)})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func encrypted(stored string) *filer_pb.Entry {
	return &filer_pb.Entry{Extended: map[string][]byte{
		s3_constants.AmzServerSideEncryption: []byte("AES256"),
		s3_constants.SeaweedFSSSES3Key:       []byte(stored),
	}}
}

// chunkOf is the metadata of a chunk under SSE-S3.
func chunkOf(fid, stored string) *filer_pb.FileChunk {
	return &filer_pb.FileChunk{FileId: fid, SseType: filer_pb.SSEType_SSE_S3, SseMetadata: []byte(stored)}
}

// TestGolden: what weed encrypted is decrypted, from anywhere to anywhere.
func TestGolden(t *testing.T) {
	f := golden(t)
	k, plain := keys(t, f), unhex(t, f.Plain)
	ranges := [][2]int{{0, 1}, {0, 16}, {1, 15}, {15, 18}, {16, 32}, {17, 1000}, {1024, 2048}, {0, 2048}}
	for i, c := range f.Chunks {
		fid := string(rune('a' + i))
		d, err := k.NewDecoder(encrypted(f.Object), []*filer_pb.FileChunk{chunkOf(fid, c.Key)})
		if err != nil {
			t.Fatal(err)
		}
		cipher := unhex(t, c.Cipher)
		for _, r := range ranges {
			p := slices.Clone(cipher[r[0]:r[1]])
			d.Chunk(p, fid, int64(r[0]), c.Offset+int64(r[0]))
			if !bytes.Equal(p, plain[int(c.Offset)+r[0]:int(c.Offset)+r[1]]) {
				t.Errorf("chunk %d, bytes %d to %d differ", i, r[0], r[1])
			}
		}
	}
	whole := unhex(t, f.Whole)
	for _, at := range []int64{0, 2048} {
		// Without a key of its own a chunk is under the object's, be it marked or not.
		for _, kind := range []filer_pb.SSEType{filer_pb.SSEType_NONE, filer_pb.SSEType_SSE_S3} {
			d, err := k.NewDecoder(encrypted(f.Object), []*filer_pb.FileChunk{{FileId: "a", Offset: at, SseType: kind}})
			if err != nil {
				t.Fatal(err)
			}
			p := slices.Clone(whole[at+5:])
			d.Chunk(p, "a", 5, at+5)
			if !bytes.Equal(p, plain[at+5:]) {
				t.Errorf("from %d on, %v: differs", at, kind)
			}
		}
	}
	d, err := k.NewDecoder(encrypted(f.Object), nil)
	if err != nil {
		t.Fatal(err)
	}
	if d.Inline(whole); !bytes.Equal(whole, plain) {
		t.Error("bytes in the entry differ")
	}
	s, err := k.parse([]byte(f.Object))
	if err != nil {
		t.Fatal(err)
	}
	if got := hex.EncodeToString(commit(s.key[:], s.iv[:])); got != f.Commitment {
		t.Errorf("commitment %s, want %s", got, f.Commitment)
	}
}

// TestRefuses: keys that can't be had, or are not what they were.
func TestRefuses(t *testing.T) {
	f := golden(t)
	k := keys(t, f)
	change := func(stored string, edit func(m map[string]string)) string {
		m := map[string]string{}
		if err := json.Unmarshal([]byte(stored), &m); err != nil {
			t.Fatal(err)
		}
		edit(m)
		b, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	set := func(key, value string) string {
		return change(f.Object, func(m map[string]string) { m[key] = value })
	}
	without := func(keys ...string) string {
		return change(f.Object, func(m map[string]string) {
			for _, key := range keys {
				delete(m, key)
			}
		})
	}
	const iv = "AAAAAAAAAAAAAAAAAAAAAA=="
	for name, stored := range map[string]string{
		"no JSON":              "key",
		"another's IV":         set("iv", iv),
		"another's key":        set("encryptedDEK", iv),
		"another nonce":        set("nonce", "AAAAAAAAAAAAAAAA"),
		"a short nonce":        set("nonce", "AAAA"),
		"a short IV":           set("iv", "AAAA"),
		"another algorithm":    set("algorithm", "AES512"),
		"another's commitment": change(f.Object, func(m map[string]string) { m["iv"] = iv; m["keyCommitment"] = iv }),
		"no key":               without("encryptedDEK"),
	} {
		if _, err := k.NewDecoder(encrypted(stored), nil); !errors.Is(err, ErrKeys) {
			t.Errorf("%s: object: %v", name, err)
		}
		if _, err := k.NewDecoder(&filer_pb.Entry{}, []*filer_pb.FileChunk{chunkOf("7,1", stored)}); !errors.Is(err, ErrKeys) || !strings.Contains(err.Error(), "7,1") {
			t.Errorf("%s: chunk: %v", name, err)
		}
	}

	// From before there were commitments: taken, unless one is demanded.
	old := without("keyCommitment")
	if _, err := k.NewDecoder(encrypted(old), nil); err != nil {
		t.Error(err)
	}
	strict := &Keys{kek: k.kek, commitment: true}
	if _, err := strict.NewDecoder(encrypted(old), nil); !errors.Is(err, ErrKeys) || !strings.Contains(err.Error(), "s3.require_key_commitment") {
		t.Errorf("got %v", err)
	}
	if _, err := strict.NewDecoder(encrypted(f.Object), nil); err != nil {
		t.Error(err)
	}

	// The object of a multipart upload has a key without an IV: only its chunks
	// can be read with theirs.
	parts := without("iv", "keyCommitment")
	if _, err := strict.NewDecoder(encrypted(parts), []*filer_pb.FileChunk{chunkOf("7,1", f.Chunks[0].Key)}); err != nil {
		t.Error(err)
	}
	for name, c := range map[string]*filer_pb.FileChunk{
		"not marked":      {FileId: "7,1"},
		"marked, no key":  {FileId: "7,1", SseType: filer_pb.SSEType_SSE_S3},
		"a key, no IV":    chunkOf("7,1", parts),
		"a key, short IV": chunkOf("7,1", set("iv", "AAAA")),
	} {
		if _, err := k.NewDecoder(encrypted(parts), []*filer_pb.FileChunk{c}); !errors.Is(err, ErrKeys) {
			t.Errorf("%s: %v", name, err)
		}
	}
	inline := encrypted(parts)
	inline.Content = []byte("x")
	if _, err := k.NewDecoder(inline, nil); !errors.Is(err, ErrKeys) {
		t.Errorf("bytes in an entry whose key has no IV: %v", err)
	}

	another, err := load(settings{key: "another"}, File{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := another.NewDecoder(encrypted(f.Object), nil); !errors.Is(err, ErrKeys) || !strings.Contains(err.Error(), "KEK of this process") {
		t.Errorf("the wrong KEK: %v", err)
	}
}

// TestObject: what is encrypted here, weed's gateway decrypts chunk by chunk,
// and its replication in one go.
func TestObject(t *testing.T) {
	f := golden(t)
	k := keys(t, f)
	weeds := manager(t, File{Exists: true, Content: []byte(f.KEK)})
	o, err := k.NewObject()
	if err != nil {
		t.Fatal(err)
	}
	plain := bytes.Repeat([]byte("no such text on a disk. "), 1000)
	stored := slices.Clone(plain)
	e := &filer_pb.Entry{Extended: o.Extended()}
	for _, part := range [][2]int{{16000, 24000}, {0, 8192}, {8192, 16000}} {
		c := &filer_pb.FileChunk{Offset: int64(part[0])}
		if err := o.Encrypt(stored[part[0]:part[1]], c.Offset); err != nil {
			t.Fatal(err)
		}
		if err := o.Mark(c); err != nil {
			t.Fatal(err)
		}
		key, err := s3api.DeserializeSSES3Metadata(c.SseMetadata, weeds)
		if err != nil {
			t.Fatal(err)
		}
		r, err := s3api.CreateSSES3DecryptedReader(bytes.NewReader(stored[part[0]:part[1]]), key, key.IV)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, plain[part[0]:part[1]]) || c.SseType != filer_pb.SSEType_SSE_S3 || len(key.KeyCommitment) == 0 {
			t.Errorf("the chunk at %d differs: %v", part[0], err)
		}
		if !strings.HasPrefix(key.KeyID, "sse-s3-key-") {
			t.Errorf("key %q", key.KeyID)
		}
	}
	if bytes.Contains(stored, []byte("such text")) {
		t.Error("plain text is left")
	}
	if !s3api.IsSSES3EncryptedInternal(e.Extended) {
		t.Errorf("attributes %q", e.Extended)
	}
	key, err := s3api.DeserializeSSES3Metadata(e.Extended[s3_constants.SeaweedFSSSES3Key], weeds)
	if err != nil {
		t.Fatal(err)
	}
	r, err := s3api.CreateSSES3DecryptedReader(bytes.NewReader(stored), key, key.IV)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, plain) {
		t.Errorf("in one go it differs: %v", err)
	}
	if err := o.Encrypt(stored[:10], 8); err == nil {
		t.Error("encrypted where no block begins")
	}
	next, err := k.NewObject()
	if err != nil {
		t.Fatal(err)
	}
	if next.stream.key == o.stream.key || next.stream.iv == o.stream.iv {
		t.Error("two objects under one key")
	}
}

// TestCounter: the counter of 128 bits carries, and agrees with AES's own.
func TestCounter(t *testing.T) {
	for _, low := range []byte{0, 0xff} {
		var s stream
		for i := range s.iv {
			s.iv[i] = low
		}
		zero := make([]byte, 4096)
		s.xor(zero, 0)
		for _, at := range []int64{1, 15, 16, 17, 31, 32, 1000, 4095} {
			p := make([]byte, len(zero)-int(at))
			if s.xor(p, at); !bytes.Equal(p, zero[at:]) {
				t.Errorf("IV of %x: from %d on it differs", low, at)
			}
		}
	}
	s := stream{iv: [ivSize]byte{7: 1, 8: 0xff, 9: 0xff, 10: 0xff, 11: 0xff, 12: 0xff, 13: 0xff, 14: 0xff, 15: 0xff}}
	if got := s.counter(2); got != [ivSize]byte{7: 2, 15: 1} {
		t.Errorf("%x", got)
	}
	if got := s.counter(math.MaxInt64 / ivSize); got[7] != 2 {
		t.Errorf("%x", got)
	}
}
