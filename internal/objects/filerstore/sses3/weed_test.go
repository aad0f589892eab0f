package sses3

import (
	"bytes"
	"context"
	"io"
	"os"
	"testing"

	"google.golang.org/grpc"

	"github.com/seaweedfs/seaweedfs/weed/pb/filer_pb"
	"github.com/seaweedfs/seaweedfs/weed/s3api"
)

// manager is weed's own key manager, as a gateway beside this process has it.
func manager(t *testing.T, f File) *s3api.SSES3KeyManager {
	t.Helper()
	m := s3api.NewSSES3KeyManager(os.Getenv(passphraseEnv))
	if err := m.InitializeWithFiler(filer{file: f}); err != nil {
		t.Fatal(err)
	}
	return m
}

// filer has the File and nothing else.
type filer struct {
	filer_pb.SeaweedFilerClient
	file File
}

func (f filer) WithFilerClient(_ bool, fn func(filer_pb.SeaweedFilerClient) error) error {
	return fn(f)
}
func (f filer) AdjustedUrl(*filer_pb.Location) string { return "" }
func (f filer) GetDataCenter() string                 { return "" }

func (f filer) LookupDirectoryEntry(context.Context, *filer_pb.LookupDirectoryEntryRequest, ...grpc.CallOption) (*filer_pb.LookupDirectoryEntryResponse, error) {
	if !f.file.Exists {
		return nil, filer_pb.ErrNotFound
	}
	return &filer_pb.LookupDirectoryEntryResponse{Entry: &filer_pb.Entry{Name: FileName, Content: f.file.Content}}, nil
}

func (f filer) UpdateEntry(context.Context, *filer_pb.UpdateEntryRequest, ...grpc.CallOption) (*filer_pb.UpdateEntryResponse, error) {
	return &filer_pb.UpdateEntryResponse{}, nil
}

// TestGateway: what weed's gateway encrypts in this version is decrypted. The
// golden bytes are those of an earlier one.
func TestGateway(t *testing.T) {
	f := golden(t)
	t.Setenv("WEED_S3_SSE_KEK", f.KEK)
	// The gateway's functions know no other manager.
	if err := s3api.GetSSES3KeyManager().InitializeWithFiler(filer{}); err != nil {
		t.Fatal(err)
	}
	k, err := Load(File{})
	if err != nil {
		t.Fatal(err)
	}
	key, err := s3api.GenerateSSES3Key()
	if err != nil {
		t.Fatal(err)
	}
	plain := bytes.Repeat([]byte("gateway "), 1000)
	r, iv, err := s3api.CreateSSES3EncryptedReader(bytes.NewReader(plain), key)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	key.IV = iv
	stored, err := s3api.SerializeSSES3Metadata(key)
	if err != nil {
		t.Fatal(err)
	}
	e := encrypted(string(stored))
	d, err := k.NewDecoder(e, []*filer_pb.FileChunk{chunkOf("a", string(stored))})
	if err != nil {
		t.Fatal(err)
	}
	part := bytes.Clone(data[1001:])
	if d.Chunk(part, "a", 1001, 1001); !bytes.Equal(part, plain[1001:]) {
		t.Error("the chunk differs")
	}
	if d.Inline(data); !bytes.Equal(data, plain) {
		t.Error("in the entry it differs")
	}
}
