package local_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/seaweedfs/seaweed-lance/internal/e2e/oracle"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/pin"
	"github.com/seaweedfs/seaweed-lance/lease"
	"github.com/seaweedfs/seaweed-lance/session"
)

// TestSessionTogether reads many tables from many goroutines, half of the time under a lease, while pylance
// appends to them, deletes, compacts and cleans up, and drops them and makes them again. Each read is compared with what
// pylance has in that version of that table.
func TestSessionTogether(t *testing.T) {
	places, readers, writers, windows, window := 12, 48, 2, 2, 2*time.Second
	metadata, index := int64(200<<10), int64(16<<10)
	if full() || underRace {
		places, readers, writers, windows, window = 200, 1000, 4, 4, 30*time.Second
		metadata, index = 1<<20, 64<<10
	}
	lances := make([]*oracle.Lance, writers)
	for i := range lances {
		lances[i] = oracle.Start(t, oracle.Newest)
	}
	s, err := session.New(session.Options{Tables: places / 2, MetadataBytes: metadata, IndexBytes: index})
	if err != nil {
		t.Fatal(err)
	}
	book := newTagBook()
	leases := lease.New(lease.Options{Holder: "together", Now: book.clock.Now, After: book.clock.After})
	root := t.TempDir()
	all := make([]*contested, places)
	for i := range all {
		all[i] = newContested(root, i)
		if err := all[i].step(lances[i%writers], rand.New(rand.NewPCG(1, uint64(i)))); err != nil {
			t.Fatal(err)
		}
	}

	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var n tally
	var wg sync.WaitGroup
	for g := range readers {
		wg.Go(func() {
			x := &reader{s: s, leases: leases, tags: book, r: rand.New(rand.NewPCG(3, uint64(g))), n: &n, kept: make(map[*contested]keptTable)}
			for ctx.Err() == nil && !t.Failed() {
				c := all[x.r.IntN(places)]
				// A read that has begun is read to its end.
				if err := x.once(context.WithoutCancel(ctx), c, book.location(c.dir)); err != nil {
					t.Error(err)
				}
				if x := s.Stats(); x.Metadata.Bytes > metadata || x.Index.Bytes > index || x.Tables > places/2 {
					t.Errorf("%+v", x)
				}
			}
		})
	}
	begin, steps := time.Now(), 0
	for range windows {
		steps += change(t, all, lances, time.Now().Add(window))
		book.pass()
	}
	took := time.Since(begin)
	stop()
	wg.Wait()
	written := book.written.Load()
	for _, c := range all {
		isNewest(t, s, book, c)
	}
	x, y := s.Stats(), leases.Stats()
	versions, tags, twice := book.counts()
	if len(twice) > 0 {
		t.Errorf("%d versions got more than one tag within five minutes: %v", len(twice), twice)
	}
	if versions != tags || written < int64(tags) || written-int64(tags) > n.untagged.Load() || y.Taken < int64(tags) {
		t.Errorf("%d tags were written, %d pinned %d versions, %d takes found them gone, %+v", written, tags, versions, n.untagged.Load(), y)
	}
	if n.reads.Load() == 0 || n.leased.Load() == 0 || x.StartOvers == 0 || x.Moves == 0 || x.Metadata.Evicted == 0 || x.Index.Entries+int(x.Index.Evicted) == 0 {
		t.Errorf("%d reads, %d leased, %+v", n.reads.Load(), n.leased.Load(), x)
	}
	if err := leases.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	for _, c := range all {
		untagged(t, c.dir)
	}
	t.Logf("%d steps and %d reads (%.0f/s; %d leased, %d of older versions) of %d rows; no table %d, gone %d; %d tags written for %d versions; %+v; %+v",
		steps, n.reads.Load(), float64(n.reads.Load())/took.Seconds(), n.leased.Load(), n.older.Load(), n.rows.Load(),
		n.noTable.Load(), n.gone.Load(), written, versions, x, y)
}

// isNewest makes sure that when all is quiet the newest version is opened and whole.
func isNewest(t *testing.T, s *session.Session, book *tagBook, c *contested) {
	t.Helper()
	want := c.newest(time.Now())
	tab, err := s.Open(t.Context(), book.location(c.dir))
	if err != nil {
		t.Errorf("in the end: %v", err)
		return
	}
	x := &reader{r: rand.New(rand.NewPCG(9, uint64(c.place))), n: new(tally)}
	got, err := x.scan(t.Context(), c, tab)
	if err != nil || got != want.table || tab.Version() != want.version {
		t.Errorf("in the end place %d has version %d of table %d, and not %d of %d: %v", c.place, tab.Version(), got, want.version, want.table, err)
	}
}

// untagged makes sure that no lease has left a tag.
func untagged(t *testing.T, dir string) {
	t.Helper()
	names, err := table.TagNames(t.Context(), store(t, dir))
	if err != nil {
		t.Error(err)
	}
	if slices.ContainsFunc(names, func(tag string) bool { _, ok := pin.ParseTag(tag); return ok }) {
		t.Errorf("tags left in %s: %q", dir, names)
	}
}
