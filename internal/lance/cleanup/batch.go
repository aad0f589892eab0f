package cleanup

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/seaweedfs/seaweed-lance/internal/lance/journal"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

const (
	// A batch of versions is journalled, and held in memory, with its
	// manifests; these bound it.
	batchBytes    = 32 << 20
	batchVersions = 1000
	// maxManifest bounds what is read of one manifest, as in package table.
	maxManifest = 1 << 30
)

// batches cuts the versions that go into ranges [from, to) of positions.
func batches(due []table.VersionRef) [][2]int {
	var out [][2]int
	from, bytes := 0, int64(0)
	for i, r := range due {
		if i > from && (bytes+r.Size > batchBytes || i-from >= batchVersions) {
			out = append(out, [2]int{from, i})
			from, bytes = i, 0
		}
		bytes += r.Size
	}
	if from < len(due) {
		out = append(out, [2]int{from, len(due)})
	}
	return out
}

// batch removes some versions, oldest first, and the files that go with them.
func (r *run) batch(ctx context.Context, versions []table.VersionRef, files []victim) error {
	rec := journal.New(journal.Cleanup, r.opts.now())
	rec.Holder.Run = r.name
	rec.Version = r.v.newest.Version()
	for _, ref := range versions {
		b, e, err := objects.ReadAll(ctx, r.store, ref.Name, maxManifest)
		if errors.Is(err, objects.ErrNotFound) {
			continue // another cleaner was faster
		}
		if err != nil {
			return fmt.Errorf("reading %s: %w", ref.Name, err)
		}
		if e.Token != ref.Token || e.Size != ref.Size {
			// Another cleaner has published it again: somebody has named it.
			r.res.Kept = append(r.res.Kept, Kept{ref.Version, "it was published again while the cleanup ran"})
			continue
		}
		rec.Manifests = append(rec.Manifests, journal.Manifest{Version: ref.Version, Name: ref.Name, Content: b})
	}
	for _, f := range files {
		rec.Files = append(rec.Files, f.Name)
	}
	if err := rec.Write(ctx, r.store); err != nil {
		return err
	}
	var names []string
	for _, m := range rec.Manifests {
		names = append(names, m.Name)
	}
	if err := r.deleteAll(ctx, names); err != nil {
		return err
	}
	restored, err := r.lookAgain(ctx, rec.Manifests)
	if err != nil {
		return err
	}
	for _, m := range rec.Manifests {
		if restored[m.Version] {
			r.res.Kept = append(r.res.Kept, Kept{m.Version, "it was named while the cleanup ran"})
			continue
		}
		r.res.Changed = true
		r.res.OldVersionsRemoved++
		r.res.Removed = append(r.res.Removed, m.Version)
		r.res.BytesRemoved += int64(len(m.Content))
	}
	if err := r.remove(ctx, files); err != nil {
		return err
	}
	return r.forget(ctx, rec)
}

// lookAgain is the second look: what has come to name a version that just left,
// or a file, since the first. Versions that are named are published again, also
// those that another cleaner has just deleted and is about to publish itself:
// their files must not go meanwhile.
//
// The order matters. A tag that was made before its version was deleted is
// seen first; the record that was written before that is still there, or the
// version is again.
func (r *run) lookAgain(ctx context.Context, left []journal.Manifest) (restored map[uint64]bool, err error) {
	pinned, err := readPins(ctx, r.store, nil)
	if err != nil {
		return nil, err
	}
	records, err := journal.List(ctx, r.store)
	if err != nil {
		return nil, err
	}
	for _, other := range records {
		left = append(left, other.Manifests...)
	}
	restored = make(map[uint64]bool)
	for _, m := range left {
		if _, ok := pinned[m.Version]; !ok || restored[m.Version] {
			continue
		}
		if err := restore(ctx, r.store, m); err != nil {
			return nil, err
		}
		restored[m.Version] = true
		t, err := table.Decode(r.store, table.VersionRef{Version: m.Version, Name: m.Name}, r.v.listing.Naming, m.Content)
		if err != nil {
			return nil, err
		}
		if err := r.v.name(t, false, 0); err != nil {
			return nil, err
		}
	}
	if err := r.v.readBranches(ctx); err != nil {
		return nil, err
	}
	return restored, r.v.readNewVersions(ctx, restored)
}

// readNewVersions keeps what versions name that were not there at the first look:
// newer ones, detached ones, and old ones that another cleaner has published again.
func (v *survey) readNewVersions(ctx context.Context, restored map[uint64]bool) error {
	l, err := table.ListVersions(ctx, v.store)
	if err != nil {
		return err
	}
	seen := make(map[string]bool)
	for _, r := range append(v.listing.Versions, v.listing.Detached...) {
		seen[r.Name] = true
	}
	gone := maps.Clone(v.vanished)
	for _, r := range v.left {
		gone[r.Name] = true
	}
	var fresh []table.VersionRef
	for _, r := range append(l.Versions, l.Detached...) {
		if (!seen[r.Name] || gone[r.Name]) && !restored[r.Version] {
			fresh = append(fresh, r)
		}
	}
	return v.readOthers(ctx, l, fresh)
}
