// Package cluster opens Lance tables on a SeaweedFS cluster for a session.Session: through
// the filers' and volume servers' own protocols, with what they are secured by.
//
//	c, err := cluster.Connect(ctx, cluster.Options{Filers: []string{"filer:8888"}})
//	defer c.Close()
//	l, err := c.Find(ctx, "lab", "ml", "vectors")
//	t, err := s.Open(ctx, l)
//
// It is a package of its own so that whoever has directories only does not link SeaweedFS.
package cluster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc"

	"github.com/seaweedfs/seaweedfs/weed/pb"

	"github.com/seaweedfs/seaweed-lance/internal/catalog"
	"github.com/seaweedfs/seaweed-lance/internal/location"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
	"github.com/seaweedfs/seaweed-lance/internal/objects/filerstore"
	"github.com/seaweedfs/seaweed-lance/session"
)

// Options of Connect.
type Options struct {
	// Filers as host:port, or host:port.grpcPort where that is not 10,000 above; at least one.
	Filers []string
	// DialOption carries the credentials for filers and volume servers; nil means plaintext.
	DialOption grpc.DialOption
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Log is told what can't be returned; nil drops it.
	Log *slog.Logger
}

// Cluster is a connection to a cluster. All methods may be called from many goroutines at
// once.
type Cluster struct {
	cluster *filerstore.Cluster
	catalog *catalog.Catalog
	// key tells the locations of this cluster from those of others.
	key string
}

// Connect connects to a cluster. The caller closes it, after the sessions that open tables on it.
func Connect(ctx context.Context, o Options) (*Cluster, error) {
	c, err := filerstore.Connect(ctx, filerstore.Config{Filers: addresses(o.Filers), DialOption: o.DialOption, Now: o.Now, Log: o.Log})
	if err != nil {
		return nil, err
	}
	names := slices.Sorted(slices.Values(o.Filers))
	return &Cluster{cluster: c, catalog: catalog.New(c), key: "cluster " + strings.Join(names, ",") + " "}, nil
}

func addresses(filers []string) []pb.ServerAddress {
	out := make([]pb.ServerAddress, len(filers))
	for i, f := range filers {
		out[i] = pb.ServerAddress(f)
	}
	return out
}

// Close ends the connection.
func (c *Cluster) Close() { c.cluster.Close() }

// SetFilers replaces the filers by others of the same cluster.
func (c *Cluster) SetFilers(filers []string) error { return c.cluster.SetFilers(addresses(filers)) }

// Find is the table that the cluster's catalog has under an id: table bucket, namespace, name.
// session.ErrNoTable when it has none, session.ErrRefused when it can't be used, with the reason.
func (c *Cluster) Find(ctx context.Context, id ...string) (session.Location, error) {
	t, err := c.catalog.Find(ctx, id)
	if errors.Is(err, catalog.ErrNotFound) {
		return session.Location{}, fmt.Errorf("%s: %w: %w", strings.Join(id, "/"), session.ErrNoTable, err)
	}
	if err != nil {
		return session.Location{}, err
	}
	if t.Refused != "" {
		return session.Location{}, fmt.Errorf("%s: %w: %s", t, session.ErrRefused, t.Refused)
	}
	// A bucket that begins to encrypt is another place: nothing of before is served from it.
	return c.location(t.Dir, t.String(), t.Encrypted), nil
}

// Directory is the table in a directory of the filers, such as /buckets/lab/ml/vectors, whether
// or not a catalog knows it.
func (c *Cluster) Directory(path string) session.Location { return c.location(path, path, false) }

func (c *Cluster) location(dir, name string, encrypted bool) session.Location {
	key := c.key + dir
	if encrypted {
		key += " encrypted"
	}
	return location.New(key, name, func(context.Context) (location.Place, error) {
		return location.Place{Store: c.cluster.Table(dir), Base: c.base}, nil
	})
}

// base opens another table of the cluster from which a shallow clone reads.
func (c *Cluster) base(ctx context.Context, path string) (objects.Store, error) {
	name, ok := strings.CutPrefix(path, "s3://")
	if !ok {
		return nil, fmt.Errorf("%w: %s is no table of this cluster", session.ErrRefused, path)
	}
	id, err := catalog.ParsePath(strings.Trim(name, "/"))
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", session.ErrRefused, path, err)
	}
	t, err := c.catalog.Find(ctx, id)
	if err != nil {
		return nil, err
	}
	if t.Refused != "" {
		return nil, fmt.Errorf("%w: %s: %s", session.ErrRefused, path, t.Refused)
	}
	return c.cluster.Table(t.Dir), nil
}
