package local_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/e2e/oracle"
	"github.com/seaweedfs/seaweed-lance/internal/lance/cleanup"
	"github.com/seaweedfs/seaweed-lance/internal/lance/compact"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
)

// TestCompactRandom has Lance do random operations on tables with random schemas, and compacts after every one of
// them, now and then also cleans: FULL, DEL, ROWID, REF, OLD, FILES and IDEMP hold each time.
func TestCompactRandom(t *testing.T) {
	tables, steps := 8, 10
	if full() {
		tables, steps = 60, 14
	}
	lance := oracle.Start(t, oracle.Newest)
	var sum randomSum
	for seed := range tables {
		file := []string{"2.2", "2.1", "2.2", "2.0"}[seed%4]
		stable := seed/4%2 == 0
		t.Run(fmt.Sprintf("%d,files=%s,stable=%v", seed, file, stable), func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "t")
			without := []string{"fsl"} // which keeps whole tables from being merged
			if seed%8 == 0 {
				without = []string{}
			}
			lance.Do(t, "random_begin", oracle.Args{"uri": dir, "seed": 1000 + seed, "version": file, "stable": stable, "without": without}, nil)
			rng := rand.New(rand.NewPCG(uint64(seed), 0))
			var done []string
			for range steps {
				var step struct{ Done, Refused string }
				lance.Do(t, "random_step", oracle.Args{"uri": dir}, &step)
				if step.Refused != "" {
					sum.refused++
					continue
				}
				done = append(done, step.Done)
				if !sum.step(t, lance, dir, rng, strings.Join(done, ", ")) {
					return
				}
			}
		})
	}
	t.Logf("%d steps, %d refused by Lance, %d tables that it can't read, %d fragments merged, %d left, %d versions cleaned, %d times in two steps",
		sum.steps, sum.refused, sum.unread, sum.removed, sum.left, sum.cleaned, sum.twice)
	if sum.removed < tables || sum.twice > sum.steps/50+1 || sum.unread > sum.steps/4 {
		t.Errorf("too little was done: %+v", sum)
	}
}

// randomSum counts what was done.
type randomSum struct {
	steps, refused, unread int
	removed, left, cleaned int
	// twice is how often fragments were merged that the same run had made.
	twice int
	// last reason why a fragment was left.
	last string
}

// step compacts a table, and cleans it now and then. It returns false when there is nothing to go on with.
func (s *randomSum) step(t *testing.T, lance *oracle.Lance, dir string, rng *rand.Rand, where string) bool {
	t.Helper()
	s.steps++
	before := &oracle.Snapshot{}
	if err := lance.Try("snapshot", oracle.Args{"uri": dir}, before); err != nil {
		var own *oracle.Error
		if !errors.As(err, &own) {
			t.Fatal(err)
		}
		s.unread++
		t.Logf("after %s: Lance can't read it: %v", where, err)
		return false
	}
	before.URI = dir
	target := []int64{0, 50, 300}[rng.IntN(3)]
	res, err := compact.Run(context.Background(), store(t, dir), compact.Options{Policy: compact.Policy{TargetRows: target}})
	if err != nil {
		t.Errorf("after %s: compaction: %v", where, err)
		return false
	}
	s.removed += res.FragmentsRemoved
	for _, l := range res.Plan.Left {
		if l.Kind == compact.Broken {
			t.Errorf("after %s: fragment %d is said to be broken: %s", where, l.Fragment, l.Reason)
		}
		if l.Kind != compact.Fine {
			if s.left++; l.Reason != s.last {
				t.Logf("after %s: left: %s", where, l.Reason)
			}
			s.last = l.Reason
		}
	}
	change := oracle.Compacted
	if newest := open(t, dir); added(before, newest) != res.FragmentsAdded {
		// A fragment that was rewritten for its deleted rows comes behind its neighbours, and is merged with them there.
		s.twice++
		change.Unordered = true
	}
	after := lance.CheckThat(t, "after "+where, before, change)
	settled(t, lance, dir, target)
	if rng.IntN(3) == 0 {
		r := cleanNow(t, dir, cleanup.Options{Policy: cleanup.Policy{MinVersions: 1 + rng.IntN(4)}})
		s.cleaned += r.OldVersionsRemoved
		lance.CheckThat(t, "after "+where+", cleaned", after, oracle.Cleaned)
	}
	return !t.Failed()
}

// open opens the newest version of a table.
func open(tb testing.TB, dir string) *table.Table {
	tb.Helper()
	t, err := table.Open(tb.Context(), store(tb, dir))
	if err != nil {
		tb.Fatal(err)
	}
	return t
}

// added counts the fragments of a table that a snapshot has not.
func added(before *oracle.Snapshot, t *table.Table) (n int) {
	had := map[uint64]bool{}
	for _, f := range before.Fragments {
		had[f.ID] = true
	}
	for _, f := range t.Fragments() {
		if !had[f.GetId()] {
			n++
		}
	}
	return n
}
