package cleanup

import (
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seaweedfs/seaweed-lance/internal/lance/journal"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects/faultstore"
)

// Two cleaners, and more, at once: none fails, and the table is as clean as after one.
func TestCleanersAtOnce(t *testing.T) {
	for _, n := range []int{2, 4} {
		for range 5 {
			w := victimTable(t, table.NamingV2)
			var wg sync.WaitGroup
			for i := range n {
				p := everything
				if i%2 == 1 {
					p = Policy{MinVersions: 3}
				}
				wg.Go(func() {
					if _, err := Run(t.Context(), w.s, options(p)); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			everyVersion(t, w.s)
			clean(t, w.s, everything)
			checkFiles(t, w.s)
			if got := versions(t, w.s); !slices.Equal(got, []uint64{2, 4, 9}) {
				t.Errorf("left %v", got)
			}
		}
	}
}

// Two cleaners stand still at any two moments, a tag is made, and they go on, one
// after the other or at once: the tagged version is whole afterwards.
func TestTagBetweenTwoCleaners(t *testing.T) {
	base := victimTable(t, table.NamingV2)
	const v = 7 // its data file is named by no other version that is due
	f := faultstore.New(again(t, base.s), nil)
	if _, err := Run(t.Context(), f, serial(everything)); err != nil {
		t.Fatal(err)
	}
	calls := f.Calls()
	rounds := 50
	if full {
		rounds = 4000
	}
	rng := rand.New(rand.NewPCG(7, 8))
	made := 0
	for range rounds {
		s := again(t, base.s)
		if rng.IntN(2) == 0 { // so old that what no version names goes at once
			for _, f := range files(t, s) {
				if strings.HasPrefix(f, "data/") || strings.HasPrefix(f, "_deletions/") {
					w := *base
					w.s = s
					w.old(f, 2*week)
				}
			}
		}
		done := make(chan error, 2)
		// Each stands still at its own moment, the second begins when the first does.
		begin := func(n int) (*faultstore.Pause, <-chan struct{}) {
			pause := faultstore.NewPause((&faultstore.Point{N: n, Phase: faultstore.Before}).Match)
			ended := make(chan struct{})
			go func() {
				_, err := Run(t.Context(), faultstore.New(s, pause.Hook), serial(everything))
				close(ended)
				done <- err
			}()
			select {
			case <-pause.Reached():
			case <-ended:
			}
			return pause, ended
		}
		n, m := rng.IntN(len(calls)), rng.IntN(len(calls))
		first, firstEnded := begin(n)
		second, secondEnded := begin(m)
		ok, err := tagIf(s, base.n, "meanwhile", v)
		if err != nil {
			t.Fatal(err)
		}
		if ok {
			made++
		}
		switch rng.IntN(3) {
		case 0:
			first.Resume()
			<-firstEnded
			second.Resume()
		case 1:
			second.Resume()
			<-secondEnded
			first.Resume()
		default:
			first.Resume()
			second.Resume()
		}
		for range 2 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		checkTagged(t, s, base.n, v, ok, func() string { return "once they had ended" })
		clean(t, s, everything)
		checkTagged(t, s, base.n, v, ok, func() string { return "after the next run" })
		checkFiles(t, s)
		if t.Failed() {
			t.Fatalf("the first stood at %v, the second at call %d, of a run alone %v", calls[n], m, calls[m])
		}
	}
	if made == 0 || made == rounds {
		t.Errorf("%d tags of %d", made, rounds)
	}
}

// The first cleaner has deleted a version's manifest but has not looked again;
// the second one looked before that. The tag was made in between.
func TestSecondCleanerKeepsWhatTheFirstMayPublishAgain(t *testing.T) {
	for _, moment := range []string{"the second had read the version", "the second had only listed it"} {
		w := newWorld(t, table.NamingV2)
		w.append()
		w.merge() // 2
		w.merge() // 3
		for _, f := range files(t, w.s) {
			if strings.HasPrefix(f, "data/") {
				w.old(f, 2*week)
			}
		}
		name := w.n.ManifestName(2)
		var reads atomic.Int64
		second := faultstore.NewPause(func(c faultstore.Call) bool {
			if c.Op == faultstore.Open && c.Phase == faultstore.Before && c.Name == name {
				reads.Add(1)
			}
			return reads.Load() == map[string]int64{"the second had read the version": 2, "the second had only listed it": 1}[moment]
		})
		var deleted atomic.Bool
		first := faultstore.NewPause(func(c faultstore.Call) bool {
			if c.Op == faultstore.Delete && c.Phase == faultstore.After && c.Name == name {
				deleted.Store(true)
			}
			return deleted.Load() && c.Phase == faultstore.Before && c.Op == faultstore.List
		})
		ok := false
		one := faultstore.New(w.s, func(c faultstore.Call) faultstore.Action {
			if c.Op == faultstore.Publish && c.Phase == faultstore.Before && strings.HasPrefix(c.Name, journal.Dir) {
				var err error
				if ok, err = tagIf(w.s, w.n, "meanwhile", 2); err != nil {
					t.Error(err)
				}
			}
			return first.Hook(c)
		})
		done := make(chan error, 2)
		go func() { _, err := Run(t.Context(), faultstore.New(w.s, second.Hook), serial(everything)); done <- err }()
		<-second.Reached()
		go func() { _, err := Run(t.Context(), one, serial(everything)); done <- err }()
		<-first.Reached()
		if !ok {
			t.Fatal("no tag")
		}
		second.Resume()
		if err := <-done; err != nil {
			t.Errorf("%s: the second: %v", moment, err)
		}
		first.Resume()
		if err := <-done; err != nil {
			t.Errorf("%s: the first: %v", moment, err)
		}
		checkTagged(t, w.s, w.n, 2, true, func() string { return moment })
	}
}

// A cleaner leaves the record alone of another one that is still at work: should
// that one die, the record is all that tells of it.
func TestRecordOfCleanerAtWork(t *testing.T) {
	w := newWorld(t, table.NamingV2)
	w.append()
	w.merge()
	w.merge()
	pause := faultstore.NewPause(faultstore.On(faultstore.Before, faultstore.Delete, table.VersionsDir))
	f := faultstore.New(w.s, pause.Hook)
	done := make(chan error, 1)
	go func() { _, err := Run(t.Context(), f, serial(everything)); done <- err }()
	<-pause.Reached()
	if _, err := Run(t.Context(), w.s, options(Policy{Retain: 10_000 * time.Hour})); err != nil {
		t.Error(err)
	}
	if r, err := journal.List(t.Context(), w.s); err != nil || len(r) != 1 {
		t.Errorf("records %v, error %v", r, err)
	}
	pause.Resume()
	if err := <-done; err != nil {
		t.Error(err)
	}
	checkFiles(t, w.s)
}
