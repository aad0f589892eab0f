package local_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/e2e/oracle"
	"github.com/seaweedfs/seaweed-lance/internal/lance/cleanup"
	"github.com/seaweedfs/seaweed-lance/internal/lance/compact"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
	"github.com/seaweedfs/seaweed-lance/internal/objects/faultstore"
)

// written are the names of files that a job has made.
type written struct {
	mu    sync.Mutex
	names map[string]bool
}

// store is a table's directory, of which it is noted what is made there.
func (w *written) store(tb testing.TB, dir string) objects.Store {
	return faultstore.New(store(tb, dir), func(c faultstore.Call) faultstore.Action {
		if c.Op == faultstore.Create || c.Op == faultstore.Publish {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.names[c.Name] = true
		}
		return faultstore.Pass
	})
}

// TestConcurrentEverything lets Lance append, delete, update, merge rows in, and build and drop an index while both
// jobs run without a pause: nothing is lost, nothing is there twice, what was deleted does not come back, what was updated
// stays so, and the jobs leave no file behind.
func TestConcurrentEverything(t *testing.T) {
	judge := oracle.Start(t, oracle.Newest)
	for _, stable := range []bool{false, true} {
		t.Run(fmt.Sprintf("stable=%v", stable), func(t *testing.T) {
			writer := oracle.Start(t, oracle.Newest)
			dir := filepath.Join(t.TempDir(), "t")
			made := judge.Make(t, "many_appends", dir, oracle.Table{Stable: stable})
			var at churned
			done := make(chan error, 1)
			go func() {
				done <- writer.Try("churn", oracle.Args{"uri": dir, "rounds": writerRounds(t), "start": made.Next, "seed": 11, "more": true}, &at)
			}()
			ours := &written{names: map[string]bool{}}
			merged, withDeletions, removed := ours.jobsUntil(t, dir, done)
			t.Logf("%d rounds, %d commits of Lance's that lost their race, %d fragments merged, %d groups without their deleted rows, %d versions removed",
				at.Rounds, len(at.Errors), merged, withDeletions, removed)
			if merged == 0 || withDeletions == 0 || removed == 0 {
				t.Errorf("the jobs did nothing beside the writer")
			}
			if len(at.Errors) > at.Rounds {
				t.Errorf("the writer lost %d commits in %d rounds, the last: %s", len(at.Errors), at.Rounds, at.Errors[len(at.Errors)-1])
			}
			at.check(t, judge, dir, made.Next)

			compactNow(t, dir, 2000)
			cleanNow(t, dir, cleanup.Options{})
			after := judge.Snapshot(t, dir)
			if missing := after.Missing(); len(missing) > 0 {
				t.Errorf("missing: %v", missing)
			}
			for _, f := range after.Unnamed() {
				if ours.names[f] { // what a commit of Lance's that lost has left is not the jobs'
					t.Errorf("nothing names %s, which a job wrote", f)
				}
			}
			for f := range after.Disk {
				if strings.HasPrefix(f, "_maintenance/") {
					t.Errorf("%s is left", f)
				}
			}
			at.check(t, judge, dir, made.Next)
			judge.OnTop(t, dir, 20_000_000)
		})
	}
}

// churned is what "churn" tells.
type churned struct {
	Rounds      int
	Alive, Dead []int64
	Errors      []string
	// Words are pairs of an id and what "s" was set to.
	Words [][2]any
}

// check asserts that the rows are there that must be, each once, with what they were set to.
func (c *churned) check(t *testing.T, judge *oracle.Lance, dir string, first int) {
	t.Helper()
	var ids []int64
	judge.Do(t, "ids", oracle.Args{"uri": dir}, &ids)
	slices.Sort(ids)
	want := slices.Clone(c.Alive)
	for id := range first {
		want = append(want, int64(id))
	}
	slices.Sort(want)
	if !slices.Equal(ids, want) {
		t.Errorf("%d rows are there, %d were written and not deleted; lost: %v; back or twice: %v",
			len(ids), len(want), minus(want, ids), minus(ids, want))
	}
	const code = `
t = lance.dataset(uri).to_table(columns=["id", "s"])
now = dict(zip(t.column("id").to_pylist(), t.column("s").to_pylist()))
result = [[k, w, now.get(k)] for k, w in words if now.get(k) != w]
`
	var wrong [][]any
	judge.Do(t, "run", oracle.Args{"code": code, "uri": dir, "words": c.Words}, &wrong)
	if len(wrong) > 0 {
		t.Errorf("%d of %d rows are not what they were set to, such as %v", len(wrong), len(c.Words), wrong[0])
	}
	if len(c.Words) == 0 {
		t.Error("no row was updated")
	}
}

// jobsUntil runs both jobs again and again until the writer is done, and once more.
func (w *written) jobsUntil(t *testing.T, dir string, done <-chan error) (merged, withDeletions, removed int) {
	t.Helper()
	s := w.store(t, dir)
	for last := false; !last; {
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			last = true
		default:
		}
		r, err := compact.Run(context.Background(), s, compact.Options{Policy: compact.Policy{TargetRows: 2000}})
		if err != nil && !errors.Is(err, table.ErrContended) {
			t.Fatalf("compaction: %v", err)
		}
		merged += r.FragmentsRemoved
		for _, x := range r.Plan.Tasks {
			if strings.Contains(x.Reason, "deleted") {
				withDeletions++
			}
		}
		// Lance itself needs the versions that it is still building on.
		c, err := cleanup.Run(context.Background(), s, cleanup.Options{Policy: cleanup.Policy{MinVersions: 20}})
		if err != nil {
			t.Fatalf("cleanup: %v", err)
		}
		removed += c.OldVersionsRemoved
	}
	return merged, withDeletions, removed
}
