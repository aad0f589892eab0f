package local_test

import (
	"context"
	"errors"
	"os"
	"slices"
	"strconv"
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

// churned is what "churn" tells.
type churned struct {
	Rounds      int
	Alive, Dead []int64
	Errors      []string
	// Words are pairs of an id and what "s" was set to.
	Words [][2]any
}

// checkRows asserts that the rows are there that must be, each once.
func (c *churned) checkRows(t *testing.T, judge *oracle.Lance, dir string, first int) {
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
}

// checkWords asserts that rows are what they were set to.
func (c *churned) checkWords(t *testing.T, judge *oracle.Lance, dir string) {
	t.Helper()
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

// jobsUntil runs both jobs again and again until the writer is done, and once more.
func jobsUntil(t *testing.T, s objects.Store, done <-chan error) (merged, withDeletions, removed int) {
	t.Helper()
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
