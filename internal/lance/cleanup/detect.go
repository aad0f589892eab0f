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

// Detect tells whether a run would remove a version or finish something. It
// lists versions, tags, branches and the journal, and reads two manifests at most: versions
// are as old as they are in order, so the oldest that nobody holds on to decides.
// What only lies around unnamed is not looked for; a run finds it.
func Detect(ctx context.Context, s objects.Store, p Policy, now time.Time) (Detection, error) {
	l, err := table.ListVersions(ctx, s)
	if err != nil {
		return Detection{}, err
	}
	if len(l.Versions) == 0 {
		return Detection{}, fmt.Errorf("%s: %w", s, table.ErrNoTable)
	}
	d := Detection{Versions: len(l.Versions), Newest: l.Versions[len(l.Versions)-1].Version}
	records, err := journal.List(ctx, s)
	if err != nil {
		return d, err
	}
	low := floor(l.Versions, p.MinVersions)
	if len(records) == 0 && l.Versions[0].Version >= low {
		d.Reason = fmt.Sprintf("%d versions, and at least %d are kept", d.Versions, max(1, p.MinVersions))
		return d, nil
	}
	newest, err := open(ctx, s, l, l.Versions[len(l.Versions)-1])
	if err != nil {
		return d, err
	}
	for _, r := range records {
		if settled(r, newest, now) {
			d.Due = true
			d.Reason = fmt.Sprintf("a %s of %s ended in the middle", r.Kind, r.Time.Format(time.RFC3339))
			return d, nil
		}
	}
	pinned, err := readPins(ctx, s)
	if err != nil {
		return d, err
	}
	held := 0
	for _, ref := range l.Versions {
		if ref.Version >= low {
			break
		}
		if _, ok := pinned[ref.Version]; ok {
			held++
			continue
		}
		t, err := open(ctx, s, l, ref)
		if errors.Is(err, objects.ErrNotFound) {
			continue
		}
		if err != nil {
			return d, err
		}
		at := t.Time()
		if at.IsZero() {
			at = ref.ModTime
		}
		d.Due = at.Before(now.Add(-p.Retain))
		d.Reason = fmt.Sprintf("version %d, the oldest of %d that nobody holds on to, is from %s; %s are retained", ref.Version, d.Versions, at.UTC().Format(time.RFC3339), p.Retain)
		return d, nil
	}
	d.Reason = fmt.Sprintf("%d versions, of which tags and branches hold on to %d", d.Versions, held)
	return d, nil
}
