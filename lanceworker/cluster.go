package lanceworker

import (
	"cmp"
	"context"

	"github.com/seaweedfs/seaweed-lance/internal/catalog"
	"github.com/seaweedfs/seaweed-lance/internal/location/onfilers"
	"github.com/seaweedfs/seaweed-lance/internal/objects/filerstore"
)

// clusterLake is the lake of a SeaweedFS cluster.
type clusterLake struct{ cluster *onfilers.Cluster }

var _ connection = clusterLake{}

// clusterConnector returns how to connect to a cluster under the options.
func clusterConnector(o Options) func(ctx context.Context, filers []string) (connection, error) {
	return func(ctx context.Context, filers []string) (connection, error) {
		c, err := onfilers.Connect(ctx, filers, filerstore.Config{
			DialOption: o.GrpcDialOption,
			Now:        o.Now,
			Log:        o.Logger,
		})
		if err != nil {
			return nil, err
		}
		return clusterLake{c}, nil
	}
}

func (l clusterLake) tables(ctx context.Context) ([]entry, error) {
	var entries []entry
	err := l.cluster.Registered(ctx, func(t catalog.Table) error {
		e := l.entry(ctx, t)
		if e.err != nil {
			// Nobody opens it and finds out that it is not in use.
			d, err := e.dataset(ctx)
			if err != nil {
				return err
			}
			if d.Withdrawn || !d.Written {
				return nil
			}
		}
		entries = append(entries, e)
		return nil
	})
	return entries, err
}

func (l clusterLake) find(ctx context.Context, id []string) (entry, error) {
	t, err := l.cluster.Catalog.Find(ctx, id)
	if err != nil {
		return entry{}, err
	}
	return l.entry(ctx, t), nil
}

func (l clusterLake) entry(ctx context.Context, t catalog.Table) entry {
	x := l.cluster.Table(ctx, t)
	return entry{
		id: t.ID, place: x.Location, err: cmp.Or(x.Err, x.Sealed),
		dataset: func(ctx context.Context) (catalog.Dataset, error) { return l.cluster.Dataset(ctx, t) },
	}
}

func (l clusterLake) follow(filers []string) error { return l.cluster.SetFilers(filers) }

func (l clusterLake) close() { l.cluster.Close() }
