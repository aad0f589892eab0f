package cluster

import (
	"context"
	"crypto/md5"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/seaweedfs/seaweedfs/weed/pb/filer_pb"
	"github.com/seaweedfs/seaweedfs/weed/s3api/s3tables"

	"github.com/seaweedfs/seaweed-lance/internal/lance/lancetest"
)

// fakeFiler is a filer whose entries hold their bytes themselves.
type fakeFiler struct {
	filer_pb.UnimplementedSeaweedFilerServer
	tb   testing.TB
	addr string

	lists, lookups atomic.Int64

	mu      sync.Mutex
	entries map[string]*filer_pb.Entry
	made    int64
}

func newFake(tb testing.TB) *fakeFiler {
	tb.Helper()
	f := &fakeFiler{tb: tb, entries: make(map[string]*filer_pb.Entry)}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	server := grpc.NewServer()
	filer_pb.RegisterSeaweedFilerServer(server, f)
	var running sync.WaitGroup
	running.Go(func() { server.Serve(l) })
	tb.Cleanup(func() { server.Stop(); running.Wait() })
	f.addr = fmt.Sprintf("127.0.0.1:1.%d", l.Addr().(*net.TCPAddr).Port)
	return f
}

// calls are the listings and lookups since it was called last.
func (f *fakeFiler) calls() [2]int64 { return [2]int64{f.lists.Swap(0), f.lookups.Swap(0)} }

func (f *fakeFiler) GetFilerConfiguration(context.Context, *filer_pb.GetFilerConfigurationRequest) (*filer_pb.GetFilerConfigurationResponse, error) {
	return &filer_pb.GetFilerConfigurationResponse{DirBuckets: "/buckets", MaxMb: 1}, nil
}

func (f *fakeFiler) LookupDirectoryEntry(_ context.Context, r *filer_pb.LookupDirectoryEntryRequest) (*filer_pb.LookupDirectoryEntryResponse, error) {
	f.lookups.Add(1)
	f.mu.Lock()
	defer f.mu.Unlock()
	e := f.entries[path.Join(r.Directory, r.Name)]
	if e == nil {
		return nil, filer_pb.ErrNotFound
	}
	return &filer_pb.LookupDirectoryEntryResponse{Entry: proto.Clone(e).(*filer_pb.Entry)}, nil
}

func (f *fakeFiler) ListEntries(r *filer_pb.ListEntriesRequest, stream grpc.ServerStreamingServer[filer_pb.ListEntriesResponse]) error {
	f.lists.Add(1)
	f.mu.Lock()
	var page []*filer_pb.Entry
	for _, name := range slices.Sorted(maps.Keys(f.entries)) {
		e := f.entries[name]
		if path.Dir(name) == r.Directory && strings.HasPrefix(e.Name, r.Prefix) &&
			(e.Name > r.StartFromFileName || r.InclusiveStartFrom && e.Name == r.StartFromFileName) {
			page = append(page, proto.Clone(e).(*filer_pb.Entry))
		}
	}
	f.mu.Unlock()
	for i, e := range page {
		if uint32(i) == r.Limit && r.Limit > 0 {
			break
		}
		if err := stream.Send(&filer_pb.ListEntriesResponse{Entry: e}); err != nil {
			return err
		}
	}
	return nil
}

// dir makes a directory and those above it.
func (f *fakeFiler) dir(name string, attributes ...string) {
	for d := name; d != "/"; d = path.Dir(d) {
		if f.entries[d] == nil {
			f.entries[d] = &filer_pb.Entry{Name: path.Base(d), IsDirectory: true, Attributes: &filer_pb.FuseAttributes{}, Extended: make(map[string][]byte)}
		}
	}
	for i := 0; i < len(attributes); i += 2 {
		f.entries[name].Extended[attributes[i]] = []byte(attributes[i+1])
	}
}

// declare makes a table bucket and the record of a table in it.
func (f *fakeFiler) declare(bucket, namespace, name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	at := bucket + "/" + namespace + "/" + name
	f.dir("/buckets/"+bucket, s3tables.ExtendedKeyTableBucket, "true", s3tables.ExtendedKeyMetadata, fmt.Sprintf(`{"name":%q,"format":"LANCE"}`, bucket))
	f.dir("/buckets/"+at, s3tables.ExtendedKeyEntryType, "table", s3tables.ExtendedKeyMetadata,
		fmt.Sprintf(`{"name":%q,"format":"LANCE","metadataLocation":"s3://%s","metadataVersion":1}`, name, at))
}

// put makes a directory hold a table of testdata instead of what it held.
func (f *fakeFiler) put(dir, table string) {
	f.tb.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	for name := range f.entries {
		if strings.HasPrefix(name, dir+"/") {
			delete(f.entries, name)
		}
	}
	root := filepath.Join(lancetest.Root(), table)
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		b, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		name := path.Join(dir, filepath.ToSlash(rel))
		f.dir(path.Dir(name))
		f.made++
		sum := md5.Sum(b)
		f.entries[name] = &filer_pb.Entry{Name: path.Base(name), Content: b,
			Attributes: &filer_pb.FuseAttributes{Mtime: 1_700_000_000 + f.made, Crtime: 1_700_000_000 + f.made, FileSize: uint64(len(b)), Md5: sum[:]}}
		return nil
	})
	if err != nil {
		f.tb.Fatal(err)
	}
}
