package weedcmd

import (
	"context"
	"fmt"

	"github.com/seaweedfs/seaweedfs/weed/pb"
	"github.com/seaweedfs/seaweedfs/weed/security"
	"github.com/seaweedfs/seaweedfs/weed/util"

	"github.com/seaweedfs/seaweed-lance/internal/catalog"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
	"github.com/seaweedfs/seaweed-lance/internal/objects/filerstore"
	"github.com/seaweedfs/seaweed-lance/lanceworker/weedcmd/internal/shell"
)

// clusterTable finds bucket/namespace/table on a cluster, with the security
// configuration that a worker would have.
func clusterTable(ctx context.Context, filers []string, name string) (objects.Store, func(), error) {
	id, err := catalog.ParsePath(name)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", shell.ErrUsage, err)
	}
	util.LoadSecurityConfiguration()
	config := filerstore.Config{DialOption: security.LoadClientTLS(util.GetViper(), "grpc.worker")}
	for _, f := range filers {
		config.Filers = append(config.Filers, pb.ServerAddress(f))
	}
	c, err := filerstore.Connect(ctx, config)
	if err != nil {
		return nil, nil, err
	}
	t, err := catalog.New(c).Find(ctx, id)
	if err == nil && t.Refused != "" {
		err = fmt.Errorf("%s: %w: %s", t, table.ErrRefused, t.Refused)
	}
	if err != nil {
		c.Close()
		return nil, nil, err
	}
	return c.Table(t.Dir), c.Close, nil
}
