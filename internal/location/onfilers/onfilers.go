// Package onfilers is a SeaweedFS cluster as the place of Lance tables: it joins what the catalog
// knows of a table with how its bytes are reached, into a location that package session opens.
package onfilers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seaweedfs/seaweedfs/weed/pb"

	"github.com/seaweedfs/seaweed-lance/internal/catalog"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/location"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
	"github.com/seaweedfs/seaweed-lance/internal/objects/filerstore"
)

// Cluster is a connection to a cluster. All methods may be called from many goroutines at
// once.
type Cluster struct {
	*catalog.Catalog
	filers *filerstore.Cluster
	// key tells the locations of this cluster from those of others.
	key string
}

// Table is a table of the catalog. Without Err it can be opened at its Location.
type Table struct {
	catalog.Table
	Location location.Location
	// Err says why it must not be opened: table.ErrRefused.
	Err error
	// Sealed says why nothing can be written into it, and perhaps not all of it read:
	// filerstore.ErrKeys when its bucket encrypts and this process has not the key, or the error
	// of finding that out. What was there before its bucket began to encrypt can be read all the same.
	Sealed error
}

// Connect connects to the cluster of these filers, each as host:port or host:port.grpcPort; o says the
// rest. The caller closes it, after all that was opened on it.
func Connect(ctx context.Context, filers []string, o filerstore.Config) (*Cluster, error) {
	o.Filers = addresses(filers)
	c, err := filerstore.Connect(ctx, o)
	if err != nil {
		return nil, err
	}
	names := slices.Sorted(slices.Values(filers))
	return &Cluster{Catalog: catalog.New(c), filers: c, key: "cluster " + strings.Join(names, ",") + " "}, nil
}

func addresses(filers []string) []pb.ServerAddress {
	out := make([]pb.ServerAddress, len(filers))
	for i, f := range filers {
		out[i] = pb.ServerAddress(f)
	}
	return out
}

// SetFilers replaces the filers by others of the same cluster.
func (c *Cluster) SetFilers(filers []string) error { return c.filers.SetFilers(addresses(filers)) }

// Close ends the connection.
func (c *Cluster) Close() { c.filers.Close() }

// Find is the table that the catalog has under an id, and catalog.ErrNotFound without one.
func (c *Cluster) Find(ctx context.Context, id []string) (Table, error) {
	t, err := c.Catalog.Find(ctx, id)
	if err != nil {
		return Table{}, err
	}
	return c.Table(ctx, t), nil
}

// Table is a table of the catalog with its location.
func (c *Cluster) Table(ctx context.Context, t catalog.Table) Table {
	out := Table{Table: t}
	switch {
	case t.Refused != "":
		out.Err = fmt.Errorf("%s: %w: %s", t, table.ErrRefused, t.Refused)
		return out
	case t.Encrypted:
		// Known before a job fails with it.
		if err := c.filers.CheckKeys(ctx, t.Dir); err != nil {
			out.Sealed = fmt.Errorf("bucket %s encrypts with SSE-S3: %w", t.Bucket, err)
		}
	}
	out.Location = c.location(t.Dir, t.String(), t.Encrypted)
	return out
}

// Directory is the table in a directory of the filers, whether or not a catalog knows it.
func (c *Cluster) Directory(path string) location.Location { return c.location(path, path, false) }

// location of a directory. A bucket that begins to encrypt is another place: nothing of before is
// served from it.
func (c *Cluster) location(dir, name string, encrypted bool) location.Location {
	key := c.key + dir
	if encrypted {
		key += " encrypted"
	}
	return location.New(key, name, func(context.Context) (location.Place, error) {
		return location.Place{Store: c.filers.Table(dir), Lags: true, Base: c.base}, nil
	})
}

// base opens another table of the cluster from which a shallow clone reads.
func (c *Cluster) base(ctx context.Context, path string) (objects.Store, error) {
	name, ok := strings.CutPrefix(path, "s3://")
	if !ok {
		return nil, fmt.Errorf("%w: %s is no table of this cluster", table.ErrRefused, path)
	}
	id, err := catalog.ParsePath(strings.Trim(name, "/"))
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", table.ErrRefused, path, err)
	}
	t, err := c.Find(ctx, id)
	if errors.Is(err, catalog.ErrNotFound) {
		return nil, fmt.Errorf("%s: %w: %w", path, objects.ErrNotFound, err)
	}
	if err == nil {
		err = t.Err
	}
	if err != nil {
		return nil, err
	}
	return c.filers.Table(t.Dir), nil
}
