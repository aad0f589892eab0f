package compact

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/seaweedfs/seaweed-lance/internal/lance/journal"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// stillThere keeps the promise of a record: without the fragments that it names,
// nothing of its job is committed.
func stillThere(t *table.Table, fragments []uint64) error {
	there := make(map[uint64]bool)
	for _, f := range t.Fragments() {
		there[f.GetId()] = true
	}
	for _, id := range fragments {
		if !there[id] {
			return fmt.Errorf("%w: fragment %d is no longer there in version %d", table.ErrConflict, id, t.Version())
		}
	}
	return nil
}

// reservation are ids for new fragments.
type reservation struct{ ids []uint64 }

// take gets ids for the new fragments of a task. The first one that comes so far as to need some gets them for all that come after it, so
// that a pass of which nothing comes leaves no version behind.
func (k *task) take(ctx context.Context, n int) ([]uint64, error) {
	if n > len(k.ids.ids) {
		var err error
		if k.ids.ids, err = k.reserve(ctx, k.t, k.rest); err != nil {
			return nil, err
		}
	}
	ids := k.ids.ids[:n]
	k.ids.ids = k.ids.ids[n:]
	return ids, nil
}

// reserve gets ids for all new fragments in one commit.
func (r *run) reserve(ctx context.Context, t *table.Table, tasks []Task) ([]uint64, error) {
	n := 0
	rec := journal.New(journal.Reserve, r.now())
	rec.Holder.Run = r.name
	rec.Version = t.Version()
	for _, x := range tasks {
		n += len(x.Outputs)
		rec.Fragments = append(rec.Fragments, x.Fragments...)
	}
	if n == 0 {
		return nil, nil
	}
	txn := &pb.Transaction{
		Uuid:      uuid.NewString(),
		Operation: &pb.Transaction_ReserveFragments_{ReserveFragments: &pb.Transaction_ReserveFragments{NumFragments: uint32(n)}},
	}
	rec.Files = []string{table.TransactionName(t.Version(), txn.GetUuid())}
	k := &task{run: r, rec: rec}
	if err := rec.Write(ctx, r.store); err != nil {
		return nil, errors.Join(fmt.Errorf("journal: %w", err), k.release(ctx))
	}
	c := r.committer()
	c.Fits = func(head *table.Table) error { return stillThere(head, rec.Fragments) }
	after, err := c.Commit(ctx, t, txn)
	if errors.Is(err, objects.ErrUnknown) {
		return nil, err
	}
	if err != nil {
		return nil, errors.Join(err, k.discard(ctx))
	}
	r.res.Changed = true
	r.res.Version = after.Version()
	top, _ := after.MaxFragmentID()
	ids := make([]uint64, n)
	for i := range ids {
		ids[i] = top - uint64(n-1-i)
	}
	_ = k.release(ctx) // one that stays goes with the next cleanup
	return ids, nil
}
