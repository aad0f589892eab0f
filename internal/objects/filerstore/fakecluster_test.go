package filerstore

import (
	"fmt"
	"net"
	"path"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"

	"github.com/seaweedfs/seaweedfs/weed/pb"
	"github.com/seaweedfs/seaweedfs/weed/pb/filer_pb"
	"github.com/seaweedfs/seaweedfs/weed/s3api/s3tables"
)

// fakeCluster is filers over one store and one volume server, all in this
// process, that do as they are scripted to.
type fakeCluster struct {
	t      *testing.T
	filers []*fakeFiler
	volume *fakeVolume

	// creating is held while a create looks and decides, as by a path's owner.
	creating sync.Mutex

	mu      sync.Mutex
	entries map[string]*filer_pb.Entry
	next    int
	// conf is the answer to GetFilerConfiguration.
	conf *filer_pb.GetFilerConfigurationResponse
	// oldFilers do not know conditions; strangeFilers hold none to be satisfied.
	oldFilers, strangeFilers bool
	// replicas hold copies of the volume, replication says how many.
	replicas    []*filer_pb.Location
	replication string
	// remote holds what CacheRemoteObjectToLocalCluster fetches, by path.
	remote map[string][]byte
}

// newFake starts a cluster of n filers.
func newFake(t *testing.T, n int) *fakeCluster {
	cl := &fakeCluster{
		t:       t,
		entries: map[string]*filer_pb.Entry{},
		conf:    &filer_pb.GetFilerConfigurationResponse{DirBuckets: "/buckets", MaxMb: 1},
		remote:  map[string][]byte{},
	}
	cl.volume = newFakeVolume(t)
	for range n {
		f := &fakeFiler{cl: cl, script: map[string][]step{}, calls: map[string]int{}}
		server := grpc.NewServer()
		filer_pb.RegisterSeaweedFilerServer(server, f)
		f.addr = serve(t, server, "127.0.0.1:0")
		cl.filers = append(cl.filers, f)
	}
	cl.add("/buckets/lab", &filer_pb.Entry{IsDirectory: true})
	return cl
}

// serve runs a gRPC server and returns its address in weed's spelling.
func serve(t *testing.T, server *grpc.Server, at string) pb.ServerAddress {
	l, err := net.Listen("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	running.Go(func() { server.Serve(l) })
	t.Cleanup(func() { server.Stop(); running.Wait() })
	return pb.ServerAddress(fmt.Sprintf("127.0.0.1:1.%d", l.Addr().(*net.TCPAddr).Port))
}

// connect connects to the cluster with little patience.
func (cl *fakeCluster) connect(change ...func(*Config)) *Cluster {
	cl.t.Helper()
	cfg := Config{
		CallTimeout:     5 * time.Second,
		TransferTimeout: 5 * time.Second,
		Pauses:          []time.Duration{time.Millisecond, time.Millisecond},
	}
	for _, f := range cl.filers {
		cfg.Filers = append(cfg.Filers, f.addr)
	}
	for _, f := range change {
		f(&cfg)
	}
	c, err := Connect(cl.t.Context(), cfg)
	if err != nil {
		cl.t.Fatal(err)
	}
	cl.t.Cleanup(c.Close)
	return c
}

// impatient makes a call to a stalled filer end soon.
func impatient(c *Config) { c.CallTimeout = 50 * time.Millisecond }

const root = "/buckets/lab/ml/vectors"

// store is the usual table.
func (cl *fakeCluster) store(change ...func(*Config)) *store {
	return cl.connect(change...).Table(root).(*store)
}

// add puts an entry there.
func (cl *fakeCluster) add(name string, e *filer_pb.Entry) *filer_pb.Entry {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	e.Name = path.Base(name)
	if e.Attributes == nil {
		e.Attributes = &filer_pb.FuseAttributes{}
	}
	cl.entries[name] = e
	for dir := path.Dir(name); dir != "/" && cl.entries[dir] == nil; dir = path.Dir(dir) {
		cl.entries[dir] = &filer_pb.Entry{Name: path.Base(dir), IsDirectory: true, Attributes: &filer_pb.FuseAttributes{}}
	}
	return e
}

// encrypts has the record of the usual bucket ask for an encryption.
func (cl *fakeCluster) encrypts(algorithm string) {
	cl.add("/buckets/lab", &filer_pb.Entry{IsDirectory: true, Extended: map[string][]byte{
		s3tables.ExtendedKeyTableBucket: []byte("true"),
		s3tables.ExtendedKeyMetadata:    fmt.Appendf(nil, `{"format":"LANCE","encryptionConfiguration":{"sseAlgorithm":%q}}`, algorithm),
	}})
}

func (cl *fakeCluster) entry(name string) *filer_pb.Entry {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	return cl.entries[name]
}
