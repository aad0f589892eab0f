package lanceworker

import (
	"context"

	"github.com/seaweedfs/seaweed-lance/internal/lance/cleanup"
	"github.com/seaweedfs/seaweed-lance/internal/lance/compact"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/pin"
	"github.com/seaweedfs/seaweed-lance/lanceworker/internal/render"
	"github.com/seaweedfs/seaweed-lance/session"
)

const (
	// maxSchema bounds the schema that admin is told of, keptSchema what is remembered with the rest of a
	// finding: larger ones are read again when they are wanted.
	maxSchema  = 64 << 10
	keptSchema = 4 << 10
)

func factsOf(t *table.Table) facts {
	return facts{
		version:   t.Version(),
		made:      t.Time(),
		rows:      t.Rows(),
		fragments: len(t.Fragments()),
		schema:    render.SchemaJSON(render.Schema(t.Manifest().GetFields()), maxSchema),
	}
}

// tableView is the engine's table as the job sees it.
type tableView struct{ table *table.Table }

func (v tableView) facts() facts { return factsOf(v.table) }

func (v tableView) plan(ctx context.Context, p compact.Policy) (compact.Plan, bool, error) {
	return compact.Detect(ctx, v.table, p)
}

// judge is compactEngine.judge on real tables.
func (t *tables) judge(ctx context.Context, s sighting, name string, find func(context.Context, compactView, error) (finding, error)) (finding, error) {
	var partial finding
	fact, err := t.Session.Fact(ctx, s.place, name, func(ctx context.Context, v *session.Table) (any, error) {
		engine := pin.Of(v).Table
		f, err := find(ctx, tableView{engine.WithBases(s.bases(ctx))}, engine.Writable())
		if err != nil {
			partial = f
			return nil, err
		}
		if f.facts != nil && len(f.facts.schema) > keptSchema {
			f.facts = nil
		}
		return f, nil
	})
	switch {
	case ctx.Err() != nil: // what is under way may still write
		return finding{}, err
	case err != nil:
		return partial, err
	}
	f, _ := fact.(finding)
	f.newest = s.known.newest.Version
	return f, nil
}

// compact is compactEngine.run on real tables.
func (t *tables) compact(ctx context.Context, e entry, o compact.Options) (compact.Result, error) {
	store, err := e.open(ctx)
	if err != nil {
		return compact.Result{}, err
	}
	o.Pin, o.Bases = t.At(e.place), e.bases(ctx)
	return compact.Run(ctx, store, o)
}

// detect is cleanupEngine.detect on real tables.
func (t *tables) detect(ctx context.Context, s sighting, p cleanup.Policy) (cleanup.Detection, error) {
	t.planBy(p)
	f, err := t.outlook(ctx, s, p)
	if err != nil {
		return cleanup.Detection{}, err
	}
	return f.At(p, t.now()), nil
}

// clean is cleanupEngine.run on real tables.
func (t *tables) clean(ctx context.Context, e entry, o cleanup.Options) (cleanup.Result, error) {
	if err := t.unpinIdle(ctx, e); err != nil {
		return cleanup.Result{}, err
	}
	store, err := e.open(ctx)
	if err != nil {
		return cleanup.Result{}, err
	}
	o.Abandoned = func(tag string) bool { return pin.Abandoned(tag, t.now()) }
	return cleanup.Run(ctx, store, o)
}
