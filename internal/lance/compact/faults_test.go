package compact

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/lance/cleanup"
	"github.com/seaweedfs/seaweed-lance/internal/lance/journal"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
	"github.com/seaweedfs/seaweed-lance/internal/objects/dirstore"
	"github.com/seaweedfs/seaweed-lance/internal/objects/faultstore"
)

// victims are the tables that faults are tried on: small, so that every moment
// of a run can be.
func victims(tb testing.TB) map[string]*dirstore.Store {
	tb.Helper()
	out := map[string]*dirstore.Store{"stable ids": copyAt(tb, "stable_ids", 11), "stable ids, deletions": copyAt(tb, "stable_ids", 8), "blobs": fewBlobs(tb)}
	if full {
		out["2.2"] = copyAt(tb, "branched", 2)
		out["V1 names"] = copyAt(tb, "v1_names", 3)
		out["2.0, V1 names"] = copyAt(tb, "lance_1", 3)
		out["2.0"] = copyAt(tb, "lance_4", 3)
		out["many types"] = copyAt(tb, "types_21", 2)
		out["deletions"] = copyAt(tb, "deletions", 8)
		out["different columns"] = copyOf(tb, "columns_changed")
		out["two files each"] = copyAt(tb, "columns_changed", 5)
		out["several tasks"] = copyAt(tb, "many_appends", 5)
	}
	return out
}

// policy merges the fragments of every victim.
var policy = Policy{TargetRows: 1000}

// step is which of the moments of a run are tried: in short runs, which have the race detector, each fifth.
func step() int {
	if testing.Short() {
		return 5
	}
	return 1
}

// eachPoint lets a run on a copy of every victim meet a fault at each moment, and then
// has the table looked at.
func eachPoint(t *testing.T, action func(c faultstore.Call) faultstore.Action, check func(t *testing.T, s *dirstore.Store, f *faultstore.Store, res Result, err error)) {
	t.Helper()
	for name, base := range victims(t) {
		rows := open(t, base).Rows()
		for p := range faultstore.Every(step()) {
			s := again(t, base)
			var at faultstore.Call
			acted := false
			hook := func(c faultstore.Call) faultstore.Action {
				if !p.Match(c) {
					return faultstore.Pass
				}
				a := action(c)
				at, acted = c, a != faultstore.Pass
				return a
			}
			f := faultstore.New(s, hook)
			res, err := Run(t.Context(), f, Options{Policy: policy})
			if p.Reached() && !acted {
				continue
			}
			ok := t.Run(fmt.Sprint(p.N, p.Phase), func(t *testing.T) {
				check(t, s, f, res, err)
				// Whatever has happened: the next run and a cleanup leave nothing.
				checkVersions(t, s)
				if _, err := Run(t.Context(), s, Options{Policy: policy}); err != nil {
					t.Errorf("the next run: %v", err)
				}
				if n := len(open(t, s).Fragments()); n != 1 {
					t.Errorf("%d fragments after the next run", n)
				}
				checkClean(t, s, rows)
				if name == "blobs" {
					allOf(t, open(t, s).WithBases(blobBases(t)), true)
				}
			})
			if !ok {
				t.Errorf("%s: the fault was at %s; the run ended with %+v, error %v", name, at, res, err)
				if !full {
					break
				}
			}
		}
	}
}

// The process dies before or after any store call.
func TestKill(t *testing.T) {
	eachPoint(t, func(faultstore.Call) faultstore.Action { return faultstore.Die() },
		func(t *testing.T, s *dirstore.Store, f *faultstore.Store, res Result, err error) {
			if f.Dead() && err != nil && !errors.Is(err, faultstore.ErrDead) && !errors.Is(err, objects.ErrUnknown) {
				t.Logf("error %v", err)
			}
		})
}

func changes(op faultstore.Op) bool {
	return op == faultstore.Publish || op == faultstore.Replace || op == faultstore.Delete || op == faultstore.Finish
}

// Any answer is lost: what was asked for has happened, or not.
func TestLostAnswers(t *testing.T) {
	eachPoint(t, func(c faultstore.Call) faultstore.Action {
		return faultstore.Lose()
	}, func(t *testing.T, s *dirstore.Store, f *faultstore.Store, res Result, err error) {})
}

// What was asked for happens after its answer was given up.
func TestLateCalls(t *testing.T) {
	for _, when := range []string{"at once", "after the next run"} {
		t.Run(when, func(t *testing.T) {
			eachPoint(t, func(c faultstore.Call) faultstore.Action {
				if c.Phase == faultstore.Before && changes(c.Op) {
					return faultstore.Delay()
				}
				return faultstore.Pass
			}, func(t *testing.T, s *dirstore.Store, f *faultstore.Store, res Result, err error) {
				if when == "after the next run" {
					if _, err := Run(t.Context(), s, Options{Policy: policy}); err != nil {
						t.Errorf("the next run: %v", err)
					}
				}
				f.Land(t.Context())
			})
		})
	}
}

// A create lands when all has been cleaned up: at worst it is a version below the
// newest, or a file that no version names, which goes with time. No row is lost.
func TestVeryLateCalls(t *testing.T) {
	for name, base := range victims(t) {
		rows := open(t, base).Rows()
		for p := range faultstore.Every(step()) {
			s := again(t, base)
			f := faultstore.New(s, func(c faultstore.Call) faultstore.Action {
				if p.Match(c) && c.Phase == faultstore.Before && changes(c.Op) {
					return faultstore.Delay()
				}
				return faultstore.Pass
			})
			_, err := Run(t.Context(), f, Options{Policy: policy})
			if _, err := Run(t.Context(), s, Options{Policy: policy}); err != nil {
				t.Errorf("%s: the next run: %v", name, err)
			}
			checkClean(t, s, rows)
			newest := open(t, s).Version()
			f.Land(t.Context())
			head := open(t, s)
			if head.Version() != newest || head.Rows() != rows {
				t.Errorf("%s, %d %s (error %v): version %d of %d rows, was %d of %d", name, p.N, p.Phase, err, head.Version(), head.Rows(), newest, rows)
			}
			for _, x := range head.Fragments() {
				contentOf(t, head, x)
			}
		}
	}
}

// Any call fails, without having done anything: then so does the run, or it tries
// again, and it leaves nothing behind.
func TestFailingCalls(t *testing.T) {
	boom := errors.New("boom")
	var at faultstore.Call
	eachPoint(t, func(c faultstore.Call) faultstore.Action {
		if c.Phase == faultstore.After {
			return faultstore.Pass
		}
		at = c
		return faultstore.Fail(boom)
	}, func(t *testing.T, s *dirstore.Store, f *faultstore.Store, res Result, err error) {
		o := orphans(t, files(t, s), checkVersions(t, s))
		if len(o) > 0 && at.Op != faultstore.Delete && at.Op != faultstore.Abort {
			t.Errorf("left behind: %v", o)
		}
		if err == nil && res.FragmentsRemoved == 0 {
			t.Errorf("success, but nothing was done: %+v", res)
		}
	})
}

// The caller cancels at any moment: the run ends soon, and its output is gone.
func TestCancel(t *testing.T) {
	for name, base := range victims(t) {
		rows := open(t, base).Rows()
		for p := range faultstore.Every(step()) {
			s := again(t, base)
			ctx, cancel := context.WithCancel(t.Context())
			var after atomic.Int64
			f := faultstore.New(s, func(c faultstore.Call) faultstore.Action {
				if p.Match(c) {
					cancel()
				}
				if p.Reached() && c.Phase == faultstore.Before {
					after.Add(1)
				}
				return faultstore.Pass
			})
			res, err := Run(ctx, f, Options{Policy: policy})
			cancel()
			if p.Reached() && err == nil && len(open(t, s).Fragments()) > 1 {
				t.Errorf("%s, %d %s: success, but nothing was done: %+v", name, p.N, p.Phase, res)
			}
			if err != nil && !errors.Is(err, context.Canceled) {
				t.Errorf("%s, %d %s: error %v", name, p.N, p.Phase, err)
			}
			if o := orphans(t, files(t, s), checkVersions(t, s)); len(o) > 0 && !errors.Is(err, objects.ErrUnknown) {
				t.Errorf("%s, %d %s: left behind: %v (error %v)", name, p.N, p.Phase, o, err)
			}
			most := int64(25)
			if name == "blobs" {
				most += 20 // what lies beside the new file goes one by one
			}
			if n := after.Load(); n > most {
				t.Errorf("%s, %d %s: %d calls after the cancel", name, p.N, p.Phase, n)
			}
			if full {
				if _, err := Run(t.Context(), s, Options{Policy: policy}); err != nil {
					t.Error(err)
				}
				checkClean(t, s, rows)
			}
			if t.Failed() {
				break
			}
		}
	}
}

// A process that is stopped, while others do its work and clean up after it, goes
// on: nothing that it commits misses a file, nothing is lost.
func TestStoppedAndContinued(t *testing.T) {
	for name, base := range victims(t) {
		rows := open(t, base).Rows()
		for p, n := (*faultstore.Point)(nil), 0; p == nil || p.Reached(); n += step() {
			p = &faultstore.Point{N: n / 2, Phase: faultstore.Before}
			s := again(t, base)
			keep := cleanup.Policy{MinVersions: 1 + n%2*1000} // none of the old versions, or all
			pause := faultstore.NewPause(p.Match)
			f := faultstore.New(s, pause.Hook)
			done := make(chan error, 1)
			go func() {
				_, err := Run(t.Context(), f, Options{Policy: policy})
				done <- err
			}()
			var err error
			select {
			case err = <-done:
			case <-pause.Reached():
				// Its claim is one of a process at work, as far as this process
				// can tell; for others it is stopped, and so dead.
				removeClaims(t, s)
				if _, err := Run(t.Context(), s, Options{Policy: policy}); err != nil {
					t.Errorf("%s, stopped before call %d: the other run: %v", name, p.N, err)
				}
				for range 2 {
					if _, err := cleanup.Run(t.Context(), s, cleanup.Options{Policy: keep}); err != nil {
						t.Fatal(err)
					}
				}
				pause.Resume()
				err = <-done
			}
			checkVersions(t, s)
			if open(t, s).Rows() != rows {
				t.Errorf("%d rows, want %d", open(t, s).Rows(), rows)
			}
			if _, err := Run(t.Context(), s, Options{Policy: policy}); err != nil {
				t.Error(err)
			}
			checkClean(t, s, rows)
			if t.Failed() {
				t.Fatalf("%s, %+v, stopped before %v: it went on to %v", name, keep, f.Calls()[min(p.N, len(f.Calls())-1)], err)
			}
		}
	}
}

// removeClaims makes the records in a table look like those of runs that are not
// at work.
func removeClaims(t *testing.T, s objects.Store) {
	t.Helper()
	records, err := journal.List(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		r.Holder.Run = "stopped"
		if err := r.Touch(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
}

// What a store can't do at all: the run ends with its error, and nothing is half done.
func TestDenied(t *testing.T) {
	for _, op := range []faultstore.Op{faultstore.Open, faultstore.Create, faultstore.Publish, faultstore.Delete, faultstore.List, faultstore.Read, faultstore.Write, faultstore.Copy, faultstore.Finish} {
		base := copyAt(t, "branched", 2)
		before := open(t, base)
		res, err := Run(t.Context(), faultstore.New(base, faultstore.Deny(op)), Options{Policy: policy, careful: op == faultstore.Copy})
		if op == faultstore.Delete {
			if err != nil || res.FragmentsRemoved != 2 {
				t.Errorf("%s denied: %+v, error %v", op, res, err)
			}
		} else if !errors.Is(err, objects.ErrDenied) && op != faultstore.Publish {
			t.Errorf("%s denied: error %v", op, err)
		} else if err == nil {
			t.Errorf("%s denied: no error", op)
		}
		if o := orphans(t, files(t, base), checkVersions(t, base)); len(o) > 0 && op != faultstore.Delete {
			t.Errorf("%s denied: left behind: %v", op, o)
		}
		if open(t, base).Rows() != before.Rows() {
			t.Errorf("%s denied: %d rows", op, open(t, base).Rows())
		}
	}
}

// Three in ten calls are told to slow down: the run may fail, but leaves the table whole.
func TestThrottled(t *testing.T) {
	base := copyAt(t, "branched", 3)
	rows := open(t, base).Rows()
	succeeded := 0
	for seed := range uint64(30) {
		s := again(t, base)
		_, err := Run(t.Context(), faultstore.New(s, faultstore.Throttle(seed, 0.05)), Options{Policy: policy})
		if err == nil {
			succeeded++
		} else if !errors.Is(err, faultstore.ErrThrottled) && !errors.Is(err, objects.ErrUnknown) {
			t.Logf("seed %d: %v", seed, err)
		}
		checkVersions(t, s)
		if _, err := Run(t.Context(), s, Options{Policy: policy}); err != nil {
			t.Errorf("seed %d: the next run: %v", seed, err)
		}
		checkClean(t, s, rows)
	}
	t.Logf("%d of 30 succeeded", succeeded)
}
