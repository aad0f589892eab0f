package cleanup

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/seaweedfs/seaweed-lance/internal/lance/journal"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

const (
	// Manifests are read maxReaders at a time, fewer when they are large:
	// together they should not exceed readAhead.
	maxReaders = 8
	readAhead  = 256 << 20
	// loose marks what no version that goes names.
	loose = -1
)

// survey is what a run knows about the table.
type survey struct {
	store   objects.Store
	listing *table.Listing
	newest  *table.Table
	records []*journal.Record
	pins    pins
	policy  Policy
	// due are the versions that go, in ascending order.
	due  []table.VersionRef
	kept []Kept
	// named says for each name who names it.
	named map[string]naming
	// left are the versions that were removed so far.
	left []table.VersionRef
	// vanished are the manifests that were listed and gone when they were read:
	// another cleaner's, who may publish them again.
	vanished map[string]bool
	// branches holds the manifests of branches that were read.
	branches map[string]bool
}

type naming struct {
	// kept: a version that stays names it.
	kept bool
	// last is the position in due of the newest version that goes and names it.
	last int
}

// pins are the versions of the main branch that somebody holds on to.
type pins map[uint64]string

// readPins finds them. Tags that are abandoned, if that is to be asked, pin nothing.
func readPins(ctx context.Context, s objects.Store, abandoned func(tag string) bool) (pins, error) {
	p := make(pins)
	if err := p.addTags(ctx, s, abandoned); err != nil {
		return nil, err
	}
	return p, p.addBranches(ctx, s)
}

func (p pins) addTags(ctx context.Context, s objects.Store, abandoned func(tag string) bool) error {
	tags, err := table.Tags(ctx, s)
	if err != nil {
		return err
	}
	for _, t := range tags {
		if t.Branch == "" && (abandoned == nil || !abandoned(t.Name)) {
			p[t.Version] = fmt.Sprintf("tag %q names it", t.Name)
		}
	}
	return nil
}

func (p pins) addBranches(ctx context.Context, s objects.Store) error {
	branches, err := table.Branches(ctx, s)
	if err != nil {
		return err
	}
	for _, b := range branches {
		if b.ParentBranch == "" {
			p[b.ParentVersion] = fmt.Sprintf("branch %q starts at it", b.Name)
		}
	}
	return nil
}

// look surveys the table. The order matters: a tag that is made for a version
// while a cleaner removes it is either seen here, or by that cleaner.
func look(ctx context.Context, s objects.Store, o Options, now time.Time) (*survey, error) {
	v := &survey{store: s, named: make(map[string]naming), branches: make(map[string]bool), vanished: make(map[string]bool)}
	var err error
	if v.listing, err = table.ListVersions(ctx, s); err != nil {
		return nil, err
	}
	if len(v.listing.Versions) == 0 {
		return nil, fmt.Errorf("%s: %w", s, table.ErrNoTable)
	}
	if v.records, err = journal.List(ctx, s); err != nil {
		return nil, err
	}
	// A run has removed the abandoned tags; one that is still there could not be.
	var absent func(string) bool
	if o.DryRun {
		absent = o.Abandoned
	}
	if v.pins, err = readPins(ctx, s, absent); err != nil {
		return nil, err
	}
	last := v.listing.Versions[len(v.listing.Versions)-1]
	if v.newest, err = open(ctx, s, v.listing, last); err != nil {
		return nil, err
	}
	if err := ownRoot(s, v.newest); err != nil {
		return nil, err
	}
	own, err := ownPolicy(v.newest)
	if err != nil {
		return nil, err
	}
	v.policy = o.Policy.with(own)
	if err := v.readVersions(ctx, v.policy, now); err != nil {
		return nil, err
	}
	if err := v.readOthers(ctx, v.listing, v.listing.Detached); err != nil {
		return nil, err
	}
	return v, v.readBranches(ctx)
}

// ownRoot refuses a branch.
func ownRoot(s objects.Store, newest *table.Table) error {
	if b := newest.Manifest().GetBranch(); b != "" {
		return fmt.Errorf("%s: %w: it is branch %q of a table; what its tags and branches need can only be seen from the table's own root", s, table.ErrRefused, b)
	}
	return nil
}

// open reads one version and refuses it unless everything in it is understood.
func open(ctx context.Context, s objects.Store, l *table.Listing, ref table.VersionRef) (*table.Table, error) {
	return accept(table.OpenRef(ctx, s, l, ref))
}

// accept refuses a version unless everything in it is understood.
func accept(t *table.Table, err error) (*table.Table, error) {
	if err != nil {
		return nil, err
	}
	if err := t.Writable(); err != nil {
		return nil, err
	}
	if t.Manifest().GetWriterFeatureFlags()&table.FlagManagedBlobs != 0 {
		return nil, fmt.Errorf("%s: %w: feature flag %d: which managed blobs are still needed only its data files tell", t.Ref().Name, table.ErrRefused, table.FlagManagedBlobs)
	}
	return t, understood(t.Ref().Name, t.Manifest())
}

// floor is the lowest of the newest min versions.
func floor(versions []table.VersionRef, min int) uint64 {
	min = atLeastOne(min)
	if len(versions) <= min {
		return versions[0].Version
	}
	return versions[len(versions)-min].Version
}

// readVersions reads every version of the main branch and decides about each.
func (v *survey) readVersions(ctx context.Context, p Policy, now time.Time) error {
	versions := v.listing.Versions
	low, cutoff := floor(versions, p.MinVersions), now.Add(-p.Retain)
	goes := make([]bool, len(versions))
	var mu sync.Mutex
	err := v.eachVersion(ctx, v.listing, versions, &mu, func(i int, t *table.Table) error {
		ref := versions[i]
		at := madeAt(t)
		mu.Lock()
		defer mu.Unlock()
		if ref.Version < low && at.Before(cutoff) {
			if why, pinned := v.pins[ref.Version]; pinned {
				v.kept = append(v.kept, Kept{ref.Version, why})
			} else {
				goes[i] = true
			}
		}
		return v.name(t, goes[i], i)
	})
	if err != nil {
		return err
	}
	// Positions so far are those in the listing; the victims' own come here.
	position := make([]int, len(versions))
	for i, ref := range versions {
		if goes[i] {
			position[i] = len(v.due)
			v.due = append(v.due, ref)
		}
	}
	for name, n := range v.named {
		if n.last != loose {
			n.last = position[n.last]
			v.named[name] = n
		}
	}
	return nil
}

// name notes what a version names.
func (v *survey) name(t *table.Table, goes bool, position int) error {
	return namesOf(t, func(name string) {
		n, known := v.named[name]
		if !known {
			n.last = loose
		}
		if goes {
			n.last = max(n.last, position)
		} else {
			n.kept = true
		}
		v.named[name] = n
	})
}

// eachVersion reads versions in parallel. One below the newest that is gone
// was another cleaner's; it is noted under mu.
func (v *survey) eachVersion(ctx context.Context, l *table.Listing, refs []table.VersionRef, mu *sync.Mutex, f func(i int, t *table.Table) error) error {
	var largest int64 = 1
	for _, r := range refs {
		largest = max(largest, r.Size)
	}
	if len(l.Versions) == 0 {
		return fmt.Errorf("%s: %w any more", v.store, table.ErrNoTable)
	}
	newest := l.Versions[len(l.Versions)-1].Version
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(int(max(1, min(maxReaders, readAhead/largest))))
	for i, ref := range refs {
		g.Go(func() error {
			t, err := open(ctx, v.store, l, ref)
			if errors.Is(err, objects.ErrNotFound) && (ref.Detached || ref.Version < newest) {
				mu.Lock()
				defer mu.Unlock()
				v.vanished[ref.Name] = true
				return nil
			}
			if err != nil {
				return err
			}
			return f(i, t)
		})
	}
	return g.Wait()
}

// readOthers keeps what versions name that are not decided about.
func (v *survey) readOthers(ctx context.Context, l *table.Listing, refs []table.VersionRef) error {
	var mu sync.Mutex
	return v.eachVersion(ctx, l, refs, &mu, func(_ int, t *table.Table) error {
		mu.Lock()
		defer mu.Unlock()
		return v.name(t, false, 0)
	})
}
