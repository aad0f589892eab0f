package local_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/seaweedfs/seaweed-lance/lease"
	"github.com/seaweedfs/seaweed-lance/session"
)

// reader reads contested tables, one after the other.
type reader struct {
	s      *session.Session
	leases *lease.Leases
	tags   *tagBook
	r      *rand.Rand
	n      *tally
	// kept is what was opened some time ago, at that time.
	kept map[*contested]keptTable
}

type keptTable struct {
	*session.Table
	at time.Time
}

// tally counts what readers met.
type tally struct {
	reads, leased, older, rows, noTable, gone, untagged atomic.Int64
}

// projections are the columns that are read; each begins with one that tells the row.
var projections = [][]string{nil, {"id"}, {"text", "f"}, {"s.b", "l"}, {"l", "id", "s"}, {"s", "text"}}

// once reads the newest version of a table or an older one, and accounts for what came of it.
func (x *reader) once(ctx context.Context, c *contested, l session.Location) error {
	if k, ok := x.kept[c]; ok {
		delete(x.kept, c)
		_, err := x.read(ctx, c, k.Table, k.at, true)
		return err
	}
	from, leave := c.enter()
	tab, err := x.s.Open(ctx, l)
	older := err == nil && x.r.IntN(3) == 0
	if older {
		tab, err = x.s.OpenVersion(ctx, l, 1+x.r.Uint64N(tab.Version()))
	}
	leave()
	if older && errors.Is(err, session.ErrGone) {
		x.n.gone.Add(1) // cleaned up, or never made
		return nil
	}
	if err != nil {
		return x.excused(err, c, from, false)
	}
	if older {
		x.n.older.Add(1)
	}
	if x.r.IntN(8) == 0 {
		x.kept[c] = keptTable{tab, from} // for the next time that it comes here
		return nil
	}
	table, err := x.read(ctx, c, tab, from, x.r.IntN(2) == 0)
	if err != nil || table < 0 {
		return err
	}
	floor := c.newest(from)
	if table > floor.table || table == floor.table && (older || tab.Version() >= floor.version) {
		return nil
	}
	// While it is dropped a table may seem to be what it was once.
	return x.excused(fmt.Errorf("version %d of table %d, and since %v there was version %d of table %d: %w", tab.Version(), table,
		floor.at.Format(time.StampMilli), floor.version, floor.table, session.ErrGone), c, from, true)
}

// read reads a version, under a lease or without one, by a look that began then. It returns which table of the place
// it was, -1 when it has gone.
func (x *reader) read(ctx context.Context, c *contested, tab *session.Table, begin time.Time, leased bool) (int, error) {
	if leased {
		le, err := x.tags.take(ctx, x.leases, c, tab)
		if errors.Is(err, lease.ErrGone) {
			x.n.untagged.Add(1)
		}
		if err != nil {
			return -1, x.excused(err, c, begin, false)
		}
		defer le.Release()
		if !le.Pinned() {
			return -1, errors.New("not pinned")
		}
		x.n.leased.Add(1)
	}
	table, err := x.scan(ctx, c, tab)
	if err != nil {
		return -1, x.excused(err, c, begin, leased)
	}
	x.n.reads.Add(1)
	return table, x.tags.same(c, tab, table)
}

// excused is nil when an error is one that a reader has to live with, by what happened meanwhile.
func (x *reader) excused(err error, c *contested, begin time.Time, leased bool) error {
	switch {
	case errors.Is(err, session.ErrNoTable):
		x.n.noTable.Add(1)
	case errors.Is(err, session.ErrGone):
		x.n.gone.Add(1)
	default:
		return err
	}
	if c.excused(begin, time.Now(), leased) {
		return nil
	}
	return fmt.Errorf("nothing was removed between %v and now (leased: %v): %w", begin.Format(time.StampMilli), leased, err)
}

// scan reads a version and compares every value. It returns which table of the place it was.
func (x *reader) scan(ctx context.Context, c *contested, tab *session.Table) (int, error) {
	o := session.ScanOptions{Columns: projections[x.r.IntN(len(projections))], Threads: 1 + x.r.IntN(2)}
	if x.r.IntN(2) == 0 {
		o.Offset = x.r.Uint64N(tab.Rows())
	}
	if x.r.IntN(2) == 0 {
		limit := 1 + x.r.Uint64N(tab.Rows())
		o.Limit = &limit
	}
	if x.r.IntN(2) == 0 {
		o.BatchRows = 1 + x.r.IntN(30)
	}
	rows, err := tab.Scan(ctx, o)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	table, at := -1, 0
	var want []int64
	for batch, err := range rows.All(ctx) {
		if err != nil {
			return 0, err
		}
		if table < 0 {
			if table, want, err = c.wanted(tab, batch, o); err != nil {
				return 0, err
			}
		}
		for i := range int(batch.NumRows()) {
			if at == len(want) {
				return 0, fmt.Errorf("version %d of table %d of place %d has more than %d rows", tab.Version(), table, c.place, at)
			}
			for k, column := range batch.Columns() {
				if bad := wrong(batch.ColumnName(k), column, i, want[at]); bad != "" {
					return 0, fmt.Errorf("row %d of version %d of table %d of place %d: %s", at, tab.Version(), table, c.place, bad)
				}
			}
			at++
		}
		if x.r.IntN(20) == 0 {
			return table, nil // that was enough
		}
	}
	if table < 0 || at != len(want) {
		return 0, fmt.Errorf("version %d of table %d of place %d has %d rows of %d", tab.Version(), table, c.place, at, len(want))
	}
	x.n.rows.Add(int64(at))
	return table, nil
}

// wanted is what a scan has to return, by the first of its rows, which names the table.
func (c *contested) wanted(tab *session.Table, batch arrow.RecordBatch, o session.ScanOptions) (int, []int64, error) {
	id := int64(-1)
	for _, column := range batch.Columns() {
		if id < 0 && batch.NumRows() > 0 && column.DataType().ID() != arrow.LIST {
			id = idIn(column, 0)
		}
	}
	table := int(id/perTable) - c.place*tablesOf
	all := c.holds(table, tab.Version())
	if id < 0 || len(all) == 0 || uint64(len(all)) != tab.Rows() {
		return 0, nil, fmt.Errorf("version %d of place %d: its first row is %d, it should have %d rows and says %d", tab.Version(), c.place, id, len(all), tab.Rows())
	}
	if mark := fmt.Sprint(c.base(table)); c.marked && tab.ID() != mark || !c.marked && tab.ID() != "" {
		return 0, nil, fmt.Errorf("rows of table %s under the mark %q", mark, tab.ID())
	}
	want := slices.Clone(all[min(o.Offset, uint64(len(all))):])
	if o.Limit != nil {
		want = want[:min(*o.Limit, uint64(len(want)))]
	}
	return table, want, nil
}
