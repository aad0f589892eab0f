package weedcmd

import (
	"context"
	"fmt"

	"github.com/seaweedfs/seaweedfs/weed/security"
	"github.com/seaweedfs/seaweedfs/weed/util"

	"github.com/seaweedfs/seaweed-lance/internal/catalog"
	"github.com/seaweedfs/seaweed-lance/internal/location/onfilers"
	"github.com/seaweedfs/seaweed-lance/internal/objects/filerstore"
	"github.com/seaweedfs/seaweed-lance/lanceworker/weedcmd/internal/shell"
	"github.com/seaweedfs/seaweed-lance/session"
)

// clusterTable finds bucket/namespace/table on a cluster, with the security
// configuration that a worker would have.
func clusterTable(ctx context.Context, filers []string, name string) (session.Location, func(), error) {
	id, err := catalog.ParsePath(name)
	if err != nil {
		return session.Location{}, nil, fmt.Errorf("%w: %w", shell.ErrUsage, err)
	}
	util.LoadSecurityConfiguration()
	c, err := onfilers.Connect(ctx, filers, filerstore.Config{DialOption: security.LoadClientTLS(util.GetViper(), "grpc.worker")})
	if err != nil {
		return session.Location{}, nil, err
	}
	t, err := c.Find(ctx, id)
	if err == nil {
		err = t.Err
	}
	if err != nil {
		c.Close()
		return session.Location{}, nil, err
	}
	return t.Location, c.Close, nil
}
