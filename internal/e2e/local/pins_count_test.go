package local_test

import (
	"context"
	"fmt"
	"path"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/location"
	"github.com/seaweedfs/seaweed-lance/internal/objects/dirstore"
	"github.com/seaweedfs/seaweed-lance/internal/pin"
	"github.com/seaweedfs/seaweed-lance/lease"
	"github.com/seaweedfs/seaweed-lance/session"
)

// tagBook knows which tags were written, and which of them pinned what.
type tagBook struct {
	clock *leaseClock

	// written counts the tags that were written, whatever became of them.
	written atomic.Int64

	// turn is held for reading by a Take, and for writing while time goes on.
	turn sync.RWMutex
	mu   struct {
		sync.Mutex
		// window counts the stretches of five minutes; within one the clock stands still.
		window int
		// tags are those that pinned a version within a window.
		tags map[pinned]map[string]bool
		// given are all of them.
		given map[string]bool
		// tables are the tables to which manifests belong.
		tables map[manifest]int
	}
}

// manifest is a version of a place by its manifest object.
type manifest struct {
	dir     string
	version uint64
	etag    string
}

type pinned struct {
	manifest
	window int
}

func newTagBook() *tagBook {
	b := &tagBook{clock: &leaseClock{now: time.Now()}}
	b.mu.tags = make(map[pinned]map[string]bool)
	b.mu.given = make(map[string]bool)
	b.mu.tables = make(map[manifest]int)
	return b
}

// location is a directory in which the tags are counted that are written.
func (b *tagBook) location(dir string) session.Location {
	return location.New("counted "+dir, dir, func(context.Context) (location.Place, error) {
		s, err := dirstore.New(dir, dirstore.Options{NoSync: true})
		if err != nil {
			return location.Place{}, err
		}
		return location.Place{Store: &countedStore{s, b}, Moved: s.Moved}, nil
	})
}

// countedStore counts the leases' tags that are written.
type countedStore struct {
	*dirstore.Store
	book *tagBook
}

func (s *countedStore) Publish(ctx context.Context, name string, content []byte) error {
	err := s.Store.Publish(ctx, name, content)
	if tag, _ := strings.CutSuffix(path.Base(name), ".json"); err == nil && path.Dir(name) == table.TagsDir {
		if _, ok := pin.ParseTag(tag); !ok {
			return fmt.Errorf("a tag of another name: %s", name)
		}
		s.book.written.Add(1)
	}
	return err
}

// take takes a lease and writes down by which tag.
func (b *tagBook) take(ctx context.Context, leases *lease.Leases, c *contested, t *session.Table) (*lease.Lease, error) {
	b.turn.RLock()
	defer b.turn.RUnlock()
	le, err := leases.Take(ctx, t)
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	k := pinned{manifest{c.dir, t.Version(), t.ETag()}, b.mu.window}
	if b.mu.tags[k] == nil {
		b.mu.tags[k] = make(map[string]bool)
	}
	b.mu.tags[k][le.Tag()] = true
	b.mu.given[le.Tag()] = true
	return le, nil
}

// same makes sure that one manifest always stands for the same table.
func (b *tagBook) same(c *contested, t *session.Table, of int) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	k := manifest{c.dir, t.Version(), t.ETag()}
	if was, ok := b.mu.tables[k]; ok && was != of {
		return fmt.Errorf("version %d of place %d, %s, is of table %d and was of table %d", t.Version(), c.place, k.etag, of, was)
	}
	b.mu.tables[k] = of
	return nil
}

// pass lets a little more than five minutes pass for the leases.
func (b *tagBook) pass() {
	b.turn.Lock()
	defer b.turn.Unlock()
	b.mu.Lock()
	b.mu.window++
	b.mu.Unlock()
	b.clock.add(5*time.Minute + time.Second)
}

// counts are the versions that were pinned, each once for every window, the tags that pinned them, and those
// that are one too many.
func (b *tagBook) counts() (versions, tags int, twice []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for k, names := range b.mu.tags {
		if len(names) != 1 {
			twice = append(twice, fmt.Sprintf("%+v: %v", k, names))
		}
	}
	return len(b.mu.tags), len(b.mu.given), twice
}

// leaseClock is a clock of leases that stands still between two calls of add.
type leaseClock struct {
	mu     sync.Mutex
	now    time.Time
	timers []*leaseTimer
}

type leaseTimer struct {
	at time.Time
	f  func()
}

func (c *leaseClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *leaseClock) After(d time.Duration, f func()) func() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &leaseTimer{c.now.Add(d), f}
	c.timers = append(c.timers, t)
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		was := t.f != nil
		t.f = nil
		return was
	}
}

// add lets time pass and waits until what was due has been done.
func (c *leaseClock) add(d time.Duration) {
	c.mu.Lock()
	c.now = c.now.Add(d)
	var due []func()
	kept := c.timers[:0]
	for _, t := range c.timers {
		switch {
		case t.f == nil:
		case t.at.After(c.now):
			kept = append(kept, t)
		default:
			due = append(due, t.f)
			t.f = nil
		}
	}
	clear(c.timers[len(kept):])
	c.timers = kept
	c.mu.Unlock()
	var wg sync.WaitGroup
	for _, f := range due {
		wg.Go(f)
	}
	wg.Wait()
}
