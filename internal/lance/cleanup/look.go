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

// jobPatience is after how long a job that was at work is looked at again: many take
// minutes, and one that died is in no hurry to be tidied up after.
const jobPatience = 10 * time.Minute

// Looking is what a Look is about.
type Looking struct {
	// MinVersions of the policy. A forecast is for that number alone.
	MinVersions int
	// Retain of the policy. A forecast is for any, but tags and branches are left
	// out when no version is that old: a shorter one then finds it stale.
	Retain time.Duration
	Now    time.Time
	// NoRecords, NoRefs and NoBranches say that the table has no directory of that kind, so
	// that it need not be listed.
	NoRecords, NoRefs, NoBranches bool
	// Abandoned tells which tags pin nothing any more; nil means that none is.
	Abandoned func(tag string) bool
}

// readPins reads those that there may be.
func (in Looking) readPins(ctx context.Context, s objects.Store) (pins, error) {
	p := make(pins)
	if err := p.addTags(ctx, s, in.Abandoned); err != nil || in.NoBranches {
		return p, err
	}
	return p, p.addBranches(ctx, s)
}

// Look finds out when a run would remove a version or finish something. It lists versions and
// the journal, reads two manifests at most where nobody holds on to versions, and lists tags and
// branches only when a version is due by its age: versions are as old as they
// are in order, so the oldest that nobody holds on to decides. What only lies around
// unnamed is not looked for; a run finds it.
func Look(ctx context.Context, s objects.Store, in Looking) (Forecast, error) {
	for i := 0; ; i++ {
		f, err := lookOnce(ctx, s, in)
		// What was the newest version has been cleaned away meanwhile.
		if i == maxLooks || !errors.Is(err, objects.ErrNotFound) {
			return f, err
		}
	}
}

func lookOnce(ctx context.Context, s objects.Store, in Looking) (Forecast, error) {
	l, err := table.ListOpen(ctx, s)
	if err != nil {
		return Forecast{}, err
	}
	versions := l.Versions
	if len(versions) == 0 {
		return Forecast{}, fmt.Errorf("%s: %w", s, table.ErrNoTable)
	}
	last := versions[len(versions)-1]
	f := Forecast{Newest: last.Version, Versions: len(versions), asked: atLeastOne(in.MinVersions), minVersions: atLeastOne(in.MinVersions)}
	var records []*journal.Record
	if !in.NoRecords {
		if records, err = journal.List(ctx, s); err != nil {
			return f, err
		}
	}
	beyond := versions[:max(0, len(versions)-f.minVersions)]
	if len(records) == 0 && len(beyond) == 0 {
		return f, nil
	}
	newest, err := accept(l.Open(ctx, last))
	if err != nil {
		return f, err
	}
	if err := ownRoot(s, newest); err != nil {
		return f, err
	}
	if f.own, err = ownPolicy(newest); err != nil {
		return f, err
	}
	f.minVersions = max(f.asked, f.own.MinVersions)
	beyond = versions[:max(0, len(versions)-f.minVersions)]
	if f.finish(records, newest, in.Now); f.unfinished != "" {
		return f, nil
	}
	return f, f.age(ctx, s, l, beyond, in)
}

// finish notes what has to be finished, or may have to be later.
func (f *Forecast) finish(records []*journal.Record, newest *table.Table, now time.Time) {
	for _, r := range records {
		switch {
		case settled(r, newest, now):
			f.unfinished = fmt.Sprintf("a %s of %s ended in the middle", r.Kind, r.Time.Format(time.RFC3339))
			return
		case r.Alive(now):
			f.again = now.Add(jobPatience)
		}
	}
}

// age finds the versions that decide, among those that may go by their number.
func (f *Forecast) age(ctx context.Context, s objects.Store, l *table.Openable, beyond []table.VersionRef, in Looking) error {
	policy := f.own.with(Policy{Retain: in.Retain})
	var pinned pins
	for _, ref := range beyond {
		if _, ok := pinned[ref.Version]; ok {
			f.held++
			continue
		}
		t, err := accept(l.Open(ctx, ref))
		if errors.Is(err, objects.ErrNotFound) {
			continue // another cleaner's
		}
		if err != nil {
			return err
		}
		this := aged{true, ref.Version, madeAt(t)}
		if !f.oldest.there {
			if f.oldest = this; !this.due(policy, in.Now) {
				return nil
			}
			f.pins = true
			if !in.NoRefs {
				if pinned, err = in.readPins(ctx, s); err != nil {
					return err
				}
			}
			if _, ok := pinned[ref.Version]; ok {
				f.held++
				continue
			}
		}
		f.free = this
		return nil
	}
	return nil
}
