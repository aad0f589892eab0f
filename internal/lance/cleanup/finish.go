package cleanup

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seaweedfs/seaweed-lance/internal/lance/journal"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// settled tells whether a record's job can do no harm any more: nothing of it
// can be committed, so what no version names is garbage. A writer that is at
// work removes its own output, and its record after it.
func settled(r *journal.Record, newest *table.Table, now time.Time) bool {
	if r.Alive(now) {
		return false
	}
	if r.Kind == journal.Cleanup {
		return true
	}
	there := make(map[uint64]bool)
	for _, f := range newest.Fragments() {
		there[f.GetId()] = true
	}
	for _, id := range r.Fragments {
		if !there[id] {
			return true
		}
	}
	return false
}

// finishable are the files of settled records, with the reason for which they go.
func (v *survey) finishable(now time.Time) map[string]string {
	files := make(map[string]string)
	for _, r := range v.records {
		if !settled(r, v.newest, now) {
			continue
		}
		for _, f := range r.Files {
			files[f] = fmt.Sprintf("a %s that ended in the middle left it behind", r.Kind)
		}
	}
	return files
}

// outlived tells whether a record's files have become unverified files like any
// others, so that the record says nothing more.
func outlived(r *journal.Record, now time.Time) bool {
	return now.Sub(r.ModTime) >= unverifiedAge && !r.Alive(now)
}

// restoreNamed publishes again the versions of unfinished cleanups that a tag
// or a branch has come to name. It tells whether there were any, in which case the
// table has to be looked at anew.
func (v *survey) restoreNamed(ctx context.Context) (bool, error) {
	there := make(map[uint64]bool)
	for _, r := range v.listing.Versions {
		there[r.Version] = true
	}
	any := false
	for _, r := range v.records {
		if r.Kind != journal.Cleanup {
			continue
		}
		for _, m := range r.Manifests {
			if _, pinned := v.pins[m.Version]; !pinned || there[m.Version] {
				continue
			}
			if err := restore(ctx, v.store, m); err != nil {
				return false, err
			}
			any = true
		}
	}
	return any, nil
}

// restore publishes a version's manifest again, byte for byte.
func restore(ctx context.Context, s objects.Store, m journal.Manifest) error {
	err := s.Publish(ctx, m.Name, m.Content)
	if err == nil || errors.Is(err, objects.ErrExists) { // another cleaner was faster
		return nil
	}
	return fmt.Errorf("publishing version %d again, which has come to be named: %w", m.Version, err)
}
