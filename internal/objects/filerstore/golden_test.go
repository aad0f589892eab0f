package filerstore

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"testing"

	"github.com/seaweedfs/seaweedfs/weed/pb/filer_pb"
	"github.com/seaweedfs/seaweedfs/weed/s3api/s3_constants"
	"github.com/seaweedfs/seaweedfs/weed/util"
)

// TestSSES3Golden: what weed's own encryption made, with the key in a filer's
// file under a passphrase: chunks under SSE-S3, such chunks on encrypted volumes,
// and a chunk on encrypted volumes alone, compressed and not.
func TestSSES3Golden(t *testing.T) {
	data, err := os.ReadFile("sses3/testdata/weed.json")
	if err != nil {
		t.Fatal(err)
	}
	var f struct {
		Passphrase  string `json:"kek_passphrase"`
		KEK         string `json:"kek_wrapped_v2"`
		Plain       string `json:"plaintext"`
		Object      string `json:"object_metadata"`
		CipherKey   string `json:"cipher_key"`
		CipherPlain string `json:"cipher_plain"`
		CipherGzip  string `json:"cipher_gzip"`
		Chunks      []struct {
			Offset int64  `json:"offset"`
			Cipher string `json:"ciphertext"`
			Key    string `json:"sse_metadata"`
		} `json:"chunks"`
	}
	if err := json.Unmarshal(data, &f); err != nil {
		t.Fatal(err)
	}
	bytesOf := func(s string) []byte {
		b, err := hex.DecodeString(s)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	t.Setenv("WEED_S3_SSE_KEK_PASSPHRASE", f.Passphrase)
	cl := newFake(t, 1)
	cl.putKEK(f.KEK)
	plain := bytesOf(f.Plain)
	add := func(name string, e *filer_pb.Entry) {
		e.Extended = map[string][]byte{
			s3_constants.AmzServerSideEncryption: []byte("AES256"),
			s3_constants.SeaweedFSSSES3Key:       []byte(f.Object),
		}
		cl.add(root+"/"+name, e)
	}
	var parts, twice, old []*filer_pb.FileChunk
	volume := util.GenCipherKey()
	for _, c := range f.Chunks {
		stored := bytesOf(c.Cipher)
		part := cl.volume.chunk(c.Offset, stored)
		part.SseType, part.SseMetadata = filer_pb.SSEType_SSE_S3, []byte(c.Key)
		parts = append(parts, part)
		sealed, err := util.Encrypt(stored, volume)
		if err != nil {
			t.Fatal(err)
		}
		part = cl.volume.chunk(c.Offset, sealed)
		part.Size, part.CipherKey = uint64(len(stored)), volume
		part.SseType, part.SseMetadata = filer_pb.SSEType_SSE_S3, []byte(c.Key)
		twice = append(twice, part)
		// Without a mark, it is under the object's key at its place in the object.
		old = append(old, cl.volume.chunk(c.Offset, stored))
	}
	add("parts", file(len(plain), parts...))
	add("twice", file(len(plain), twice...))
	add("old", file(len(plain), old...))
	for name, stored := range map[string]string{"cipher": f.CipherPlain, "gzip": f.CipherGzip} {
		c := cl.volume.chunk(0, bytesOf(stored))
		c.Size, c.CipherKey, c.IsCompressed = uint64(len(plain)), bytesOf(f.CipherKey), name == "gzip"
		cl.add(root+"/"+name, file(len(plain), c))
	}
	s := cl.store()
	for _, name := range []string{"parts", "twice", "old", "cipher", "gzip"} {
		if got := read(t, s, name); !bytes.Equal(got, plain) {
			t.Errorf("%s reads differently", name)
		}
		r, err := s.Open(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		p := make([]byte, 100)
		if err := r.ReadAt(t.Context(), p, 2001); err != nil || !bytes.Equal(p, plain[2001:2101]) {
			t.Errorf("%s: between the chunks: %v", name, err)
		}
	}
}
