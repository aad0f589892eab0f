// Package filerstore keeps objects on a SeaweedFS cluster: entries on its
// filers, bytes on its volume servers, through weed's own protocols and keys.
//
// # What a caller may rely on, beyond the contract of package objects
//
//   - An object reads back through the S3 gateway as the same bytes with the
//     same ETag as if it had been PUT there: one MD5 over all of it, never
//     inline, never compressed, encrypted on the volume servers when the cluster
//     does so, in the collection of its bucket.
//   - A filer that does not answer is not the end: the next one is asked, round
//     robin, starting with the one that last worked. Any other answer is final.
//   - An exclusive create carries a mark of its own and is decided by the filer
//     that owns the path, under its lock, in one step: created, there already
//     by this very call, or there by another. So it may be sent again after
//     silence, to any filer, an empty object included. A create that was never
//     answered is ErrUnknown, and none of its chunks is removed.
//   - Chunks of an attempt that was certainly refused are given back.
//   - A read returns stored bytes or an error, never zeros for bytes that a
//     chunk should have and lacks.
//   - Objects under SSE-S3 are read, and what is written into a bucket that
//     encrypts with it is encrypted, as the gateway would have. Where the key for
//     that is missing or another than was used, both are refused (ErrKeys); so is
//     a write as long as nothing shows that the key is the gateway's.
//   - Objects under SSE-C or SSE-KMS are refused by name when they are opened
//     (ErrEncrypted), and nothing is written into a bucket that encrypts so.
//
// Lookups and listings are answered by whichever filer is asked, from its own
// store. Filers that do not share one may lag behind a create.
//
// # Directories
//
// A file under which another was created is, to a filer, a directory that
// holds an object. It opens as that object and is listed as one; what lies
// below it is not listed and so never touched, and Delete refuses it.
package filerstore

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/seaweedfs/seaweedfs/weed/operation"
	"github.com/seaweedfs/seaweedfs/weed/pb"
	util_http "github.com/seaweedfs/seaweedfs/weed/util/http"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
	"github.com/seaweedfs/seaweed-lance/internal/objects/filerstore/sses3"
)

var (
	// ErrEncrypted is returned for an object, or a bucket to be written into,
	// that an S3 encryption scheme covers whose keys are not the cluster's; the
	// text names the scheme.
	ErrEncrypted = errors.New("encrypted through S3")
	// ErrKeys is returned for an object under SSE-S3, or a bucket to be written
	// into that asks for it, when this process has not the key of the gateway.
	ErrKeys = sses3.ErrKeys
)

// Config says how to reach a cluster and how patient to be with it.
type Config struct {
	// Filers in any order; at least one.
	Filers []pb.ServerAddress
	// DialOption carries the credentials for filers and volume servers; nil
	// means plaintext.
	DialOption grpc.DialOption
	// CallTimeout bounds one call to one filer; 0 means DefaultCallTimeout.
	CallTimeout time.Duration
	// TransferTimeout bounds one exchange with one volume server, plus a second
	// for each MiB moved; 0 means DefaultTransferTimeout.
	TransferTimeout time.Duration
	// Pauses are waited between rounds over all filers and between the attempts
	// of an upload; their number plus one is how often each is tried. Nil means
	// a quarter of a second, one and four seconds, so that a filer that is being
	// restarted does not end a job.
	Pauses []time.Duration
	// InFlight is how many chunks of one object being written are in memory at a
	// time, each up to three times; 0 means DefaultInFlight.
	InFlight int
	// DecodedBytes bounds the chunks kept that had to be fetched whole, because
	// they are encrypted or compressed; 0 means DefaultDecodedBytes.
	DecodedBytes int64
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Log is told what can't be returned, such as chunks left behind; nil drops it.
	Log *slog.Logger
}

const (
	// DefaultCallTimeout is ample for any metadata call; a filer that needs
	// longer is as good as dead, and the next one is asked.
	DefaultCallTimeout = 30 * time.Second
	// DefaultTransferTimeout covers connecting and a disk that has to wake up.
	DefaultTransferTimeout = 30 * time.Second
	// DefaultInFlight keeps a volume server's disk and the network busy at once.
	DefaultInFlight = 4
	// DefaultDecodedBytes holds the chunks that a few concurrent readers are in.
	DefaultDecodedBytes = 64 << 20

	// transferRate is the slowest link that is still worth waiting for.
	transferRate = 1 << 20
)

var defaultPauses = []time.Duration{250 * time.Millisecond, time.Second, 4 * time.Second}

// Cluster is a connection to one cluster, shared by all tables on it.
type Cluster struct {
	cfg      Config
	uploader *operation.Uploader
	volumes  volumes
	decoded  chunkCache
	settings settings
	guards   guards
	keys     keyring
	// skew is the filers' clock minus ours, in nanoseconds.
	skew atomic.Int64

	mu struct {
		sync.Mutex
		filers []*endpoint
		// first is where the next call starts: the filer that last worked.
		first int
	}
}

// Connect reads the cluster's configuration from the first filer that answers.
// The caller closes the Cluster.
func Connect(ctx context.Context, cfg Config) (*Cluster, error) {
	if len(cfg.Filers) == 0 {
		return nil, errors.New("connecting to the cluster: no filer given")
	}
	if cfg.DialOption == nil {
		cfg.DialOption = grpc.WithTransportCredentials(insecure.NewCredentials())
	}
	cfg.CallTimeout = orDefault(cfg.CallTimeout, DefaultCallTimeout)
	cfg.TransferTimeout = orDefault(cfg.TransferTimeout, DefaultTransferTimeout)
	cfg.InFlight = orDefault(cfg.InFlight, DefaultInFlight)
	cfg.DecodedBytes = orDefault(cfg.DecodedBytes, DefaultDecodedBytes)
	if cfg.Pauses == nil {
		cfg.Pauses = defaultPauses
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	c := &Cluster{cfg: cfg, uploader: operation.NewUploaderWithHttpClient(util_http.GetGlobalHttpClient())}
	c.decoded.limit = cfg.DecodedBytes
	c.keys.loading = make(chan struct{}, 1)
	if err := c.SetFilers(cfg.Filers); err != nil {
		c.Close()
		return nil, err
	}
	if _, err := c.configuration(ctx); err != nil {
		c.Close()
		return nil, fmt.Errorf("connecting to the cluster: %w", err)
	}
	return c, nil
}

func orDefault[T time.Duration | int | int64](v, otherwise T) T {
	if v > 0 {
		return v
	}
	return otherwise
}

// Table is the storage below one directory of the filers, such as
// /buckets/lab/ml/vectors.
func (c *Cluster) Table(dir string) objects.Store {
	s := &store{c: c, root: path.Clean("/" + dir)}
	s.label = strings.TrimPrefix(s.root, "/")
	if inside, ok := strings.CutPrefix(s.root, c.bucketsDir()+"/"); ok {
		s.label = inside
		s.bucket, _, _ = strings.Cut(inside, "/")
	}
	return s
}

// store is the storage of one table.
type store struct {
	c *Cluster
	// root is the table's directory, clean and absolute.
	root string
	// bucket that the directory lies in; empty when it is outside all buckets.
	bucket string
	label  string
}

var _ objects.Store = (*store)(nil)

// String implements objects.Store.
func (s *store) String() string { return s.label }

// place splits an object's name into its directory and last part on the filer.
func (s *store) place(name string) (dir, base string, err error) {
	if err := objects.CheckName(name); err != nil {
		return "", "", err
	}
	full := s.root + "/" + name
	return path.Dir(full), path.Base(full), nil
}
