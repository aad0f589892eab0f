package cleanup

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/seaweedfs/seaweed-lance/internal/lance/journal"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
	"github.com/seaweedfs/seaweed-lance/internal/objects/faultstore"
	"github.com/seaweedfs/seaweed-lance/internal/objects/storetest"
)

// hourly is a table of ten versions, one for each hour up to now.
func hourly(t *testing.T, n table.Naming, prepare func(w *world)) *world {
	t.Helper()
	w := newWorld(t, n)
	w.at = start.Add(-10 * time.Hour)
	for range 10 {
		w.append()
	}
	if prepare != nil {
		prepare(w)
	}
	return w
}

// What a forecast says, of whatever time and policy it is asked, is what a run does then:
// from memory as long as it is not stale, else after another look.
func TestForecastAsRuns(t *testing.T) {
	worlds := map[string]func(w *world){
		"plain":             nil,
		"the oldest tagged": func(w *world) { w.tag("a", 1) },
		"old ones tagged":   func(w *world) { w.tag("a", 1); w.tag("b", 2); w.tag("c", 3); w.tag("d", 7) },
		"a young one":       func(w *world) { w.tag("a", 9) },
		"all tagged": func(w *world) {
			for v := range uint64(10) {
				w.tag(fmt.Sprint("t", v), v+1)
			}
		},
		"branched":    func(w *world) { w.branch("b").append(); w.append(); w.tag("a", 1) },
		"abandoned":   func(w *world) { w.tag("left-a", 1); w.tag("left-b", 2); w.tag("c", 3) },
		"no time":     func(w *world) { w.m.Timestamp = nil; w.m.Version++; w.publish(w.n.ManifestName(11), w.m) },
		"one version": func(w *world) { clean(t, w.s, Policy{}) },
	}
	abandoned := func(tag string) bool { return len(tag) > 5 && tag[:5] == "left-" }
	retains := []time.Duration{0, time.Hour, 5 * time.Hour, 5*time.Hour - 1, 9 * time.Hour, 10 * time.Hour, 100 * time.Hour}
	saved, looked := 0, 0
	for name, prepare := range worlds {
		for _, n := range []table.Naming{table.NamingV1, table.NamingV2} {
			w := hourly(t, n, prepare)
			for _, keep := range []int{-1, 1, 3, 9, 10, 20} {
				for _, known := range retains {
					in := Looking{MinVersions: keep, Retain: known, Now: start, Abandoned: abandoned}
					remembered, err := Look(t.Context(), w.s, in)
					if err != nil {
						t.Fatal(err)
					}
					for _, retain := range retains {
						for _, later := range []time.Duration{0, time.Hour, 4 * time.Hour, 200 * time.Hour} {
							if !full && (int(later/time.Hour)+int(retain/time.Hour)+keep)%3 != 0 {
								continue
							}
							p, now, f := Policy{Retain: retain, MinVersions: keep}, start.Add(later), remembered
							saved++
							if f.Stale(p, now) {
								looked++
								in := Looking{MinVersions: keep, Retain: retain, Now: now, Abandoned: abandoned}
								if f, err = Look(t.Context(), w.s, in); err != nil {
									t.Fatal(err)
								}
							}
							o := dryRun(p)
							o.Now, o.Abandoned = func() time.Time { return now }, abandoned
							res, err := Run(t.Context(), w.s, o)
							if err != nil {
								t.Fatal(err)
							}
							d := f.At(p, now)
							if d.Due != (len(res.Removed) > 0) || d.Due != f.Due(p, now) || d.Newest != versionsOf(t, w)[1] || d.Versions != int(versionsOf(t, w)[0]) || d.Reason == "" {
								t.Errorf("%s, %s, known for %s, %+v after %s: %+v, a run would remove %v", name, n, known, p, later, d, res.Removed)
							}
							if d.Due && !f.Stale(p, now) {
								t.Errorf("%s: due, and not to be looked at again", name)
							}
						}
					}
				}
			}
		}
	}
	if looked == 0 || looked > saved*2/3 {
		t.Errorf("%d of %d answers took another look", looked, saved)
	}
}

// versionsOf are the number of versions and the newest.
func versionsOf(t *testing.T, w *world) [2]uint64 {
	v := versions(t, w.s)
	return [2]uint64{uint64(len(v)), v[len(v)-1]}
}

// What a look costs where a listing says how to open what it lists: one call for a table of
// which nothing is due by its age, and none until that changes.
func TestLookCalls(t *testing.T) {
	manyTags := func(w *world) {
		for i := range 5 {
			w.tag(fmt.Sprint("t", i), uint64(1+i))
		}
	}
	record := func(w *world) { died(t, w, journal.Rewrite, 77) }
	for name, c := range map[string]struct {
		prepare func(w *world)
		in      Looking
		lists   int
		opens   int
		reads   int
	}{
		"few versions":                 {nil, Looking{MinVersions: 10, NoRecords: true}, 1, 0, 0},
		"few, and the journal":         {nil, Looking{MinVersions: 10}, 2, 0, 0},
		"young":                        {nil, Looking{Retain: 10 * time.Hour, NoRecords: true}, 1, 0, 2},
		"young with tags":              {manyTags, Looking{Retain: 10 * time.Hour, NoRecords: true}, 1, 0, 2},
		"young, and the journal":       {nil, Looking{Retain: 10 * time.Hour}, 2, 0, 2},
		"due":                          {nil, Looking{Retain: time.Hour, NoRecords: true, NoRefs: true}, 1, 0, 2},
		"due, and tags":                {nil, Looking{Retain: time.Hour, NoRecords: true, NoBranches: true}, 2, 0, 2},
		"due, and tags and branches":   {nil, Looking{Retain: time.Hour, NoRecords: true}, 3, 0, 2},
		"due, five tagged":             {manyTags, Looking{Retain: time.Hour, NoRecords: true}, 3, 0, 8},
		"five tagged, none due":        {manyTags, Looking{Retain: 5 * time.Hour, NoRecords: true}, 3, 0, 8},
		"a job ended in the middle":    {record, Looking{Retain: time.Hour}, 2, 1, 2},
		"not told, with no such thing": {nil, Looking{Retain: time.Hour}, 4, 0, 2},
	} {
		for _, n := range []table.Naming{table.NamingV1, table.NamingV2} {
			w := hourly(t, n, c.prepare)
			s := faultstore.New(storetest.Opening(w.s), nil)
			c.in.Now = start
			if _, err := Look(t.Context(), s, c.in); err != nil {
				t.Fatal(err)
			}
			if l, o, r := s.Count(faultstore.List), s.Count(faultstore.Open), s.Count(faultstore.Read); l != c.lists || o != c.opens || r != c.reads {
				t.Errorf("%s, %s: %d listings, %d objects opened, %d reads; want %d, %d, %d", name, n, l, o, r, c.lists, c.opens, c.reads)
			}
		}
	}
	w := hourly(t, table.NamingV2, manyTags)
	p := Policy{Retain: 12 * time.Hour, MinVersions: 2}
	f, err := Look(t.Context(), w.s, Looking{MinVersions: 2, Retain: p.Retain, Now: start, NoRecords: true})
	if err != nil {
		t.Fatal(err)
	}
	// The oldest version is ten hours old.
	for after, want := range map[time.Duration]bool{0: false, time.Hour: false, 2 * time.Hour: false, 2*time.Hour + 1: true, 100 * time.Hour: true} {
		if f.Stale(p, start.Add(after)) != want {
			t.Errorf("after %s: stale %t", after, !want)
		}
	}
}

// Old versions that somebody holds on to: that may end at any time, and so each answer takes a look.
func TestForecastOfPinned(t *testing.T) {
	w := hourly(t, table.NamingV2, func(w *world) { w.tag("a", 1) })
	p := Policy{Retain: 9*time.Hour + time.Minute, MinVersions: 1}
	in := Looking{MinVersions: 1, Retain: p.Retain, Now: start}
	look := func() Forecast {
		t.Helper()
		f, err := Look(t.Context(), w.s, in)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	f := look()
	if f.Due(p, start) || !f.Stale(p, start) {
		t.Errorf("held: %+v", f.At(p, start))
	}
	says(t, f.At(p, start).Reason, "version 2", "10", "that nobody holds on to")
	if err := table.DeleteTag(t.Context(), w.s, "a"); err != nil {
		t.Fatal(err)
	}
	if f := look(); !f.Due(p, start) {
		t.Errorf("free: %+v", f.At(p, start))
	}
	w.tag("b", 1)
	if f := look(); f.Due(p, start) {
		t.Errorf("held again: %+v", f.At(p, start))
	}
	// Told that there are no tags, it does not look for them.
	in.NoRefs = true
	if f := look(); !f.Due(p, start) {
		t.Errorf("no tags: %+v", f.At(p, start))
	}
	in = Looking{MinVersions: 1, Retain: p.Retain, Now: start, Abandoned: func(tag string) bool { return tag == "b" }}
	if f := look(); !f.Due(p, start) {
		t.Errorf("abandoned: %+v", f.At(p, start))
	}
}

// A job that is at work is looked at again after a while; one that died before anything of it
// could be committed is nobody's business until there is a new version.
func TestForecastOfJobs(t *testing.T) {
	w := newWorld(t, table.NamingV2)
	w.append()
	w.merge()
	rec := journal.New(journal.Rewrite, start)
	rec.Version, rec.Fragments = 1, []uint64{0}
	run, end := journal.Begin()
	rec.Holder.Run = run
	if err := rec.Write(t.Context(), w.s); err != nil {
		t.Fatal(err)
	}
	p := Policy{MinVersions: 5}
	look := func() Forecast {
		t.Helper()
		f, err := Look(t.Context(), w.s, Looking{MinVersions: 5, Now: start})
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	f := look()
	for after, want := range map[time.Duration]bool{0: false, jobPatience - 1: false, jobPatience: true, 5 * time.Hour: true} {
		if f.Stale(p, start.Add(after)) != want || f.Due(p, start.Add(after)) {
			t.Errorf("at work, after %s: %+v, stale %t", after, f.At(p, start.Add(after)), !want)
		}
	}
	says(t, f.At(p, start).Reason, "2 versions, and at least 5 are kept")
	end()
	f = look()
	if !f.Due(p, start) || !f.Stale(p, start) {
		t.Errorf("ended in the middle: %+v", f.At(p, start))
	}
	says(t, f.At(p, start).Reason, "rewrite", "ended in the middle")
	// Its fragments are there: it may still be committed, as far as anybody knows.
	rec.Fragments = []uint64{1}
	if err := rec.Touch(t.Context(), w.s); err != nil {
		t.Fatal(err)
	}
	if f := look(); f.Due(p, start) || f.Stale(p, start.Add(1000*time.Hour)) {
		t.Errorf("may be committed: %+v", f.At(p, start))
	}
	// What is not listed is not seen.
	rec.Fragments = []uint64{0}
	if err := rec.Touch(t.Context(), w.s); err != nil {
		t.Fatal(err)
	}
	if f, err := Look(t.Context(), w.s, Looking{MinVersions: 5, Now: start, NoRecords: true}); err != nil || f.Due(p, start) {
		t.Errorf("not listed: %+v, %v", f.At(p, start), err)
	}
}

// A look that could not be finished says nothing.
func TestLookFails(t *testing.T) {
	boom := errors.New("boom")
	for _, wrap := range []func(objects.Store) objects.Store{storetest.Opening, func(s objects.Store) objects.Store { return s }} {
		for _, n := range []table.Naming{table.NamingV1, table.NamingV2} {
			w := sample(t, n)
			died(t, w, journal.Rewrite, uint64(openNewest(t, w.s).Fragments()[0].GetId()))
			for _, a := range []faultstore.Action{faultstore.Fail(boom), faultstore.Short(1, boom)} {
				for p := range faultstore.Points() {
					f, err := Look(t.Context(), faultstore.New(wrap(w.s), p.Hook(a)), Looking{MinVersions: 1, Now: start})
					if p.Reached() && !errors.Is(err, boom) {
						t.Errorf("%s, %d %s: %+v, %v", n, p.N, p.Phase, f, err)
					} else if !p.Reached() && (err != nil || !f.Due(everything, start)) {
						t.Errorf("%s, undisturbed: %+v, %v", n, f, err)
					}
				}
			}
		}
	}
}

// The newest version goes while it is looked for: then there is a newer one.
func TestLookWhileCleaned(t *testing.T) {
	w := hourly(t, table.NamingV2, nil)
	again := 0
	s := faultstore.New(w.s, func(c faultstore.Call) faultstore.Action {
		if c.Op == faultstore.Open && c.Phase == faultstore.Before && c.Name == w.n.ManifestName(w.m.Version) && again < 2 {
			again++
			w.append()
			if err := w.s.Delete(t.Context(), c.Name); err != nil {
				t.Error(err)
			}
		}
		return faultstore.Pass
	})
	f, err := Look(t.Context(), s, Looking{MinVersions: 1, Now: start})
	if err != nil || f.Newest != 12 || !f.Due(everything, start) {
		t.Errorf("%+v, %v", f, err)
	}
	gone := faultstore.When(faultstore.On(faultstore.Before, faultstore.Open, table.VersionsDir), faultstore.Fail(objects.ErrNotFound))
	if _, err := Look(t.Context(), faultstore.New(w.s, gone), Looking{MinVersions: 1, Now: start}); !errors.Is(err, objects.ErrNotFound) {
		t.Errorf("never there: %v", err)
	}
}

// A branch is refused, as a run refuses it; what is no table is none.
func TestLookRefuses(t *testing.T) {
	w := newWorld(t, table.NamingV2)
	w.append()
	b := w.branch("b")
	b.append()
	b.append()
	if _, err := Look(t.Context(), objects.Sub(w.s, "tree/b"), Looking{MinVersions: 1, Now: start}); !errors.Is(err, table.ErrRefused) {
		t.Errorf("a branch: %v", err)
	}
	if _, err := Look(t.Context(), objects.Sub(w.s, "data"), Looking{MinVersions: 1, Now: start}); !errors.Is(err, table.ErrNoTable) {
		t.Errorf("no table: %v", err)
	}
}
