package cleanup

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/seaweedfs/seaweed-lance/internal/lance/journal"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
	"github.com/seaweedfs/seaweed-lance/internal/objects/dirstore"
	"github.com/seaweedfs/seaweed-lance/internal/objects/faultstore"
)

// victim is the table that faults are tried on. It has a hint, an old stray file
// and what a job left that died.
func victimTable(tb testing.TB, n table.Naming) *world {
	tb.Helper()
	w := sample(tb, n)
	if err := w.s.Publish(context.Background(), table.HintName, []byte(`{"version":1}`)); err != nil {
		tb.Fatal(err)
	}
	w.stray("data/"+uuid.NewString()+".lance", 2*week)
	died(tb, w, journal.Rewrite, 0)
	return w
}

// died is a job that wrote its output and its record, for fragments of which
// the first is the given one, and died.
func died(tb testing.TB, w *world, k journal.Kind, fragment uint64) *journal.Record {
	tb.Helper()
	rec := journal.New(k, start)
	rec.Version, rec.Fragments = 1, []uint64{fragment, 9}
	rec.Files = []string{"data/" + uuid.NewString() + ".lance", "_transactions/1-" + uuid.NewString() + ".txn"}
	for _, f := range rec.Files {
		w.put(f)
	}
	// What it was about to write, in a directory.
	w.put(strings.Replace(rec.Files[0], "data/", "data/.tmp-", 1) + "-0011223344556677")
	if err := rec.Write(context.Background(), w.s); err != nil {
		tb.Fatal(err)
	}
	return rec
}

// serial makes a run's calls come one after the other, so that they can be counted.
func serial(p Policy) Options {
	o := options(p)
	o.Parallel = 1
	return o
}

// skip leaves all but every n-th moment to the long versions of tests.
func skip(p *faultstore.Point, n int) bool {
	if full || (2*p.N+len(p.Phase)%2)%n == 0 {
		return false
	}
	p.Match(faultstore.Call{N: p.N, Phase: p.Phase}) // as if the run had come there
	return true
}

// eachPoint lets a run meet a fault at each moment, or at every n-th.
func eachPoint(t *testing.T, n table.Naming, every int, action func(c faultstore.Call) faultstore.Action, check func(t *testing.T, s *dirstore.Store, f *faultstore.Store, res Result, err error)) {
	t.Helper()
	base := victimTable(t, n)
	rows := openNewest(t, base.s).Rows()
	for p := range faultstore.Points() {
		if skip(p, every) {
			continue
		}
		s := again(t, base.s)
		var at faultstore.Call
		acted := false
		f := faultstore.New(s, func(c faultstore.Call) faultstore.Action {
			if !p.Match(c) {
				return faultstore.Pass
			}
			a := action(c)
			at, acted = c, a != faultstore.Pass
			return a
		})
		res, err := Run(t.Context(), f, serial(everything))
		if p.Reached() && !acted {
			continue
		}
		ok := t.Run(fmt.Sprint(p.N, p.Phase), func(t *testing.T) {
			everyVersion(t, s)
			if p.Reached() {
				check(t, s, f, res, err)
			} else if err != nil {
				t.Errorf("undisturbed: %v", err)
			}
			everyVersion(t, s)
			if _, err := Run(t.Context(), s, serial(everything)); err != nil {
				t.Errorf("the next run: %v", err)
			}
			checkFiles(t, s)
			if got := versions(t, s); !slices.Equal(got, []uint64{2, 4, 9}) {
				t.Errorf("left %v", got)
			}
			if openNewest(t, s).Rows() != rows {
				t.Errorf("%d rows", openNewest(t, s).Rows())
			}
			if full || p.N%10 == 0 {
				checkIdle(t, s, everything)
			}
		})
		if !ok {
			t.Errorf("the fault was at %s; the run ended with %+v, error %v", at, res, err)
			if !full {
				break
			}
		}
	}
}

func TestKill(t *testing.T) {
	for _, n := range []table.Naming{table.NamingV2, table.NamingV1} {
		if n == table.NamingV1 && !full {
			continue
		}
		eachPoint(t, n, 1, func(faultstore.Call) faultstore.Action { return faultstore.Die() },
			func(t *testing.T, s *dirstore.Store, f *faultstore.Store, res Result, err error) {
				if f.Dead() && err == nil && len(f.Calls()) > 0 && f.Calls()[len(f.Calls())-1].Op != faultstore.Delete {
					t.Errorf("dead, and no error")
				}
			})
	}
}

func TestLostAnswers(t *testing.T) {
	eachPoint(t, table.NamingV2, 3, func(faultstore.Call) faultstore.Action { return faultstore.Lose() },
		func(*testing.T, *dirstore.Store, *faultstore.Store, Result, error) {})
}

// What was asked for happens later: deletes, records.
func TestLateCalls(t *testing.T) {
	eachPoint(t, table.NamingV2, 1, func(c faultstore.Call) faultstore.Action {
		if c.Phase == faultstore.Before && (c.Op == faultstore.Publish || c.Op == faultstore.Replace || c.Op == faultstore.Delete) {
			return faultstore.Delay()
		}
		return faultstore.Pass
	}, func(t *testing.T, s *dirstore.Store, f *faultstore.Store, res Result, err error) {
		f.Land(t.Context())
	})
}

// A call that fails without having happened: the run ends with its error, or
// tries again; what it still needs is there.
func TestFailingCalls(t *testing.T) {
	boom := errors.New("boom")
	var at faultstore.Call
	eachPoint(t, table.NamingV2, 1, func(c faultstore.Call) faultstore.Action {
		if c.Phase == faultstore.After {
			return faultstore.Pass
		}
		at = c
		return faultstore.Fail(boom)
	}, func(t *testing.T, s *dirstore.Store, f *faultstore.Store, res Result, err error) {
		if at.Op != faultstore.Delete && !errors.Is(err, boom) {
			t.Errorf("error %v", err)
		}
		// Until the journal is written, nothing goes.
		if f.Count(faultstore.Delete) == 0 && (res.Changed || len(versions(t, s)) != 9) {
			t.Errorf("%+v, versions %v", res, versions(t, s))
		}
	})
}

// A listing that fails, or is cut off, is never taken for a short one.
func TestFailingListings(t *testing.T) {
	boom := errors.New("boom")
	eachPoint(t, table.NamingV2, 1, func(c faultstore.Call) faultstore.Action {
		if c.Op != faultstore.List || c.Phase == faultstore.Before {
			return faultstore.Pass
		}
		return faultstore.Short(1, boom)
	}, func(t *testing.T, s *dirstore.Store, f *faultstore.Store, res Result, err error) {
		if !errors.Is(err, boom) {
			t.Errorf("error %v", err)
		}
	})
	if _, err := detect(t.Context(), faultstore.New(sample(t, table.NamingV2).s, faultstore.When(faultstore.On(faultstore.After, faultstore.List, ""), faultstore.Short(1, boom))), everything, start); !errors.Is(err, boom) {
		t.Errorf("detection: error %v", err)
	}
}

// The caller cancels: the run ends soon, and the next one goes on.
func TestCancel(t *testing.T) {
	base := victimTable(t, table.NamingV2)
	for p := range faultstore.Points() {
		if skip(p, 3) {
			continue
		}
		s := again(t, base.s)
		ctx, cancel := context.WithCancel(t.Context())
		var calls atomic.Int64
		f := faultstore.New(s, func(c faultstore.Call) faultstore.Action {
			if p.Match(c) {
				cancel()
			}
			if p.Reached() && c.Phase == faultstore.Before {
				calls.Add(1)
			}
			return faultstore.Pass
		})
		_, err := Run(ctx, f, serial(everything))
		cancel()
		if err != nil && !errors.Is(err, context.Canceled) || calls.Load() > 20 {
			t.Errorf("%d %s: %d calls after the cancel, error %v", p.N, p.Phase, calls.Load(), err)
		}
		everyVersion(t, s)
		if !full && p.N%4 > 0 {
			continue
		}
		clean(t, s, everything)
		checkFiles(t, s)
	}
}

// Three in ten deletes are told to slow down: they are tried again, and all ends well.
func TestThrottledDeletes(t *testing.T) {
	for seed := range uint64(5) {
		w := victimTable(t, table.NamingV2)
		var waits []time.Duration
		o := serial(everything)
		o.Wait = func(ctx context.Context, d time.Duration) error {
			waits = append(waits, d)
			return ctx.Err()
		}
		f := faultstore.New(w.s, faultstore.Throttle(seed, 0.3, faultstore.Delete))
		if _, err := Run(t.Context(), f, o); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		if len(waits) == 0 || waits[0] != firstWait {
			t.Errorf("seed %d: waits %v", seed, waits)
		}
		checkFiles(t, w.s)
	}
	// For ever: it gives up, after a bounded number of tries.
	w := victimTable(t, table.NamingV2)
	f := faultstore.New(w.s, faultstore.Throttle(1, 1, faultstore.Delete))
	if _, err := Run(t.Context(), f, serial(everything)); !errors.Is(err, faultstore.ErrThrottled) || f.Count(faultstore.Delete) != deleteAttempts {
		t.Errorf("%d deletes, error %v", f.Count(faultstore.Delete), err)
	}
	// No permission: trying again does not help.
	w = victimTable(t, table.NamingV2)
	f = faultstore.New(w.s, faultstore.Deny(faultstore.Delete))
	if _, err := Run(t.Context(), f, serial(everything)); !errors.Is(err, objects.ErrDenied) || f.Count(faultstore.Delete) != 1 {
		t.Errorf("%d deletes, error %v", f.Count(faultstore.Delete), err)
	}
	if got := versions(t, w.s); len(got) != 9 {
		t.Errorf("left %v", got)
	}
	clean(t, w.s, everything)
	checkFiles(t, w.s)
}

// Deletes run in parallel, as many as asked for and no more.
func TestParallel(t *testing.T) {
	for _, parallel := range []int{1, 3, 0} {
		w := newWorld(t, table.NamingV2)
		for range 60 {
			w.append()
		}
		w.merge()
		most := parallel
		if most == 0 {
			most = defaultParallel
		}
		running := make(chan struct{}, 1000)
		peak := make(chan int, 1000)
		f := faultstore.New(w.s, func(c faultstore.Call) faultstore.Action {
			if c.Op != faultstore.Delete {
				return faultstore.Pass
			}
			if c.Phase == faultstore.Before {
				running <- struct{}{}
				peak <- len(running)
			} else {
				<-running
			}
			return faultstore.Pass
		})
		o := options(everything)
		o.Parallel = parallel
		if _, err := Run(t.Context(), f, o); err != nil {
			t.Fatal(err)
		}
		close(peak)
		for n := range peak {
			if n > most {
				t.Errorf("%d deletes at once, at most %d wanted", n, most)
			}
		}
		checkFiles(t, w.s)
	}
}

// The hint is raised before any version goes: readers look upwards from it, and
// would stop at the gap.
func TestHint(t *testing.T) {
	for _, hint := range []string{`{"version":1}`, `{"version":8}`, `garbage`, `{"version":9}`, `{"version":12}`} {
		w := sample(t, table.NamingV2)
		if err := w.s.Publish(t.Context(), table.HintName, []byte(hint)); err != nil {
			t.Fatal(err)
		}
		f := faultstore.New(w.s, func(c faultstore.Call) faultstore.Action {
			if c.Op != faultstore.Delete {
				return faultstore.Pass
			}
			b, _, err := objects.ReadAll(t.Context(), w.s, table.HintName, 100)
			if err != nil || string(b) != `{"version":9}` && string(b) != `{"version":12}` {
				t.Errorf("hint %s when %s is deleted (%v)", b, c.Name, err)
			}
			return faultstore.Pass
		})
		if _, err := Run(t.Context(), f, options(everything)); err != nil {
			t.Error(err)
		}
	}
	// One that can't be raised: nothing goes.
	for _, op := range []faultstore.Op{faultstore.Open, faultstore.Replace} {
		w := sample(t, table.NamingV2)
		if err := w.s.Publish(t.Context(), table.HintName, []byte(`{"version":1}`)); err != nil {
			t.Fatal(err)
		}
		f := faultstore.New(w.s, faultstore.When(faultstore.On(faultstore.Before, op, table.HintName), faultstore.Fail(objects.ErrDenied)))
		if _, err := Run(t.Context(), f, options(everything)); !errors.Is(err, objects.ErrDenied) || f.Count(faultstore.Delete) != 0 {
			t.Errorf("%s denied: %d deletes, error %v", op, f.Count(faultstore.Delete), err)
		}
	}
	// No version is due: the hint is none of our business.
	w := newWorld(t, table.NamingV2)
	w.append()
	f := faultstore.New(w.s, nil)
	clean(t, f, everything)
	for _, c := range f.Calls() {
		if c.Name == table.HintName {
			t.Errorf("%s", c)
		}
	}
}

// A tag that is made at any moment of a run either fails, or names a version
// that is whole afterwards.
func TestTagAtAnyMoment(t *testing.T) {
	base := victimTable(t, table.NamingV2)
	tagged := []uint64{3, 7}
	if full {
		tagged = []uint64{1, 3, 4, 5, 6, 7, 8, 9}
	}
	var made, failed, restored int
	for _, v := range tagged {
		for p := range faultstore.Points() {
			if p.Phase == faultstore.After && !full && p.N > 0 {
				p.Match(faultstore.Call{N: p.N, Phase: p.Phase}) // before the next call is the same moment
				continue
			}
			s := again(t, base.s)
			ok := false
			f := faultstore.New(s, func(c faultstore.Call) faultstore.Action {
				if p.Match(c) {
					var err error
					if ok, err = tagIf(s, base.n, "meanwhile", v); err != nil {
						t.Error(err)
					}
				}
				return faultstore.Pass
			})
			res, err := Run(t.Context(), f, serial(everything))
			if err != nil {
				t.Errorf("version %d, %d %s: %v", v, p.N, p.Phase, err)
			}
			checkTagged(t, s, base.n, v, ok, func() string { return fmt.Sprintf("%d %s", p.N, p.Phase) })
			if ok {
				made++
			} else if p.Reached() {
				failed++
			}
			if slices.ContainsFunc(res.Kept, func(k Kept) bool { return k.Version == v && strings.Contains(k.Reason, "named while") }) {
				restored++
			}
			clean(t, s, everything)
			checkTagged(t, s, base.n, v, ok, func() string { return fmt.Sprintf("%d %s, after the next run", p.N, p.Phase) })
			checkFiles(t, s)
			if t.Failed() {
				return
			}
		}
	}
	t.Logf("%d tags were made, %d could not be; %d versions were published again", made, failed, restored)
	if made == 0 || failed == 0 || restored == 0 {
		t.Error("not all of that has happened")
	}
}

// checkTagged: when the tag was made, its version is there and whole.
func checkTagged(t *testing.T, s *dirstore.Store, n table.Naming, v uint64, made bool, when func() string) {
	t.Helper()
	if _, broken := lookAtAll(t, s); len(broken) > 0 {
		t.Errorf("tag on %d at %s: %v", v, when(), broken)
	}
	if !made {
		return
	}
	if _, err := table.OpenVersion(t.Context(), s, n, v); err != nil {
		t.Errorf("tag on %d at %s: %v", v, when(), err)
	}
}

// The same, and the process dies right after the tag was made, at that moment or
// some calls later: the next run brings the version back.
func TestTagAndKill(t *testing.T) {
	base := victimTable(t, table.NamingV2)
	tagged := []uint64{8}
	later := []int{0, 3}
	if full {
		tagged, later = []uint64{1, 3, 5, 6, 7, 8}, []int{0, 1, 2, 3, 5, 8, 13}
	}
	for _, v := range tagged {
		for _, delay := range later {
			for p := range faultstore.Points() {
				if skip(p, 4) { // before some calls
					continue
				}
				s := again(t, base.s)
				ok := false
				f := faultstore.New(s, func(c faultstore.Call) faultstore.Action {
					if p.Match(c) {
						var err error
						if ok, err = tagIf(s, base.n, "meanwhile", v); err != nil {
							t.Error(err)
						}
					}
					if c.N == p.N+delay && c.Phase == p.Phase {
						return faultstore.Die()
					}
					return faultstore.Pass
				})
				_, _ = Run(t.Context(), f, serial(everything))
				everyVersion(t, s)
				clean(t, s, everything)
				checkTagged(t, s, base.n, v, ok, func() string { return fmt.Sprintf("%d %s, dead %d calls later", p.N, p.Phase, delay) })
				checkFiles(t, s)
				if t.Failed() {
					return
				}
			}
		}
	}
}

// A commit lands at any moment of a run: its files stay.
func TestCommitAtAnyMoment(t *testing.T) {
	base := victimTable(t, table.NamingV2)
	for p, n := (*faultstore.Point)(nil), 0; p == nil || p.Reached(); n++ {
		p = &faultstore.Point{N: n, Phase: faultstore.Before}
		for i, commit := range []func(w *world){
			func(w *world) { w.append() },
			func(w *world) { w.merge() },
			func(w *world) { w.branch("new").append() },
			func(w *world) { w.detached() },
		} {
			if !full && (n+i)%4 != 0 {
				continue
			}
			name := []string{"append", "merge", "branch", "detached"}[i]
			w := *base
			w.s = again(t, base.s)
			w.m = openNewest(t, w.s).Manifest()
			w.m.Version = base.m.Version
			f := faultstore.New(w.s, func(c faultstore.Call) faultstore.Action {
				if p.Match(c) {
					commit(&w)
				}
				return faultstore.Pass
			})
			if _, err := Run(t.Context(), f, serial(everything)); err != nil {
				t.Errorf("%s at %d: %v", name, p.N, err)
			}
			everyVersion(t, w.s)
			if v := versions(t, w.s); p.Reached() && v[len(v)-1] != w.m.Version {
				t.Errorf("%s at %d: versions %v", name, p.N, v)
			}
			if t.Failed() {
				return
			}
		}
	}
}
