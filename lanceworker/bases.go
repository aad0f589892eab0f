package lanceworker

import (
	"context"
	"fmt"
	"strings"

	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/location"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// bases opens the other tables in which files of a table lie, as those of a shallow clone do: tables of the same bucket. A worker
// may read all buckets, and copies what it reads; whoever writes a manifest must not have it fetch what is
// kept from them.
func (e entry) bases(ctx context.Context) table.BaseOpener {
	return func(p *pb.BasePath) (objects.Store, error) {
		if rest, ok := strings.CutPrefix(p.GetPath(), "s3://"); ok {
			if bucket, _, _ := strings.Cut(rest, "/"); len(e.id) == 0 || bucket != e.id[0] {
				return nil, fmt.Errorf("%w: bucket %s is another than the table's", table.ErrRefused, bucket)
			}
		}
		place, err := location.Open(ctx, e.place)
		if err != nil {
			return nil, err
		}
		if place.Base == nil {
			return nil, fmt.Errorf("%w: no other root can be reached from here", table.ErrRefused)
		}
		return place.Base(ctx, p.GetPath())
	}
}
