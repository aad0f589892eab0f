package local_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/e2e/oracle"
	"github.com/seaweedfs/seaweed-lance/internal/lance/cleanup"
)

// TestConcurrentWriters lets Lance append and delete while both jobs run without a pause: nothing that was written is lost, nothing
// that was deleted comes back, and the jobs leave no file behind.
func TestConcurrentWriters(t *testing.T) { concurrently(t, 7, false) }

// TestConcurrentEverything lets Lance also update, merge rows in, and build and drop an index: nothing is there twice, and what
// was updated stays so.
func TestConcurrentEverything(t *testing.T) { concurrently(t, 11, true) }

// concurrently runs both jobs beside a writer that appends and deletes, or does more.
func concurrently(t *testing.T, seed int, more bool) {
	judge := oracle.Start(t, oracle.Newest)
	for _, stable := range []bool{false, true} {
		t.Run(fmt.Sprintf("stable=%v", stable), func(t *testing.T) {
			writer := oracle.Start(t, oracle.Newest)
			dir := filepath.Join(t.TempDir(), "t")
			made := judge.Make(t, "many_appends", dir, oracle.Table{Stable: stable})
			var at churned
			done := make(chan error, 1)
			go func() {
				done <- writer.Try("churn", oracle.Args{"uri": dir, "rounds": writerRounds(t), "start": made.Next, "seed": seed, "more": more}, &at)
			}()
			ours := &written{names: map[string]bool{}}
			merged, withDeletions, removed := jobsUntil(t, ours.store(t, dir), done)
			t.Logf("%d rounds, %d commits of Lance's that lost their race, %d fragments merged, %d groups without their deleted rows, %d versions removed",
				at.Rounds, len(at.Errors), merged, withDeletions, removed)
			if merged == 0 || more && withDeletions == 0 || removed == 0 {
				t.Errorf("the jobs did nothing beside the writer")
			}
			// Without more there is one commit a round that can lose.
			if most := at.Rounds; len(at.Errors) > most || !more && len(at.Errors) > most/2 {
				t.Errorf("the writer lost %d commits in %d rounds, the last: %s", len(at.Errors), at.Rounds, at.Errors[len(at.Errors)-1])
			}
			check := func() {
				at.checkRows(t, judge, dir, made.Next)
				if more {
					at.checkWords(t, judge, dir)
				}
			}
			check()
			if more {
				compactNow(t, dir, 2000)
				cleanNow(t, dir, cleanup.Options{})
				check()
			}
			after := judge.Snapshot(t, dir)
			if missing := after.Missing(); len(missing) > 0 {
				t.Errorf("missing: %v", missing)
			}
			for _, f := range after.Unnamed() {
				// What a commit of Lance's that lost has left is not the jobs': of a delete these two kinds.
				left := !strings.HasPrefix(f, "_deletions/") && !strings.HasPrefix(f, "_transactions/")
				if more {
					left = ours.names[f]
				}
				if left {
					t.Errorf("nothing names %s", f)
				}
			}
			for f := range after.Disk {
				if strings.HasPrefix(f, "_maintenance/") {
					t.Errorf("%s is left", f)
				}
			}
			judge.OnTop(t, dir, 20_000_000)
		})
	}
}
