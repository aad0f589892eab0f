package lanceworker

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"sync"
	"time"

	"github.com/seaweedfs/seaweed-lance/internal/catalog"
	"github.com/seaweedfs/seaweed-lance/internal/lance/cleanup"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/pin"
	"github.com/seaweedfs/seaweed-lance/lanceworker/internal/pins"
	"github.com/seaweedfs/seaweed-lance/session"
)

const (
	// lookEvery is how long a table without a new version is taken to be as it was: others may
	// have removed a tag, left the record of an unfinished job or deregistered it.
	// Each table has a time of its own between this and twice this, so that the calls for it are spread over
	// the sweeps. What becomes due by age is noticed at once, and looked at before it is proposed.
	lookEvery = 6 * time.Hour
	// leasedFor is how long a version that a lease holds on to is taken to be held.
	leasedFor = time.Minute
)

// tables is what all job types of a worker share about the tables that they look at.
type tables struct {
	pins.Pins
	now  func() time.Time
	seed maphash.Seed
	mu   struct {
		sync.Mutex
		known map[string]*acquaintance
		// policy is what the last sweep for old versions went by.
		policy cleanup.Policy
	}
}

// acquaintance is what is remembered of a table, by its encoded id, as long as its newest version
// stays the same.
type acquaintance struct {
	newest  session.Version
	dataset catalog.Dataset
	looked  time.Time
	// outlooks are when versions come due, by policy; guarded by tables.mu.
	outlooks map[cleanup.Policy]outlook
}

// outlook is a forecast and how long it is good for.
type outlook struct {
	cleanup.Forecast
	made, until time.Time
}

// sighting is a table as a sweep sees it.
type sighting struct {
	entry
	known *acquaintance
}

// errWithdrawn is returned for a table that was deregistered: it is not to be seen.
var errWithdrawn = errors.New("the table is deregistered")

// look finds out whether a table has changed, and makes its acquaintance when it has. For a table that
// has not, that is one listing of one entry for all job types within session.Freshness.
func (t *tables) look(ctx context.Context, e entry) (sighting, error) {
	newest, err := t.Session.Recent(ctx, e.place)
	if err != nil {
		return sighting{}, err
	}
	name, now := encodeID(e.id), t.now()
	t.mu.Lock()
	k := t.mu.known[name]
	t.mu.Unlock()
	// The listing knows the time of a version only roughly.
	if k == nil || k.newest.Version != newest.Version || k.newest.ETag != newest.ETag || !fresh(k.looked, now, t.lookAfter(name)) {
		d, err := e.dataset(ctx)
		if err != nil {
			return sighting{}, err
		}
		if d.Withdrawn {
			return sighting{}, errWithdrawn
		}
		k = &acquaintance{newest: newest, dataset: d, looked: now, outlooks: make(map[cleanup.Policy]outlook)}
		t.mu.Lock()
		if t.mu.known == nil {
			t.mu.known = make(map[string]*acquaintance)
		}
		t.mu.known[name] = k
		t.mu.Unlock()
	}
	return sighting{e, k}, nil
}

// fresh tells whether something of that time is not older than age.
func fresh(at, now time.Time, age time.Duration) bool {
	passed := now.Sub(at)
	return passed >= 0 && passed < age
}

func (t *tables) lookAfter(name string) time.Duration {
	return lookEvery + time.Duration(maphash.String(t.seed, name)%uint64(lookEvery))
}

// still tells whether a table that is about to be proposed is still in the catalog.
func (t *tables) still(ctx context.Context, s sighting) error {
	if s.known == nil || fresh(s.known.looked, t.now(), session.Freshness) {
		return nil
	}
	d, err := s.dataset(ctx)
	if err == nil && d.Withdrawn {
		err = errWithdrawn
	}
	return err
}

// outlook is when a version of a table comes due under a policy. What says that one is due is
// never older than session.Freshness.
func (t *tables) outlook(ctx context.Context, s sighting, p cleanup.Policy) (cleanup.Forecast, error) {
	now := t.now()
	t.mu.Lock()
	o, ok := s.known.outlooks[p]
	t.mu.Unlock()
	if ok && now.Before(o.until) && (fresh(o.made, now, session.Freshness) || !o.Stale(p, now) || o.Held(p, now)) {
		return o.Forecast, nil
	}
	store, err := s.open(ctx)
	if err != nil {
		return cleanup.Forecast{}, err
	}
	o = outlook{made: now, until: now.Add(2 * lookEvery)}
	o.Forecast, err = cleanup.Look(ctx, store, cleanup.Looking{
		MinVersions: p.MinVersions, Retain: p.Retain, Now: now,
		NoRecords: !s.known.dataset.Records, NoRefs: !s.known.dataset.Refs,
		Abandoned: func(tag string) bool {
			if _, lease := pin.ParseTag(tag); lease {
				o.until = now.Add(leasedFor)
			}
			return pin.Abandoned(tag, now)
		},
	})
	if err != nil {
		return cleanup.Forecast{}, err
	}
	t.mu.Lock()
	s.known.outlooks[p] = o
	t.mu.Unlock()
	return o.Forecast, nil
}

// planBy makes a policy the one by which versions are counted, too: one listing then serves both.
func (t *tables) planBy(p cleanup.Policy) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.mu.policy = p
}

// facts reads what admin shows of the newest version.
func (t *tables) facts(ctx context.Context, e entry) (facts, error) {
	v, err := t.Session.Open(ctx, e.place)
	if err != nil {
		return facts{}, err
	}
	return factsOf(pin.Of(v).Table), nil
}

// versions counts the versions.
func (t *tables) versions(ctx context.Context, e entry) (int, error) {
	s, err := t.look(ctx, e)
	if err != nil {
		return 0, err
	}
	t.mu.Lock()
	p := t.mu.policy
	t.mu.Unlock()
	f, err := t.outlook(ctx, s, p)
	return f.Versions, err
}

// changed drops what is known of a table that a job has changed, and takes note of its
// newest version.
func (t *tables) changed(ctx context.Context, e entry) {
	t.mu.Lock()
	delete(t.mu.known, encodeID(e.id))
	t.mu.Unlock()
	// A failure shows in the next sweep.
	_, _ = t.Session.Open(ctx, e.place)
}

// keep forgets the tables that are no more.
func (t *tables) keep(exists func(table string) bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for name := range t.mu.known {
		if !exists(name) {
			delete(t.mu.known, name)
		}
	}
}

// unpinIdle removes the tags of leases on a table that nothing in this process uses any more, for a
// cleanup that is about to begin.
func (t *tables) unpinIdle(ctx context.Context, e entry) error {
	if err := t.Leases.ReleaseIdle(ctx, e.place); err != nil && !errors.Is(err, table.ErrNoTable) {
		return fmt.Errorf("removing the tags of leases that are not in use: %w", err)
	}
	return nil
}
