package cleanup

import (
	"context"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// Refine is what a Look would say for another policy, by what the one that made f has just seen:
// tags and branches are read where they matter now, and nothing else. ok is false where that does not
// tell, and a Look has to be made.
func (f Forecast) Refine(ctx context.Context, s objects.Store, in Looking) (g Forecast, ok bool, err error) {
	asked := atLeastOne(in.MinVersions)
	g = Forecast{Newest: f.Newest, Versions: f.Versions, asked: asked, minVersions: max(asked, f.own.MinVersions), own: f.own, unfinished: f.unfinished, again: f.again}
	if f.unfinished != "" || f.Versions <= g.minVersions {
		return g, true, nil
	}
	// The oldest version is the first to go for any number that is kept.
	if !f.oldest.there || f.pins && f.held > 0 {
		return Forecast{}, false, nil
	}
	g.oldest = f.oldest
	if !g.oldest.due(f.own.with(Policy{Retain: in.Retain}), in.Now) {
		return g, true, nil
	}
	if !f.pins && !in.NoRefs {
		pinned, err := in.readPins(ctx, s)
		if err != nil {
			return Forecast{}, false, err
		}
		if _, ok := pinned[g.oldest.version]; ok {
			return Forecast{}, false, nil
		}
	}
	g.pins, g.free = true, g.oldest
	return g, true, nil
}
