package local_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/seaweedfs/seaweed-lance/internal/e2e/oracle"
	"github.com/seaweedfs/seaweed-lance/internal/lance/cleanup"
	"github.com/seaweedfs/seaweed-lance/internal/objects/dirstore"
)

// contested is a place whose tables are appended to, dropped and made again while they are read. One
// goroutine changes it.
type contested struct {
	place  int
	dir    string
	marked bool
	// byLance lets pylance clean it up, too, which takes no second look at tags.
	byLance bool

	mu struct {
		sync.Mutex
		// table is the one that is made now or was made last, version its newest that is whole.
		table   int
		version uint64
		// steps are those of each table: from which version on it has how many behind it.
		steps map[int][]since
		// drops and cleanups are when there were any; the end is zero while it goes on.
		drops, cleanups []span
		// whole are the versions, each from when on it was the newest for certain.
		whole []moment
		// opening are the calls under way that look for the newest version, by when they began.
		opening map[*time.Time]bool
	}
	n int
}

type since struct {
	version uint64
	n       int
}

type span struct{ from, to time.Time }

// moment is a version of a table, and since when it was there.
type moment struct {
	at      time.Time
	table   int
	version uint64
}

// during tells whether one of the spans has to do with what went on between from and to.
func during(spans []span, from, to time.Time) bool {
	return slices.ContainsFunc(spans, func(s span) bool {
		return !s.from.After(to) && (s.to.IsZero() || !s.to.Before(from))
	})
}

func newContested(root string, place int) *contested {
	c := &contested{place: place, dir: filepath.Join(root, fmt.Sprint(place)), marked: place%2 == 0, byLance: place%5 == 3}
	c.mu.steps = make(map[int][]since)
	c.mu.opening = make(map[*time.Time]bool)
	return c
}

// holds are the ids that a version of a table has, nil when there is no such version.
func (c *contested) holds(table int, version uint64) []int64 {
	c.mu.Lock()
	n := 0
	for _, s := range c.mu.steps[table] {
		if s.version <= version {
			n = s.n
		}
	}
	c.mu.Unlock()
	ids := idsAfter(c.place, n)
	for i := range ids {
		ids[i] += c.base(table)
	}
	return ids
}

func (c *contested) base(table int) int64 { return (int64(c.place)*tablesOf + int64(table)) * perTable }

// enter is the begin of a call that opens the newest version. It returns when the look at the store began at the
// earliest that answers it: that of a call that was under way. leave is its end.
func (c *contested) enter() (from time.Time, leave func()) {
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mu.opening[&now] = true
	from = now
	for at := range c.mu.opening {
		if at.Before(from) {
			from = *at
		}
	}
	return from, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.mu.opening, &now)
	}
}

// newest is the version that a look at that time or later must find, or one after it.
func (c *contested) newest(at time.Time) (m moment) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, w := range c.mu.whole {
		if !w.at.After(at) {
			m = w
		}
	}
	return m
}

// step changes the place, and has pylance say that it is what it should be.
func (c *contested) step(lance *oracle.Lance, r *rand.Rand) error {
	if c.n > 0 && r.IntN(5) == 0 {
		return c.clean(lance, r)
	}
	c.mu.Lock()
	if c.n++; c.n > 12 || c.n > 1 && r.IntN(8) == 0 || c.mu.table == 0 {
		c.n = 1
		c.mu.table++
		c.mu.version = 0
		c.mu.drops = append(c.mu.drops, span{from: time.Now()})
	}
	table := c.mu.table
	c.mu.steps[table] = append(c.mu.steps[table], since{c.mu.version + 1, c.n})
	c.mu.Unlock()
	if c.n == 1 {
		if err := removeAll(c.dir); err != nil {
			return err
		}
	}
	var got struct {
		Version uint64
		IDs     []int64
	}
	err := lance.Try("run", oracle.Args{"code": stepsOf, "uri": c.dir, "kind": kindOf(c.place, c.n), "step": c.n,
		"base": c.base(table), "marked": c.marked}, &got)
	if err != nil {
		return err
	}
	if want := c.holds(table, got.Version); !slices.Equal(got.IDs, want) {
		return fmt.Errorf("after step %d, version %d: pylance reads %v, not %v", c.n, got.Version, got.IDs, want)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mu.version = got.Version
	c.mu.whole = append(c.mu.whole, moment{time.Now(), table, got.Version})
	if c.n == 1 {
		c.mu.drops[len(c.mu.drops)-1].to = time.Now()
	}
	return nil
}

// removeAll removes a directory in which tags are being made.
func removeAll(dir string) (err error) {
	for range 1000 {
		if err = os.RemoveAll(dir); !errors.Is(err, syscall.ENOTEMPTY) {
			return err
		}
	}
	return err
}

// clean takes old versions away.
func (c *contested) clean(lance *oracle.Lance, r *rand.Rand) (err error) {
	c.mu.Lock()
	c.mu.cleanups = append(c.mu.cleanups, span{from: time.Now()})
	at := len(c.mu.cleanups) - 1
	c.mu.Unlock()
	if c.byLance {
		err = lance.Try("cleanup", oracle.Args{"uri": c.dir, "delete_unverified": true}, nil)
	} else {
		s, e := dirstore.New(c.dir, dirstore.Options{NoSync: true})
		if e != nil {
			return e
		}
		_, err = cleanup.Run(context.Background(), s, cleanup.Options{Policy: cleanup.Policy{MinVersions: 1 + r.IntN(3)}})
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mu.cleanups[at].to = time.Now()
	return err
}

// excused tells whether a version may have gone between two moments, by what was done to the place.
func (c *contested) excused(from, to time.Time, leased bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	// A lease keeps what a cleanup of this module would take.
	return during(c.mu.drops, from, to) || (!leased || c.byLance) && during(c.mu.cleanups, from, to)
}

// change takes step after step in all places, each with one of the oracles, until the time is over.
func change(t *testing.T, all []*contested, lances []*oracle.Lance, until time.Time) (steps int) {
	t.Helper()
	var wg sync.WaitGroup
	done := make([]int, len(lances))
	for w, lance := range lances {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(w), uint64(until.UnixNano())))
			for time.Now().Before(until) && !t.Failed() {
				c := all[w+len(lances)*r.IntN((len(all)-w+len(lances)-1)/len(lances))]
				if err := c.step(lance, r); err != nil {
					t.Errorf("changing place %d: %v", c.place, err)
				}
				done[w]++
			}
		})
	}
	wg.Wait()
	for _, n := range done {
		steps += n
	}
	return steps
}
