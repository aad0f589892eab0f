package cleanup

import (
	"fmt"
	"time"

	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
)

// Forecast is what a look at a table says about when a cleanup is due. It is small and never
// changed, and may be kept as long as the newest version stays the same object. Whether it
// can still answer is for Stale to say:
//
//	if f.Stale(p, now) { f, err = Look(…) }
//	d := f.At(p, now)
type Forecast struct {
	// Newest version, and how many there are.
	Newest   uint64
	Versions int

	// asked is the number of the policy that the forecast is for, minVersions that or the table's own, if that is
	// more. own is what the table asks to be kept; zero where there was no need to look.
	asked, minVersions int
	own                Policy
	// unfinished says which job ended in the middle; "" when none did.
	unfinished string
	// again is when jobs that were at work have to be looked at again; zero when there were none.
	again time.Time
	// oldest is the oldest version beyond the newest that are kept, if there is one.
	oldest aged
	// pins tells that the tags and branches were looked at. Then held is how many
	// of the oldest versions they hold on to, and free the first that they don't, if
	// there is one.
	pins bool
	held int
	free aged
}

// aged is a version and when it was made.
type aged struct {
	there   bool
	version uint64
	made    time.Time
}

// due tells whether a version is older than is retained.
func (a aged) due(p Policy, now time.Time) bool { return a.there && a.made.Before(now.Add(-p.Retain)) }

// Stale tells that the table has to be looked at again for an answer: because it is due, which
// others may have seen to since; because old versions are held on to, which may have ended
// since; because another job was at work on it; or because what a look left out matters now. As
// long as a table has nothing that is due by its age, it is not stale.
func (f Forecast) Stale(p Policy, now time.Time) bool {
	switch {
	case atLeastOne(p.MinVersions) != f.asked, f.unfinished != "":
		return true
	case !f.again.IsZero() && !now.Before(f.again):
		return true
	}
	return f.oldest.due(f.own.with(p), now)
}

// Held tells that the versions that are due by their age were all held on to by tags or branches when
// that was looked at, and that nothing else was to be done.
func (f Forecast) Held(p Policy, now time.Time) bool {
	return atLeastOne(p.MinVersions) == f.asked && f.again.IsZero() && f.pins && !f.Due(p, now)
}

// Due tells whether a run would remove at least one version, or finish what another run left
// behind.
func (f Forecast) Due(p Policy, now time.Time) bool {
	return f.unfinished != "" || f.pins && f.free.due(f.own.with(p), now)
}

// At is what the forecast says for a time. What it can't tell any more, see Stale, it
// takes for not due.
func (f Forecast) At(p Policy, now time.Time) Detection {
	d := Detection{Versions: f.Versions, Newest: f.Newest, Due: f.Due(p, now)}
	made := func(a aged) string { return a.made.UTC().Format(time.RFC3339) }
	switch {
	case f.unfinished != "":
		d.Reason = f.unfinished
	case !f.oldest.there:
		d.Reason = fmt.Sprintf("%d versions, and at least %d are kept", f.Versions, f.minVersions)
	case !f.pins:
		d.Reason = fmt.Sprintf("version %d, the oldest of %d, is from %s; %s are retained", f.oldest.version, f.Versions, made(f.oldest), f.own.with(p).Retain)
	case f.free.there:
		d.Reason = fmt.Sprintf("version %d, the oldest of %d that nobody holds on to, is from %s; %s are retained", f.free.version, f.Versions, made(f.free), f.own.with(p).Retain)
	default:
		d.Reason = fmt.Sprintf("%d versions, of which tags and branches hold on to %d", f.Versions, f.held)
	}
	return d
}

func atLeastOne(n int) int { return max(1, n) }

// madeAt is when a version was made, by its own word or by the store's.
func madeAt(t *table.Table) time.Time {
	if at := t.Time(); !at.IsZero() {
		return at
	}
	return t.Ref().ModTime
}
