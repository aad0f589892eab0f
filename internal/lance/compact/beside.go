package compact

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/lance/scan"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// bytesBeside is how many bytes the files of blobs have that lie beside a fragment's data files: of those data files that have a
// column of such blobs, as no others have any. Listing them takes one call where blobs are packed, and costs little compared
// with copying where each has a file to itself.
//
// How long a run takes is estimated by it and nothing else decided, so that what can't be listed counts as none.
func bytesBeside(ctx context.Context, t *table.Table, f *pb.DataFragment, sh *shape) (n int64, err error) {
	for _, d := range f.GetFiles() {
		if !slices.ContainsFunc(d.GetFields(), func(id int32) bool { return sh.blobs[id] == table.BlobV2 }) {
			continue
		}
		at, err := scan.Locate(t, d)
		if err != nil {
			return 0, err
		}
		_ = objects.All(ctx, at.Store, strings.TrimSuffix(at.Name, ".lance"), func(e objects.Entry) error {
			if path.Ext(e.Name) == ".blob" {
				n = plus(n, e.Size)
			}
			return nil
		})
		if err := ctx.Err(); err != nil {
			return 0, err
		}
	}
	return n, nil
}

// besides is how many bytes of blobs lie beside data files for so many rows, of fragments that have been looked at: what is assumed of
// the others.
type besides struct {
	bytes, rows int64
}

func besidesOf(fragments []Fragment) (b besides) {
	for i := range fragments {
		if f := &fragments[i]; f.seen && f.Blocked == "" {
			b.bytes, b.rows = plus(b.bytes, f.Beside), plus(b.rows, f.stored())
		}
	}
	return b
}

// of is how many of the bytes beside a fragment are copied: those of the rows that are kept.
func (b besides) of(f *Fragment) int64 {
	if f.seen {
		return scale(f.Beside, f.kept(), f.stored())
	}
	return int64(min(float64(b.bytes)/float64(max(b.rows, 1))*float64(f.kept()), 1<<62))
}
