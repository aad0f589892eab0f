package local_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/e2e/oracle"
	"github.com/seaweedfs/seaweed-lance/internal/lance/cleanup"
	"github.com/seaweedfs/seaweed-lance/internal/lance/compact"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
)

// writerRounds is how often the writer appends and deletes; SEAWEED_LANCE_ROUNDS
// overrides it.
func writerRounds(t *testing.T) int {
	if text := os.Getenv("SEAWEED_LANCE_ROUNDS"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if full() {
		return 50
	}
	return 10
}

// TestConcurrentWriters lets Lance append and delete while both jobs run without
// a pause: nothing that was written is lost, nothing that was deleted comes back.
func TestConcurrentWriters(t *testing.T) {
	judge := oracle.Start(t, oracle.Newest)
	for _, stable := range []bool{false, true} {
		t.Run(fmt.Sprintf("stable=%v", stable), func(t *testing.T) {
			writer := oracle.Start(t, oracle.Newest)
			dir := filepath.Join(t.TempDir(), "t")
			made := judge.Make(t, "many_appends", dir, oracle.Table{Stable: stable})
			var at struct {
				Rounds      int
				Alive, Dead []int64
				Errors      []string
			}
			done := make(chan error, 1)
			go func() {
				done <- writer.Try("churn", oracle.Args{
					"uri": dir, "rounds": writerRounds(t), "start": made.Next, "seed": 7,
				}, &at)
			}()
			merged, removed := jobsUntil(t, dir, done)
			t.Logf("%d rounds, %d deletes that lost their race, %d fragments merged, %d versions removed",
				at.Rounds, len(at.Errors), merged, removed)
			if merged == 0 || removed == 0 {
				t.Errorf("the jobs did nothing beside the writer")
			}
			if len(at.Errors) > at.Rounds/2 {
				t.Errorf("the writer lost %d of %d deletes, the last: %s", len(at.Errors), at.Rounds, at.Errors[len(at.Errors)-1])
			}

			var ids []int64
			judge.Do(t, "ids", oracle.Args{"uri": dir}, &ids)
			slices.Sort(ids)
			want := append([]int64{}, at.Alive...)
			for id := range made.Next {
				want = append(want, int64(id))
			}
			slices.Sort(want)
			if !slices.Equal(ids, want) {
				t.Errorf("%d rows are there, %d were written and not deleted; lost: %v; back or twice: %v",
					len(ids), len(want), minus(want, ids), minus(ids, want))
			}
			after := judge.Snapshot(t, dir)
			if missing := after.Missing(); len(missing) > 0 {
				t.Errorf("missing: %v", missing)
			}
			for _, f := range after.Unnamed() {
				// A delete of Lance's that lost leaves these two kinds.
				if !strings.HasPrefix(f, "_deletions/") && !strings.HasPrefix(f, "_transactions/") {
					t.Errorf("nothing names %s", f)
				}
			}
			for f := range after.Disk {
				if strings.HasPrefix(f, "_maintenance/") {
					t.Errorf("%s is left", f)
				}
			}
			judge.OnTop(t, dir, 1_000_000)
		})
	}
}

// jobsUntil runs both jobs again and again until the writer is done, and once more.
func jobsUntil(t *testing.T, dir string, done <-chan error) (merged, removed int) {
	t.Helper()
	s := store(t, dir)
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
		// Lance itself needs the versions that it is still building on.
		c, err := cleanup.Run(context.Background(), s, cleanup.Options{Policy: cleanup.Policy{MinVersions: 20}})
		if err != nil {
			t.Fatalf("cleanup: %v", err)
		}
		removed += c.OldVersionsRemoved
	}
	return merged, removed
}

// minus is a less b, for sorted lists.
func minus(a, b []int64) []int64 {
	var out []int64
	for _, v := range a {
		i, ok := slices.BinarySearch(b, v)
		if ok {
			b = slices.Delete(slices.Clone(b), i, i+1)
			continue
		}
		out = append(out, v)
	}
	return out
}
