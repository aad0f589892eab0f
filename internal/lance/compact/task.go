package compact

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"

	"github.com/seaweedfs/seaweed-lance/internal/lance/journal"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// discardTime bounds the removal of own output, also after a cancel: a worker that is
// told to stop has 10 s.
const discardTime = 8 * time.Second

// errPreempted is wrapped by errors that say which other run has the fragments.
var errPreempted = errors.New("pre-empted")

// task merges the fragments of one Task.
type task struct {
	*run
	Task
	// ids are those for the new fragments of the pass, rest its tasks from this one on.
	ids  *reservation
	rest []Task
	t    *table.Table
	sh   *shape
	old  []*pb.DataFragment
	// from are those of old of which rows are kept, with all numbers of rows.
	from []*pb.DataFragment
	// held is what was found in each of from.
	held [][]holding
	rec  *journal.Record
	txn  *pb.Transaction
	// names of the new data files, without their directory, and what lies beside them.
	names []string
	side  []*sidecars
	// credited are the bytes and rows of the sources that progress was told of.
	credited, creditedRows int64
	// counting is for them while a file is written.
	counting sync.Mutex
}

// do claims the fragments, merges them and commits. With an error other than
// objects.ErrUnknown nothing was committed and nothing is left behind.
func (k *task) do(ctx context.Context) error {
	if err := k.prepare(ctx); err != nil {
		return err
	}
	if err := k.claim(ctx); err != nil {
		return err
	}
	stop := k.keepTouching(ctx)
	err := k.rewrite(ctx)
	stop()
	if errors.Is(err, objects.ErrUnknown) {
		// It may have been committed, or a file may still appear: the record
		// tells whoever comes next.
		return err
	}
	if errors.Is(err, objects.ErrNotFound) {
		// A source has gone: others merged its fragment and cleaned up. If so,
		// that is what to say.
		if now := k.prepare(ctx); errors.Is(now, table.ErrConflict) {
			err = now
		}
	}
	if err != nil {
		return errors.Join(err, k.discard(ctx))
	}
	// The commit stands. A record that can't be removed now goes with the next cleanup.
	_ = k.release(ctx)
	return nil
}

// prepare looks at today's table: what was planned must still be there, before
// anything expensive is done.
func (k *task) prepare(ctx context.Context) error {
	t, err := k.open(ctx)
	if err != nil {
		return err
	}
	if err := t.Writable(); err != nil {
		return err
	}
	k.t, k.sh, k.old, k.held = t, shapeOf(t), nil, nil
	k.from = nil
	byID := make(map[uint64]*pb.DataFragment)
	for _, f := range t.Fragments() {
		byID[f.GetId()] = f
	}
	facts := make(map[uint64]Fragment)
	for _, f := range FactsOf(t).Fragments {
		facts[f.ID] = f
	}
	for _, id := range k.Fragments {
		f := byID[id]
		if f == nil {
			return fmt.Errorf("%w: fragment %d is no longer there in version %d", table.ErrConflict, id, t.Version())
		}
		if b := facts[id].Blocked; b != "" {
			return fmt.Errorf("%w: fragment %d by version %d: %s", table.ErrConflict, id, t.Version(), b)
		}
		if err := k.kept(f, t.Version()); err != nil {
			return err
		}
		seen := k.looked[id]
		if seen == nil || !proto.Equal(seen.entry, f) || len(seen.held) != len(k.sh.fields) {
			return fmt.Errorf("%w: fragment %d has changed by version %d", table.ErrConflict, id, t.Version())
		}
		k.old = append(k.old, f)
		if liveRows(seen.counted) > 0 {
			k.from, k.held = append(k.from, seen.counted), append(k.held, seen.held)
		}
	}
	return nil
}

// claim journals what will be written, and gives way to whoever claimed one of
// the fragments earlier.
func (k *task) claim(ctx context.Context) error {
	k.txn = &pb.Transaction{Uuid: uuid.NewString()}
	k.rec = journal.New(journal.Rewrite, k.now())
	k.rec.Holder.Run = k.name
	k.rec.Version = k.t.Version()
	k.rec.Fragments = k.Fragments
	k.names = nil
	for range k.Outputs {
		n := newDataFile()
		k.names = append(k.names, n)
		k.rec.Files = append(k.rec.Files, table.DataDir+"/"+n)
	}
	k.rec.Files = append(k.rec.Files, table.TransactionName(k.t.Version(), k.txn.GetUuid()))
	if err := k.rec.Write(ctx, k.store); err != nil {
		// There or not, nothing that it names was touched.
		return errors.Join(fmt.Errorf("journal: %w", err), k.release(ctx))
	}
	by, err := k.claimedBy(ctx, k.rec)
	if err == nil && by != "" {
		err = fmt.Errorf("%w: %s", errPreempted, by)
	}
	if err != nil {
		return errors.Join(err, k.release(ctx))
	}
	return nil
}

// keepTouching shows others that the writer of the record is at work.
func (k *task) keepTouching(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(journal.TouchEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				// A record that can't be touched ages, and the claim with it;
				// the commit decides who wins.
				_ = k.rec.Touch(ctx, k.store)
			}
		}
	}()
	return func() { cancel(); <-done }
}

// rewrite writes the new fragments and commits them.
func (k *task) rewrite(ctx context.Context) error {
	l := k.limits
	if k.careful {
		l.join = 0
	}
	in, err := readInputs(ctx, k.t, k.sh, k.from, k.held, l, k.files)
	if err != nil {
		return err
	}
	files, err := deal(in.stored, k.outputs())
	if err != nil {
		return err
	}
	group := &pb.Transaction_Rewrite_Group{OldFragments: k.old}
	for i, pieces := range files { // none where no row is kept
		f, err := k.merge(ctx, in, pieces, k.names[i])
		if err != nil {
			return err
		}
		group.NewFragments = append(group.NewFragments, f)
	}
	ids, err := k.take(ctx, len(files))
	if err != nil {
		return err
	}
	for i, f := range group.NewFragments {
		f.Id = ids[i]
	}
	k.txn.Operation = &pb.Transaction_Rewrite_{Rewrite: &pb.Transaction_Rewrite{Groups: []*pb.Transaction_Rewrite_Group{group}}}
	after, err := k.committer().Commit(ctx, k.t, k.txn)
	if err != nil {
		return err
	}
	k.committed(after, k.old, group.NewFragments)
	return nil
}

// discard removes the output of a commit that has certainly not happened.
func (k *task) discard(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), discardTime)
	defer cancel()
	var names []string
	for _, s := range k.side {
		names = append(names, s.names...)
	}
	for _, name := range append(names, k.rec.Files...) {
		if err := k.store.Delete(ctx, name); err != nil {
			// The record stays, so that the next cleanup finds the rest.
			return fmt.Errorf("removing %s: %w", name, err)
		}
	}
	return k.rec.Remove(ctx, k.store)
}

// release removes the record alone.
func (k *task) release(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), discardTime)
	defer cancel()
	return k.rec.Remove(ctx, k.store)
}
