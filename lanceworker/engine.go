package lanceworker

import (
	"context"

	"github.com/seaweedfs/seaweed-lance/internal/lance/compact"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
	"github.com/seaweedfs/seaweed-lance/lanceworker/internal/render"
)

// maxSchema bounds the schema that admin is told of.
const maxSchema = 64 << 10

func factsOf(t *table.Table) facts {
	return facts{
		version:   t.Version(),
		made:      t.Time(),
		rows:      t.Rows(),
		fragments: len(t.Fragments()),
		schema:    render.SchemaJSON(render.Schema(t.Manifest().GetFields()), maxSchema),
	}
}

// look reads the facts of the newest version.
func look(ctx context.Context, s objects.Store) (facts, error) {
	t, err := table.Open(ctx, s)
	if err != nil {
		return facts{}, err
	}
	return factsOf(t), nil
}

// countVersions lists the versions.
func countVersions(ctx context.Context, s objects.Store) (int, error) {
	l, err := table.ListVersions(ctx, s)
	if err != nil {
		return 0, err
	}
	return len(l.Versions), nil
}

// openForCompaction opens the newest version of a table that may be committed to.
func openForCompaction(ctx context.Context, s objects.Store) (compactView, error) {
	t, err := table.Open(ctx, s)
	if err != nil {
		return nil, err
	}
	return tableView{t}, t.Writable()
}

// tableView is the engine's table as the job sees it.
type tableView struct{ table *table.Table }

func (v tableView) facts() facts { return factsOf(v.table) }

func (v tableView) plan(ctx context.Context, p compact.Policy) (compact.Plan, bool, error) {
	return compact.Detect(ctx, v.table, p)
}
