package lanceworker

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seaweedfs/seaweedfs/weed/pb/plugin_pb"
)

// attributes of an observation as text.
func attributes(o *plugin_pb.ObjectObservation) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(o.GetAttributes())) {
		switch v := o.GetAttributes()[name].GetKind().(type) {
		case *plugin_pb.ConfigValue_Int64Value:
			parts = append(parts, fmt.Sprintf("%s=%d", name, v.Int64Value))
		case *plugin_pb.ConfigValue_StringValue:
			parts = append(parts, name+"="+v.StringValue)
		}
	}
	return strings.Join(parts, " ")
}

// looks counts what an observer reads by itself.
type looks struct {
	looks, counts int
	facts         facts
	versions      int
	err, countErr error
}

func (l *looks) observer(c *clock, link announcer) *observer {
	return &observer{link: link, now: c.now,
		look: func(context.Context, entry) (facts, error) {
			l.looks++
			return l.facts, l.err
		},
		count: func(context.Context, entry) (int, error) {
			l.counts++
			return l.versions, l.countErr
		},
	}
}

func TestObserve(t *testing.T) {
	made := time.Unix(1_700_000_000, 0)
	known := facts{version: 7, made: made, rows: 100, fragments: 3, schema: "[]"}
	whole := "fragments=3 rows=100 schema=[] version=7 versions=5"
	// Each step is one look by a job; the want is what is observed of it, "" for
	// nothing, and how much had to be read for it.
	type step struct {
		later         time.Duration
		f             finding
		want          string
		looks, counts int
	}
	compacts := func(f facts) finding { return finding{facts: &f} }
	newer := known
	newer.version, newer.rows = 8, 200
	remade := known
	remade.made = made.Add(time.Hour)
	for name, steps := range map[string][]step{
		"the number of versions is counted once": {
			{f: compacts(known), want: whole, counts: 1},
			{later: 10 * time.Minute, f: compacts(known), want: whole},
			{later: 49 * time.Minute, f: compacts(known), want: whole},
			{later: time.Minute, f: compacts(known), want: whole, counts: 1},
		},
		"a new version": {
			{f: compacts(known), want: whole, counts: 1},
			{f: compacts(newer), want: "fragments=3 rows=200 schema=[] version=8 versions=5", counts: 1},
		},
		"a table made anew": {
			{f: compacts(known), want: whole, counts: 1},
			{f: compacts(remade), want: whole, counts: 1},
		},
		"cleanup alone": {
			{f: finding{newest: 7, versions: 9}, want: "fragments=3 rows=100 schema=[] version=7 versions=9", looks: 1},
			{later: 10 * time.Minute, f: finding{newest: 7, versions: 9}},
			{later: time.Minute, f: finding{newest: 7, versions: 8}, want: "fragments=3 rows=100 schema=[] version=7 versions=8", looks: 1},
			{later: 20 * time.Minute, f: finding{newest: 7, versions: 8}, want: "fragments=3 rows=100 schema=[] version=7 versions=8", looks: 1},
			// A version came between the job's look and this one: its number is old.
			{f: finding{newest: 6, versions: 8}, want: "fragments=3 rows=100 schema=[] version=7 versions=8", looks: 1},
		},
		"cleanup knows what compaction saw": {
			{f: compacts(known), want: whole, counts: 1},
			{f: finding{newest: 7, versions: 5}},
			{f: finding{newest: 7, versions: 2}, want: "fragments=3 rows=100 schema=[] version=7 versions=2", looks: 1},
			{f: compacts(known), want: "fragments=3 rows=100 schema=[] version=7 versions=2"},
		},
		"nothing was seen": {{f: finding{seen: true}}},
	} {
		t.Run(name, func(t *testing.T) {
			c, l := newClock(), &looks{facts: known, versions: 5}
			o := l.observer(c, new(fakeLink))
			for i, s := range steps {
				c.advance(s.later)
				l.looks, l.counts = 0, 0
				got := o.observe(t.Context(), lakeOf("lab$ml$v").entries[0], s.f)
				if attributes(got) != s.want || l.looks != s.looks || l.counts != s.counts {
					t.Errorf("step %d: %q with %d looks and %d counts, want %q with %d and %d", i, attributes(got), l.looks, l.counts, s.want, s.looks, s.counts)
				}
				if got != nil && (!slices.Equal(got.GetObjectId(), []string{"lab", "ml", "v"}) || got.GetObjectKind() != "table" || got.GetFormat() != "LANCE" || !got.GetObservedAt().AsTime().Equal(c.now())) {
					t.Errorf("step %d: %v", i, got)
				}
			}
		})
	}
}

func TestObserveErrors(t *testing.T) {
	c, l := newClock(), &looks{err: errFake, countErr: errFake}
	o := l.observer(c, new(fakeLink))
	e := lakeOf("a").entries[0]
	if got := o.observe(t.Context(), e, finding{newest: 1, versions: 2}); got != nil {
		t.Errorf("of a table that can't be read: %v", got)
	}
	if got := attributes(o.observe(t.Context(), e, finding{facts: &facts{version: 1}})); got != "fragments=0 rows=0 schema= version=1" {
		t.Errorf("without the number of versions: %s", got)
	}
	if got := o.observe(t.Context(), evil("a"), finding{facts: &facts{version: 1}}); got != nil {
		t.Errorf("of a table that must not be opened: %v", got)
	}
}

// A sweep reports every table that could be opened, also one that needs no job
// and one that a job refuses.
func TestSweepReports(t *testing.T) {
	r := newRig(t, &fakeJob{look: func(_ context.Context, name string) (finding, error) {
		f := finding{seen: true, facts: &facts{version: 1, versions: 1}}
		switch name {
		case "due":
			f.due = true
		case "refused":
			return f, errFake
		case "closed":
			return finding{}, errFake
		}
		return f, nil
	}}, lakeOf("due", "fine", "refused", "closed"))
	r.sweepOnce(t, 0)
	if len(r.link.said) != 0 {
		t.Errorf("nobody wanted %v", r.link.said)
	}
	r.link.wanted = true
	r.clock.advance(time.Hour)
	r.sweepOnce(t, 0)
	if want := []string{"lance_fake:due", "lance_fake:fine", "lance_fake:refused"}; !slices.Equal(r.link.said, want) {
		t.Errorf("observed %v, want %v", r.link.said, want)
	}
	if r.link.keep == nil || !r.link.keep([]string{"due"}) || r.link.keep([]string{"gone"}) {
		t.Error("what is gone is kept, or the other way round")
	}
	if len(r.observer.mu.known) != 3 {
		t.Errorf("knows %v", r.observer.mu.known)
	}
	r.lake.entries = r.lake.entries[:1]
	r.sweepOnce(t, 0)
	if len(r.observer.mu.known) != 1 {
		t.Errorf("still knows %v", r.observer.mu.known)
	}
}

// observing is a sender as weed may have it one day.
type observing struct {
	detection
	reports []*plugin_pb.WorkerObservations
}

func (o *observing) SendObservations(r *plugin_pb.WorkerObservations) error {
	o.reports = append(o.reports, r)
	o.order = append(o.order, "observations")
	return nil
}

func TestSenderTakesObservations(t *testing.T) {
	var names []string
	for i := range maxReport + 1 {
		names = append(names, fmt.Sprint("t", i))
	}
	r := newRig(t, &fakeJob{look: func(context.Context, string) (finding, error) {
		return finding{seen: true, facts: &facts{version: 1, versions: 1}}, nil
	}}, lakeOf(names...))
	r.link.wanted = true
	d := new(observing)
	if err := r.Detect(t.Context(), detectionRequest(0), d); err != nil {
		t.Fatal(err)
	}
	if len(r.link.said) != 0 {
		t.Errorf("the companion got %d of them, too", len(r.link.said))
	}
	if len(d.reports) != 2 || len(d.reports[0].GetObservations()) != maxReport || len(d.reports[1].GetObservations()) != 1 || d.reports[1].GetJobType() != "lance_fake" {
		t.Errorf("%d reports", len(d.reports))
	}
	if d.order[0] != "observations" || d.order[len(d.order)-1] != "complete" {
		t.Errorf("order %v", d.order)
	}
}

// After a job that changed a table, what is known of it is read anew.
func TestObservedAfterAJob(t *testing.T) {
	changed := true
	r := newRig(t, &fakeJob{do: func(context.Context, string, reportFunc) (outcome, error) {
		return outcome{changed: changed}, nil
	}}, lakeOf("a"))
	l := &looks{facts: facts{version: 9, rows: 1}, versions: 2}
	r.handler.observer = l.observer(r.clock, r.link)
	for _, wanted := range []bool{false, true} {
		r.link.wanted = wanted
		if err := r.Execute(t.Context(), jobOn("a"), new(execution)); err != nil {
			t.Fatal(err)
		}
		if got := len(r.link.said) == 1; got != wanted {
			t.Errorf("wanted %v: observed %v", wanted, r.link.said)
		}
	}
	if got := attributes(r.link.seen["a"]); got != "fragments=0 rows=1 schema= version=9 versions=2" {
		t.Errorf("observed %s", got)
	}
	changed = false
	if err := r.Execute(t.Context(), jobOn("a"), new(execution)); err != nil || len(r.link.said) != 1 {
		t.Errorf("after a job that changed nothing: %v, %v", r.link.said, err)
	}
	changed, l.err = true, errors.New("gone")
	if err := r.Execute(t.Context(), jobOn("a"), new(execution)); err != nil || len(r.link.said) != 1 {
		t.Errorf("of a table that is gone: %v, %v", r.link.said, err)
	}
}
