package compact

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/seaweedfs/seaweed-lance/internal/lance/journal"
)

// unclaimed leaves out tasks that another run is at work on.
func (r *run) unclaimed(ctx context.Context, tasks []Task) ([]Task, error) {
	claims, err := r.claims(ctx)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(tasks), func(t Task) bool {
		for _, c := range claims {
			if overlap(c.Fragments, t.Fragments) {
				r.res.Preempted = describe(c)
				return true
			}
		}
		return false
	}), nil
}

// claims are the records of other runs that seem to be at work.
func (r *run) claims(ctx context.Context) ([]*journal.Record, error) {
	records, err := journal.List(ctx, r.store)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(records, func(c *journal.Record) bool {
		return c.Kind != journal.Rewrite || c.Holder.Run == r.name || !c.Alive(r.now())
	}), nil
}

// claimedBy tells who claimed a fragment of mine before it did. Both writers
// look after they have written, so at least one sees the other; the order of
// times and ids makes it the same one for both.
func (r *run) claimedBy(ctx context.Context, mine *journal.Record) (string, error) {
	claims, err := r.claims(ctx)
	if err != nil {
		return "", err
	}
	for _, c := range claims {
		if overlap(c.Fragments, mine.Fragments) && (c.Time.Before(mine.Time) || c.Time.Equal(mine.Time) && c.ID < mine.ID) {
			return describe(c), nil
		}
	}
	return "", nil
}

func overlap(a, b []uint64) bool {
	return slices.ContainsFunc(a, func(id uint64) bool { return slices.Contains(b, id) })
}

func describe(c *journal.Record) string {
	return fmt.Sprintf("another run (process %d, since %s) is merging fragments %d to %d of version %d",
		c.Holder.PID, c.Time.Format(time.RFC3339), slices.Min(c.Fragments), slices.Max(c.Fragments), c.Version)
}
