package lanceworker

import (
	"context"
	"fmt"

	"github.com/seaweedfs/seaweedfs/weed/pb"

	"github.com/seaweedfs/seaweed-lance/internal/catalog"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects/filerstore"
)

// clusterLake is the lake of a SeaweedFS cluster.
type clusterLake struct {
	cluster *filerstore.Cluster
	catalog *catalog.Catalog
}

var _ connection = (*clusterLake)(nil)

// clusterConnector returns how to connect to a cluster under the options.
func clusterConnector(o Options) func(ctx context.Context, filers []string) (connection, error) {
	return func(ctx context.Context, filers []string) (connection, error) {
		c, err := filerstore.Connect(ctx, filerstore.Config{
			Filers:     serverAddresses(filers),
			DialOption: o.GrpcDialOption,
			Now:        o.Now,
			Log:        o.Logger,
		})
		if err != nil {
			return nil, err
		}
		return &clusterLake{cluster: c, catalog: catalog.New(c)}, nil
	}
}

func serverAddresses(filers []string) []pb.ServerAddress {
	addresses := make([]pb.ServerAddress, len(filers))
	for i, f := range filers {
		addresses[i] = pb.ServerAddress(f)
	}
	return addresses
}

func (l *clusterLake) tables(ctx context.Context) ([]entry, error) {
	var entries []entry
	err := l.catalog.Each(ctx, func(t catalog.Table) error {
		entries = append(entries, l.entry(ctx, t))
		return nil
	})
	return entries, err
}

func (l *clusterLake) find(ctx context.Context, id []string) (entry, error) {
	t, err := l.catalog.Find(ctx, id)
	if err != nil {
		return entry{}, err
	}
	return l.entry(ctx, t), nil
}

func (l *clusterLake) entry(ctx context.Context, t catalog.Table) entry {
	if t.Refused != "" {
		return entry{id: t.ID, err: fmt.Errorf("%w: %s", table.ErrRefused, t.Refused)}
	}
	if t.Encrypted {
		// Known before a job fails with it: a table that was there before its
		// bucket began to encrypt can be read all the same.
		if err := l.cluster.CheckKeys(ctx); err != nil {
			return entry{id: t.ID, err: fmt.Errorf("bucket %s encrypts with SSE-S3: %w", t.Bucket, err)}
		}
	}
	return entry{id: t.ID, store: l.cluster.Table(t.Dir)}
}

func (l *clusterLake) follow(filers []string) error {
	return l.cluster.SetFilers(serverAddresses(filers))
}

func (l *clusterLake) close() { l.cluster.Close() }
