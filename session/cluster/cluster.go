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
	"strings"
	"time"

	"google.golang.org/grpc"

	"github.com/seaweedfs/seaweed-lance/internal/catalog"
	"github.com/seaweedfs/seaweed-lance/internal/location/onfilers"
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
type Cluster struct{ cluster *onfilers.Cluster }

// Table is a table of the cluster's catalog.
type Table struct {
	// ID is what Find takes.
	ID []string
	// Location is where the table is, unless Err says why it can't be used.
	Location session.Location
	Err      error
}

// Connect connects to a cluster. The caller closes it, after the sessions that open tables on it.
func Connect(ctx context.Context, o Options) (*Cluster, error) {
	c, err := onfilers.Connect(ctx, o.Filers, filerstore.Config{DialOption: o.DialOption, Now: o.Now, Log: o.Log})
	if err != nil {
		return nil, err
	}
	return &Cluster{c}, nil
}

// Close ends the connection.
func (c *Cluster) Close() { c.cluster.Close() }

// SetFilers replaces the filers by others of the same cluster.
func (c *Cluster) SetFilers(filers []string) error { return c.cluster.SetFilers(filers) }

// Find is the table that the cluster's catalog has under an id: table bucket, namespace, name.
// session.ErrNoTable when it has none, session.ErrRefused when it can't be used, with the reason.
func (c *Cluster) Find(ctx context.Context, id ...string) (session.Location, error) {
	t, err := c.cluster.Find(ctx, id)
	if errors.Is(err, catalog.ErrNotFound) {
		return session.Location{}, fmt.Errorf("%s: %w: %w", strings.Join(id, "/"), session.ErrNoTable, err)
	}
	if err == nil {
		err = t.Err
	}
	return t.Location, err
}

// Each calls yield for every Lance table of the cluster's catalog that has a version, and stops at
// the first error, yield's or that of a listing.
func (c *Cluster) Each(ctx context.Context, yield func(Table) error) error {
	return c.cluster.Each(ctx, func(t catalog.Table) error {
		x := c.cluster.Table(ctx, t)
		return yield(Table{ID: x.ID, Location: x.Location, Err: x.Err})
	})
}

// Directory is the table in a directory of the filers, such as /buckets/lab/ml/vectors, whether
// or not a catalog knows it.
func (c *Cluster) Directory(path string) session.Location { return c.cluster.Directory(path) }
