package compact

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// surveyParallel is how many data files are looked at at a time: a look is one
// small read, and on a cluster most of it is waiting.
const surveyParallel = 16

// Survey takes the facts that a plan under the policy depends on: those of the
// manifest, and for fragments that would be merged those of their data files.
func Survey(ctx context.Context, t *table.Table, p Policy) (Facts, error) {
	f := FactsOf(t)
	for {
		fresh := unseen(&f, MakePlan(f, p))
		if len(fresh) == 0 {
			return f, nil
		}
		// What is found out can change the plan, and with it what matters.
		if err := look(ctx, t, fresh); err != nil {
			return Facts{}, err
		}
	}
}

// Detect tells whether there is anything to merge, at the price of a few small
// reads: it looks at data files only until two neighbours prove mergeable. The
// plan is Survey's but for the files that were not looked at.
func Detect(ctx context.Context, t *table.Table, p Policy) (plan Plan, due bool, err error) {
	f := FactsOf(t)
	for {
		plan = MakePlan(f, p)
		if len(plan.Tasks) == 0 {
			return plan, false, nil
		}
		fresh := unseen(&f, Plan{Tasks: []Task{{Fragments: plan.Tasks[0].Fragments[:2]}}})
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
	live := liveFields(t)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(surveyParallel)
	var mu sync.Mutex
	for _, x := range fresh {
		g.Go(func() error {
			agreed, wrong := lookAt(ctx, t, entries[x.ID], live)
			mu.Lock()
			defer mu.Unlock()
			x.seen, x.missing = true, errors.Is(wrong, objects.ErrNotFound)
			switch {
			case wrong == nil:
				x.agreed = agreed
			case errors.Is(wrong, errUncopyable):
				x.Kind, x.Blocked = Unsupported, wrong.Error()
			case errors.Is(wrong, datafile.ErrCorrupt), errors.Is(wrong, objects.ErrDenied), x.missing:
				x.Kind, x.Blocked = Broken, wrong.Error()
			default:
				return wrong
			}
			return nil
		})
	}
	return g.Wait()
}

// lookAt checks a fragment's data files against its entry. What the pages have to
// agree on to be merged with others comes as a text, as a part of the layout.
func lookAt(ctx context.Context, t *table.Table, f *pb.DataFragment, live map[int32]bool) (agreed string, err error) {
	for _, d := range f.GetFiles() {
		src, err := openSource(ctx, t, f, d, live)
		if err != nil {
			return "", err
		}
		if a := src.agreements(); a != "" {
			agreed += "; " + a
		}
		src.Close()
	}
	return agreed, nil
}

// errUncopyable marks files whose pages can't be moved as they are.
var errUncopyable = errors.New("needs more than copying pages")

// source is a data file of a fragment with the columns that are copied from it.
type source struct {
	*datafile.File
	entry *pb.DataFile
	// columns of today's schema: field id and column number, in the entry's order.
	columns []sourceColumn
}

type sourceColumn struct {
	field int32
	index int
	// agreed are the layers that all pages must have, of a column where they must.
	agreed string
}

// openSource opens a data file and checks that its pages can be copied.
func openSource(ctx context.Context, t *table.Table, f *pb.DataFragment, d *pb.DataFile, live map[int32]bool) (*source, error) {
	name := table.DataName(d)
	file, err := datafile.Open(ctx, t.Store(), name)
	if err != nil {
		return nil, err
	}
	s := &source{File: file, entry: d}
	if err := s.check(t, f, live); err != nil {
		file.Close()
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return s, nil
}

func (s *source) check(t *table.Table, f *pb.DataFragment, live map[int32]bool) error {
	broken := func(format string, args ...any) error {
		return fmt.Errorf("%w: %s", datafile.ErrCorrupt, fmt.Sprintf(format, args...))
	}
	if want := s.entry.GetFileSizeBytes(); want != 0 && want != uint64(s.Reader.Entry().Size) {
		return broken("it has %d bytes, the manifest says %d", s.Reader.Entry().Size, want)
	}
	if v := table.NormalVersion(s.Major, s.Minor); v != t.FileVersion() {
		return broken("its footer says version %s, the manifest %s", v, t.FileVersion())
	}
	if n := s.Descriptor.GetLength(); n != f.GetPhysicalRows() {
		return broken("it has %d rows, the manifest says %d", n, f.GetPhysicalRows())
	}
	if n := len(s.GlobalBuffers); n != 1 {
		return fmt.Errorf("%w: it has %d global buffers, and what the others hold is not known", errUncopyable, n)
	}
	if f, c := len(s.entry.GetFields()), len(s.entry.GetColumnIndices()); f != c {
		return broken("the manifest names %d columns for its %d fields", c, f)
	}
	taken := make(map[int]bool)
	must := mustAgree(t)
	for i, id := range s.entry.GetFields() {
		if !live[id] {
			continue
		}
		c := int(s.entry.GetColumnIndices()[i])
		if c < 0 || c >= len(s.Columns) || taken[c] {
			return broken("field %d is in column %d of %d", id, c, len(s.Columns))
		}
		taken[c] = true
		if err := copyable(s.Columns[c]); err != nil {
			return fmt.Errorf("column %d: %w", c, err)
		}
		col := sourceColumn{field: id, index: c}
		if must[id] {
			var err error
			if col.agreed, err = agreement(s.Columns[c]); err != nil {
				return fmt.Errorf("column %d: %w", c, err)
			}
		}
		s.columns = append(s.columns, col)
	}
	// Stale columns are left behind; a column that no field names is something else.
	if len(s.entry.GetFields()) < len(s.Columns) {
		return fmt.Errorf("%w: it has %d columns for %d fields", errUncopyable, len(s.Columns), len(s.entry.GetFields()))
	}
	return nil
}
