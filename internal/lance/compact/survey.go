package compact

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/lance/scan"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// surveyParallel is how many data files are looked at at a time: a look is one
// small read, and on a cluster most of it is waiting.
const surveyParallel = 16

// Survey takes the facts that a plan under the policy depends on: those of the
// manifest, and for fragments that would be merged those of their data files.
// The policy that it returns is the one to plan by: the table's own settings are in it.
func Survey(ctx context.Context, t *table.Table, p Policy) (Facts, Policy, error) {
	return survey(ctx, t, p, taken{}, nil)
}

// survey is Survey for a run that has done some of its work, and for which it has turned out already that some fragments can't be merged.
func survey(ctx context.Context, t *table.Table, p Policy, done taken, refused map[uint64]Left) (Facts, Policy, error) {
	f, p := factsUnder(t, p)
	for i := range f.Fragments {
		x := &f.Fragments[i]
		if l, ok := refused[x.ID]; ok && x.Blocked == "" {
			x.Kind, x.Blocked = l.Kind, l.Reason
		}
	}
	for {
		fresh := unseen(&f, makePlan(f, p, done))
		if len(fresh) == 0 {
			return f, p, nil
		}
		// What is found out can change the plan, and with it what matters.
		if err := look(ctx, t, fresh); err != nil {
			return Facts{}, p, err
		}
	}
}

// factsUnder are the manifest's facts and the policy to plan by.
func factsUnder(t *table.Table, p Policy) (Facts, Policy) {
	f := FactsOf(t)
	p, own, err := p.Under(t.Config())
	f.Own = own
	if err != nil {
		f.Refused = err.Error()
	}
	return f, p
}

// Detect tells whether there is anything to merge, at the price of a few small
// reads: it looks at data files only until two neighbours prove mergeable, or one with many deleted rows readable. The
// plan is Survey's but for the files that were not looked at.
func Detect(ctx context.Context, t *table.Table, p Policy) (plan Plan, due bool, err error) {
	f, p := factsUnder(t, p)
	for {
		plan = MakePlan(f, p)
		if len(plan.Tasks) == 0 {
			return plan, false, nil
		}
		first := plan.Tasks[0].Fragments
		fresh := unseen(&f, Plan{Tasks: []Task{{Fragments: first[:min(2, len(first))]}}})
		if len(fresh) == 0 {
			return plan, true, nil
		}
		if err := look(ctx, t, fresh); err != nil {
			return Plan{}, false, err
		}
	}
}

// unseen are the fragments of a plan's tasks whose files were not looked at.
func unseen(f *Facts, p Plan) []*Fragment {
	wanted := make(map[uint64]bool)
	for _, t := range p.Tasks {
		for _, id := range t.Fragments {
			wanted[id] = true
		}
	}
	var fresh []*Fragment
	for i := range f.Fragments {
		if x := &f.Fragments[i]; wanted[x.ID] && !x.seen {
			fresh = append(fresh, x)
		}
	}
	return fresh
}

// look adds to the facts what the data files tell.
func look(ctx context.Context, t *table.Table, fresh []*Fragment) error {
	entries := make(map[uint64]*pb.DataFragment)
	for _, f := range t.Fragments() {
		entries[f.GetId()] = f
	}
	sh := shapeOf(t)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(surveyParallel)
	var mu sync.Mutex
	for _, x := range fresh {
		g.Go(func() error {
			var bytes int64
			held, wrong := lookAt(ctx, t, entries[x.ID], sh, &bytes)
			mu.Lock()
			defer mu.Unlock()
			if wrong == nil {
				x.Bytes = bytes
			}
			x.seen, x.missing = true, errors.Is(wrong, objects.ErrNotFound)
			x.entry, x.held = entries[x.ID], held
			if wrong == nil {
				x.agreed = agreements(sh, held)
				return nil
			}
			var ok bool
			if x.Kind, ok = kindOf(wrong); !ok {
				return wrong
			}
			x.Blocked = wrong.Error()
			return nil
		})
	}
	return g.Wait()
}

// kindOf tells what an error about a fragment's files makes of it; not ok when it says nothing of the fragment.
func kindOf(err error) (k Kind, ok bool) {
	switch k, ok := kindOfContent(err); {
	case ok:
		return k, true
	case errors.Is(err, objects.ErrDenied), errors.Is(err, objects.ErrNotFound):
		return Broken, true
	}
	return Fine, false
}

// kindOfContent is kindOf for errors about what was read; those of the store tell nothing.
func kindOfContent(err error) (k Kind, ok bool) {
	is := func(kinds ...error) bool {
		return slices.ContainsFunc(kinds, func(k error) bool { return errors.Is(err, k) })
	}
	switch {
	case is(errUncopyable, column.ErrUnsupported, column.ErrLimit, table.ErrRefused):
		return Unsupported, true
	case is(datafile.ErrCorrupt, table.ErrCorrupt):
		return Broken, true
	}
	return Fine, false
}

// lookAt finds out how many bytes are wanted, and checks a fragment's data files against its entry, and that what can't be copied of
// them can be read and encoded.
func lookAt(ctx context.Context, t *table.Table, f *pb.DataFragment, sh *shape, bytes *int64) ([]holding, error) {
	src, err := openSources(ctx, t, f, sh)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	*bytes = src.bytes()
	held := src.holdings(sh)
	anew := []string{}
	for i, h := range held {
		if h.why == "" || h.ids == "" {
			continue
		}
		if no := sh.fields[i].unwritable; no != nil {
			return nil, fmt.Errorf("column %q: %w (%s), and can't be encoded: %w", sh.fields[i].name, errUncopyable, h.why, no)
		}
		anew = append(anew, sh.fields[i].name)
	}
	if _, err := table.ReadDeletions(ctx, t.Store(), f); err != nil {
		return nil, err
	}
	if len(anew) == 0 {
		return held, nil
	}
	o := scan.Options{Columns: anew, Fragments: []uint64{f.GetId()}, StoredJSON: true, Files: src.open}
	for _, err := range scan.Pages(ctx, t, o) {
		if err != nil {
			return nil, err
		}
	}
	return held, nil
}

// agreements are what those fields of a fragment have to agree on with others' that can't be encoded, as one text.
func agreements(sh *shape, held []holding) string {
	out := ""
	for i, h := range held {
		if sh.fields[i].unwritable != nil {
			out += fmt.Sprintf("; %s %q", h.agreed, h.encodings)
		}
	}
	return out
}
