package compact

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"

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
	return survey(ctx, t, p, taken{}, nil, datafile.Open)
}

// survey is Survey for a run that has done some of its work, and for which it has turned out already that some fragments
// can't be merged. open opens data files.
func survey(ctx context.Context, t *table.Table, p Policy, done taken, refused map[uint64]Left, open openFile) (Facts, Policy, error) {
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
		if err := look(ctx, t, fresh, open); err != nil {
			return Facts{}, p, err
		}
		f.forget(maxVocabulary)
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
		if err := look(ctx, t, fresh, datafile.Open); err != nil {
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
func look(ctx context.Context, t *table.Table, fresh []*Fragment, open openFile) error {
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
			held, counted, bytes, wrong := lookAt(ctx, t, entries[x.ID], sh, open)
			beside := int64(0)
			if wrong == nil && liveRows(counted) > 0 {
				beside, wrong = bytesBeside(ctx, t, counted, sh)
			}
			mu.Lock()
			defer mu.Unlock()
			if wrong == nil {
				x.Bytes, x.Beside = bytes, beside
			}
			x.seen, x.missing = true, errors.Is(wrong, objects.ErrNotFound)
			x.entry, x.counted, x.held = entries[x.ID], counted, held
			if wrong == nil {
				x.uncounted = false
				x.Rows, x.Deleted = counted.GetPhysicalRows(), counted.GetDeletionFile().GetNumDeletedRows()
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
	case is(errUncopyable, column.ErrUnsupported, column.ErrLimit, table.ErrRefused, scan.ErrUnreachable):
		return Unsupported, true
	case is(datafile.ErrCorrupt, table.ErrCorrupt):
		return Broken, true
	}
	return Fine, false
}

// lookAt checks a fragment's data files against its entry, and that what can't be copied of
// them can be read and encoded. counted is the entry with its numbers of rows, bytes are those that are wanted.
func lookAt(ctx context.Context, t *table.Table, f *pb.DataFragment, sh *shape, open openFile) (held []holding, counted *pb.DataFragment, bytes int64, err error) {
	src, err := openSources(ctx, t, f, sh, open)
	if err != nil {
		return nil, nil, 0, err
	}
	defer src.Close()
	if counted, err = count(ctx, t, f, src); err != nil || liveRows(counted) == 0 {
		return make([]holding, len(sh.fields)), counted, src.bytes(), err // of which nothing is kept
	}
	src.frag = counted
	held, err = examine(ctx, t, counted, src, sh)
	return held, counted, src.bytes(), err
}

// count reads the numbers of rows that a fragment's entry does not say: older writers left them out.
func count(ctx context.Context, t *table.Table, f *pb.DataFragment, src *sources) (*pb.DataFragment, error) {
	f = proto.CloneOf(f)
	if f.GetPhysicalRows() == 0 && len(src.files) > 0 {
		f.PhysicalRows = src.files[0].Descriptor.GetLength()
	}
	deleted, err := scan.ReadDeletions(ctx, t, f)
	if err != nil {
		return nil, err
	}
	if d := f.GetDeletionFile(); d != nil {
		d.NumDeletedRows = deleted.GetCardinality()
	}
	return f, nil
}

// examine tells how the columns of a fragment can get into another one.
func examine(ctx context.Context, t *table.Table, f *pb.DataFragment, src *sources, sh *shape) ([]holding, error) {
	held := src.holdings(sh)
	anew := []string{}
	for i, h := range held {
		if h.why == "" && f.GetDeletionFile() != nil {
			h.why = "rows of it are deleted"
		}
		if h.ids == "" {
			held[i].dictionaries = noWords(&sh.fields[i])
		}
		if h.why == "" || h.ids == "" {
			continue
		}
		if no := sh.fields[i].unwritable; no != nil {
			return nil, fmt.Errorf("column %q: %w (%s), and can't be encoded: %w", sh.fields[i].name, errUncopyable, h.why, no)
		}
		anew = append(anew, sh.fields[i].name)
		x := &sh.fields[i]
		if x.single {
			for _, u := range h.units {
				held[i].single += u.bytes
			}
			if n := held[i].single; n > maxSingle {
				return nil, fmt.Errorf("column %q: %w: its pages can't be read together, and its %d bytes are too many for one", x.name, errUncopyable, n)
			}
		}
		if x.keys != nil {
			var err error
			if held[i].dictionaries, err = dictionariesOf(ctx, t, f, src, x); err != nil {
				return nil, err
			}
		}
	}
	if err := decodable(ctx, t, f, src, anew); err != nil {
		return nil, err
	}
	return held, nil
}

// decodable tells whether this build knows all encodings of columns.
func decodable(ctx context.Context, t *table.Table, f *pb.DataFragment, src *sources, columns []string) error {
	if len(columns) == 0 {
		return nil
	}
	o := scan.Options{Columns: columns, Fragments: []uint64{f.GetId()}, StoredJSON: true, Files: src.open}
	for _, err := range scan.Pages(ctx, t, o) {
		if err != nil {
			return err
		}
	}
	return nil
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
