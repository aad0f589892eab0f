package cleanup

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/seaweedfs/seaweed-lance/internal/lance/journal"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

const (
	defaultParallel = 16
	// A delete that the store refuses for the moment is tried this often, with
	// waits from firstWait on, doubling.
	deleteAttempts = 8
	firstWait      = 50 * time.Millisecond
	// Looking anew after versions came back: see restoreNamed.
	maxLooks = 3
)

func (o Options) now() time.Time {
	if o.Now != nil {
		return o.Now()
	}
	return time.Now()
}

// Run cleans the table up. With an error, what the result counts has gone all
// the same, and the next run goes on from there.
func Run(ctx context.Context, s objects.Store, o Options) (Result, error) {
	name, end := journal.Begin()
	defer end()
	r := &run{store: s, opts: o, name: name}
	err := r.do(ctx)
	slices.SortFunc(r.res.Kept, func(a, b Kept) int { return int(int64(a.Version) - int64(b.Version)) })
	return r.res, err
}

// run is one Run under way.
type run struct {
	store objects.Store
	opts  Options
	name  string
	v     *survey
	res   Result

	progress struct {
		sync.Mutex
		done, total int
	}
}

func (r *run) do(ctx context.Context) error {
	now := r.opts.now()
	if err := r.removeTags(ctx); err != nil {
		return err
	}
	for i := 0; ; i++ {
		var err error
		if r.v, err = look(ctx, r.store, r.opts, now); err != nil {
			if errors.Is(err, objects.ErrNotFound) && i < maxLooks {
				continue // what was the newest version has been cleaned away meanwhile
			}
			return err
		}
		if r.opts.DryRun {
			break
		}
		again, err := r.v.restoreNamed(ctx)
		if err != nil {
			return err
		}
		if !again {
			break
		}
		if i == maxLooks {
			return errors.New("versions that unfinished cleanups had removed come to be named faster than they can be looked at")
		}
	}
	r.res.Policy = r.v.policy
	victims, err := r.v.findVictims(ctx, now)
	if err != nil {
		return err
	}
	r.res.Kept = r.v.kept
	r.res.Versions = len(r.v.listing.Versions) - len(r.v.due)
	if r.opts.DryRun {
		r.foresee(victims)
		return nil
	}
	r.progress.total = len(r.v.due) + len(victims)
	err = r.removeAll(ctx, victims)
	r.res.Versions = len(r.v.listing.Versions) - r.res.OldVersionsRemoved
	return err
}

// removeTags removes the abandoned tags. It is for the look that follows to see which
// are left.
func (r *run) removeTags(ctx context.Context) error {
	if r.opts.Abandoned == nil || r.opts.DryRun {
		return nil
	}
	names, err := table.TagNames(ctx, r.store)
	if err != nil {
		return err
	}
	for _, name := range names {
		if r.opts.Abandoned(name) && table.DeleteTag(ctx, r.store, name) == nil {
			r.res.TagsRemoved++
		}
	}
	return ctx.Err()
}

// foresee fills the result with what would go.
func (r *run) foresee(victims []victim) {
	for _, ref := range r.v.due {
		r.res.OldVersionsRemoved++
		r.res.Removed = append(r.res.Removed, ref.Version)
		r.res.BytesRemoved += ref.Size
		r.res.Files = append(r.res.Files, File{ref.Name, ref.Size, fmt.Sprintf("version %d is due", ref.Version)})
	}
	for _, f := range victims {
		r.count(f)
		r.res.Files = append(r.res.Files, f.File)
	}
}

func (r *run) count(f victim) {
	r.res.FilesRemoved++
	r.res.BytesRemoved += f.Size
	if f.isData {
		r.res.DataFilesRemoved++
	}
}

// removeAll removes versions batch by batch, then what no version has to leave for.
func (r *run) removeAll(ctx context.Context, victims []victim) error {
	if len(r.v.due) > 0 {
		// Readers look upwards from the hint: it must not point below the gap.
		if err := table.FixHint(ctx, r.store, r.v.newest.Version()); err != nil {
			return err
		}
	}
	for _, b := range batches(r.v.due) {
		var files []victim
		for _, f := range victims {
			if f.batch != loose && f.batch >= b[0] && f.batch < b[1] {
				files = append(files, f)
			}
		}
		r.v.left = r.v.due[:b[1]]
		if err := r.batch(ctx, r.v.due[b[0]:b[1]], files); err != nil {
			return err
		}
	}
	var files []victim
	for _, f := range victims {
		if f.batch == loose {
			files = append(files, f)
		}
	}
	if len(files) > 0 {
		if _, err := r.lookAgain(ctx, nil); err != nil {
			return err
		}
		if err := r.remove(ctx, files); err != nil {
			return err
		}
	}
	return r.finishRecords(ctx)
}

// remove deletes files, but for those that have come to be named.
func (r *run) remove(ctx context.Context, files []victim) error {
	var names []string
	files = slices.DeleteFunc(slices.Clone(files), func(f victim) bool { return r.v.named[f.key].kept })
	for _, f := range files {
		names = append(names, f.Name)
	}
	if err := r.deleteAll(ctx, names); err != nil {
		return err
	}
	for _, f := range files {
		r.res.Changed = true
		r.count(f)
	}
	return nil
}

// finishRecords removes the records of jobs whose files are gone.
func (r *run) finishRecords(ctx context.Context) error {
	now := r.opts.now()
	for _, rec := range r.v.records {
		if !settled(rec, r.v.newest, now) && !outlived(rec, now) {
			continue
		}
		if err := r.forget(ctx, rec); err != nil {
			return err
		}
	}
	return nil
}

// forget removes a record.
func (r *run) forget(ctx context.Context, rec *journal.Record) error {
	if err := r.delete(ctx, rec.Name()); err != nil {
		return fmt.Errorf("removing %s: %w", rec.Name(), err)
	}
	return nil
}

// deleteAll deletes objects in parallel and tries again what the store would
// not do at once.
func (r *run) deleteAll(ctx context.Context, names []string) error {
	g, ctx := errgroup.WithContext(ctx)
	parallel := r.opts.Parallel
	if parallel <= 0 {
		parallel = defaultParallel
	}
	g.SetLimit(parallel)
	for _, name := range names {
		g.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err // another one has failed
			}
			if err := r.delete(ctx, name); err != nil {
				return fmt.Errorf("deleting %s: %w", name, err)
			}
			r.progress.Lock()
			defer r.progress.Unlock()
			r.progress.done++
			if r.opts.Progress != nil {
				r.opts.Progress(r.progress.done, r.progress.total)
			}
			return nil
		})
	}
	return g.Wait()
}

func (r *run) delete(ctx context.Context, name string) error {
	var err error
	for i := range deleteAttempts {
		if err = r.store.Delete(ctx, name); err == nil || errors.Is(err, objects.ErrDenied) || ctx.Err() != nil {
			return err
		}
		if i == deleteAttempts-1 {
			break
		}
		if werr := r.wait(ctx, firstWait<<i); werr != nil {
			return errors.Join(err, werr)
		}
	}
	return err
}

func (r *run) wait(ctx context.Context, d time.Duration) error {
	if r.opts.Wait != nil {
		return r.opts.Wait(ctx, d)
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
