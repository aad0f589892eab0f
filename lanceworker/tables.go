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
	// dueFor is how long a table that is due is taken to be due still; others may have seen to it. It doubles
	// each time that it was true, for a queue can be long.
	dueFor = session.Freshness
)

// tables is what all job types of a worker share about the tables that they look at.
type tables struct {
	pins.Pins
	now  func() time.Time
	seed maphash.Seed
	// again are the looks at tables of which all is known.
	again allowance
	mu    struct {
		sync.Mutex
		known map[string]*acquaintance
		// policy is what the last sweep for old versions went by.
		policy cleanup.Policy
	}
}

// acquaintance is what is remembered of a table, by its encoded id, as long as its newest version
// stays the same.
type acquaintance struct {
	newest session.Version
	// dataset was looked at then. good is how long that counts as true while the table is due.
	dataset catalog.Dataset
	looked  time.Time
	good    time.Duration
	// outlooks are when versions come due, by policy; guarded by tables.mu.
	outlooks map[cleanup.Policy]outlook
}

// outlook is a forecast and how long it is good for.
type outlook struct {
	cleanup.Forecast
	made time.Time
	// until is when it has to be made again; zero where it may be used until it can be.
	until time.Time
	// good is how long it counts as true while it says that something is due.
	good time.Duration
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
	same := k != nil && k.newest.Version == newest.Version && k.newest.ETag == newest.ETag
	var recent bool
	var calls int
	if same {
		recent = fresh(k.looked, now, t.lookAfter(name))
		calls = 1 + cost(k.dataset) // for the outlook, which begins anew, too
	}
	t.mu.Unlock()
	if same && (recent || !t.again.take(calls)) {
		return sighting{e, k}, nil
	}
	return t.meet(ctx, e, newest)
}

// meet looks at a table as one of which nothing is known.
func (t *tables) meet(ctx context.Context, e entry, newest session.Version) (sighting, error) {
	d, err := e.dataset(ctx)
	if err == nil && d.Withdrawn {
		err = errWithdrawn
	}
	name := encodeID(e.id)
	t.mu.Lock()
	defer t.mu.Unlock()
	if err != nil {
		delete(t.mu.known, name)
		return sighting{}, err
	}
	if t.mu.known == nil {
		t.mu.known = make(map[string]*acquaintance)
	}
	k := &acquaintance{newest: newest, dataset: d, looked: t.now(), good: dueFor, outlooks: make(map[cleanup.Policy]outlook)}
	t.mu.known[name] = k
	return sighting{e, k}, nil
}

// fresh tells whether something of that time is younger than age.
func fresh(at, now time.Time, age time.Duration) bool {
	passed := now.Sub(at)
	return passed >= 0 && passed < age
}

func (t *tables) lookAfter(name string) time.Duration {
	return lookEvery + time.Duration(maphash.String(t.seed, name)%uint64(lookEvery))
}

// still looks whether a table that is about to be proposed again is still registered.
func (t *tables) still(ctx context.Context, s sighting) error {
	now := t.now()
	t.mu.Lock()
	known := fresh(s.known.looked, now, s.known.good)
	t.mu.Unlock()
	if known || !t.again.take(1) {
		return nil
	}
	d, err := s.entry.dataset(ctx)
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if d.Withdrawn {
		delete(t.mu.known, encodeID(s.id))
		return errWithdrawn
	}
	s.known.dataset, s.known.looked, s.known.good = d, now, 2*s.known.good
	return nil
}

// outlook is when a version of a table comes due under a policy.
func (t *tables) outlook(ctx context.Context, s sighting, p cleanup.Policy) (cleanup.Forecast, error) {
	now := t.now()
	t.mu.Lock()
	o, ok := s.known.outlooks[p]
	d := s.known.dataset
	var last outlook
	for _, x := range s.known.outlooks {
		if x.made.After(last.made) {
			last = x
		}
	}
	t.mu.Unlock()
	if ok {
		due := o.Due(p, now)
		switch {
		case fresh(o.made, now, dueFor):
			return o.Forecast, nil
		case o.Stale(p, now) && !due && !o.Held(p, now): // it has come of age
		case !o.until.IsZero() && !now.Before(o.until) && t.again.take(cost(d)):
		case !due && fresh(o.made, now, t.lookAfter(encodeID(s.id))), due && fresh(o.made, now, o.good), !t.again.take(cost(d)):
			return o.Forecast, nil
		}
	}
	store, err := s.open(ctx)
	if err != nil {
		return cleanup.Forecast{}, err
	}
	o = outlook{made: now, good: max(dueFor, 2*o.good)}
	in := cleanup.Looking{
		MinVersions: p.MinVersions, Retain: p.Retain, Now: now,
		NoRecords: !d.Records, NoRefs: !d.Refs, NoBranches: !d.Branches,
		Abandoned: func(tag string) bool {
			if _, lease := pin.ParseTag(tag); lease {
				o.until = now.Add(leasedFor)
			}
			return pin.Abandoned(tag, now)
		},
	}
	// A look just before, for another policy or to count the versions, spares most of this one.
	told := false
	if fresh(last.made, now, dueFor) {
		o.Forecast, told, err = last.Refine(ctx, store, in)
	}
	if err == nil && !told {
		o.Forecast, err = cleanup.Look(ctx, store, in)
	}
	if err != nil {
		return cleanup.Forecast{}, err
	}
	t.mu.Lock()
	s.known.outlooks[p] = o
	t.mu.Unlock()
	return o.Forecast, nil
}

// cost is how many calls an outlook takes at least.
func cost(d catalog.Dataset) int {
	n := 1
	if d.Records {
		n++
	}
	if d.Refs {
		n++
	}
	if d.Refs && d.Branches {
		n++
	}
	return n
}

// planBy makes a policy the one by which versions are counted, too: one listing then serves both.
func (t *tables) planBy(p cleanup.Policy) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.mu.policy = p
}

// facts are what admin shows of the newest version. Of one that was just seen they cost no call.
func (t *tables) facts(ctx context.Context, e entry) (facts, error) {
	kept, err := t.Session.Fact(ctx, e.place, "facts", func(_ context.Context, v *session.Table) (any, error) {
		f := factsOf(pin.Of(v).Table)
		if len(f.schema) > keptSchema {
			return facts{}, nil
		}
		return f, nil
	})
	if err != nil {
		return facts{}, err
	}
	if f, _ := kept.(facts); f.version > 0 {
		return f, nil
	}
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

// changed drops what is known of a table that a job was at work on, also when it found nothing to do,
// and takes note of its newest version. What the job had pinned nobody will read again: it need not wait for that.
func (t *tables) changed(ctx context.Context, e entry) {
	// What is not removed now is later.
	_ = t.unpinIdle(ctx, e)
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
	t.again.grow(len(t.mu.known))
}

// unpinIdle removes the tags of leases on a table that nothing in this process uses any more, for a
// cleanup that is about to begin.
func (t *tables) unpinIdle(ctx context.Context, e entry) error {
	if err := t.Leases.ReleaseIdle(ctx, e.place); err != nil {
		return fmt.Errorf("removing the tags of leases that are not in use: %w", err)
	}
	return nil
}
