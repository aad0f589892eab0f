package lanceworker

import (
	"context"

	"github.com/seaweedfs/seaweed-lance/internal/lance/compact"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// openForCompaction opens the newest version of a table that may be committed to.
func openForCompaction(ctx context.Context, s objects.Store) (compactView, error) {
	t, err := table.Open(ctx, s)
	if err != nil {
		return nil, err
	}
	if err := t.Writable(); err != nil {
		return nil, err
	}
	return tableView{t}, nil
}

// tableView is the engine's table as the job sees it.
type tableView struct{ table *table.Table }

func (v tableView) version() uint64 { return v.table.Version() }

func (v tableView) fragments() int { return len(v.table.Fragments()) }

func (v tableView) plan(ctx context.Context, p compact.Policy) (compact.Plan, bool, error) {
	return compact.Detect(ctx, v.table, p)
}
