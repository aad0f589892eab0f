package local_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/seaweedfs/seaweed-lance/internal/e2e/oracle"
	"github.com/seaweedfs/seaweed-lance/internal/lance/cleanup"
	"github.com/seaweedfs/seaweed-lance/internal/lance/compact"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
	"github.com/seaweedfs/seaweed-lance/internal/objects/faultstore"
)

// runner is one of the jobs, on whatever store.
type runner struct {
	name string
	// prepare brings a new table to where the job has something to do.
	prepare func(t *testing.T, dir string)
	run     func(ctx context.Context, s objects.Store) error
}

const killedTarget = 40

func runners() []runner {
	return []runner{{
		name:    "compact",
		prepare: func(*testing.T, string) {},
		run: func(ctx context.Context, s objects.Store) error {
			_, err := compact.Run(ctx, s, compact.Options{Policy: compact.Policy{TargetRows: killedTarget}})
			return err
		},
	}, {
		name:    "cleanup",
		prepare: func(t *testing.T, dir string) { compactNow(t, dir, killedTarget) },
		run: func(ctx context.Context, s objects.Store) error {
			// One delete after the other: then a point is the same moment each time.
			_, err := cleanup.Run(ctx, s, cleanup.Options{
				Parallel: 1,
				Wait:     func(context.Context, time.Duration) error { return nil },
			})
			return err
		},
	}}
}

// stride is how far two points that are tried are apart.
func stride(r runner, victim string) int {
	switch {
	case !full():
		return 7
	case r.name == "compact" && victim != "updates" || victim == "appends":
		return 1
	}
	return 5
}

// victims are what is done to a table of five fragments before a job comes: Python that uses m, a Maker.
var victims = map[string]string{
	"appends": "",
	// Rows to leave out, in a group with fragments that are whole.
	"deletions": `m.ds.delete("id % 4 = 3 and id < 70")`,
	// Columns to fill, to leave out and to join from two files.
	"columns": `
m.ds.add_columns({"twice": "id * 2"})
m.ds.add_columns(pa.field("late", pa.string()))
m.now()
m.appends(1)
m.ds.drop_columns(["s"])
m.now()
m.appends(1)
m.ds.delete("id % 4 = 3 and id > 60")`,
	// Rows that moved, with their ids.
	"updates": `m.ds.update({"s": "'changed'"}, where="id % 4 = 3")`,
}

// prepared makes the table that the points of a job start from.
func prepared(t *testing.T, lance *oracle.Lance, r runner, victim, dir string) *oracle.Snapshot {
	t.Helper()
	code := `
m = maker.Maker(uri, stable=stable, version="2.2")
m.pick(5, 20, ["slim"]).appends()
` + victims[victim]
	lance.Do(t, "run", oracle.Args{"code": code, "uri": dir, "stable": victim == "updates"}, nil)
	lance.Do(t, "tag", oracle.Args{"uri": dir, "name": "kept", "version": 3}, nil)
	r.prepare(t, dir)
	return lance.Snapshot(t, dir)
}

// TestKilled kills each job before and after each of its store calls, on tables whose pages are copied and on such whose
// rows are encoded anew. Lance
// must read everything right afterwards, and the next runs leave no orphan.
func TestKilled(t *testing.T) {
	lance := oracle.Start(t, oracle.Newest)
	eachVictim(t, slices.Sorted(maps.Keys(victims)), func(t *testing.T, r runner, victim string) {
		dir := filepath.Join(t.TempDir(), "t")
		before := prepared(t, lance, r, victim, dir)
		made := dir + ".made"
		lance.Copy(t, dir, made)
		n := 0
		for p := range faultstore.Points() {
			if n++; p.N%stride(r, victim) != 0 {
				// Left out, but there may be more behind it.
				p.Match(faultstore.Call{N: p.N, Phase: p.Phase})
				continue
			}
			lance.Copy(t, made, dir)
			// The error is nobody's to read: the process is dead.
			_ = r.run(context.Background(), faultstore.New(store(t, dir), p.Hook(faultstore.Die())))
			at := fmt.Sprintf("killed %s call %d", p.Phase, p.N)
			change := oracle.Both
			change.Spared = func(string) bool { return true }
			lance.CheckThat(t, at, before, change)

			compactNow(t, dir, killedTarget)
			cleanNow(t, dir, cleanup.Options{})
			after := lance.CheckThat(t, at+", and run again", before, oracle.Both)
			if unnamed := after.Unnamed(); len(unnamed) > 0 {
				t.Errorf("%s: nothing names %v", at, unnamed)
			}
			if got := len(after.Rows()); got > 3 {
				t.Errorf("%s: %d fragments are left", at, got)
			}
		}
		if n < 20 {
			t.Errorf("only %d points", n)
		}
	})
}

// eachVictim has each job meet each kind of table.
func eachVictim(t *testing.T, which []string, try func(t *testing.T, r runner, victim string)) {
	for _, r := range runners() {
		for _, victim := range which {
			t.Run(r.name+", "+victim, func(t *testing.T) { try(t, r, victim) })
		}
	}
}

// TestStopped stops each job at each of its store calls while Lance writes and
// others maintain the table, and lets it go on then: nothing that it still
// commits may lack a file, and nothing written meanwhile is lost.
func TestStopped(t *testing.T) {
	lance := oracle.Start(t, oracle.Newest)
	eachVictim(t, []string{"appends", "deletions"}, func(t *testing.T, r runner, victim string) {
		dir := filepath.Join(t.TempDir(), "t")
		before := prepared(t, lance, r, victim, dir)
		made := dir + ".made"
		lance.Copy(t, dir, made)
		for p := range faultstore.Points() {
			if p.N%stride(r, victim) != 0 {
				p.Match(faultstore.Call{N: p.N, Phase: p.Phase})
				continue
			}
			lance.Copy(t, made, dir)
			at := fmt.Sprintf("stopped %s call %d", p.Phase, p.N)
			pause := faultstore.NewPause(p.Match)
			done := make(chan error, 1)
			s := faultstore.New(store(t, dir), pause.Hook)
			go func() { done <- r.run(context.Background(), s) }()
			select {
			case <-pause.Reached():
				othersWork(t, lance, dir)
				pause.Resume()
				if err := <-done; err != nil && !errors.Is(err, table.ErrContended) {
					t.Errorf("%s: %v", at, err)
				}
			case err := <-done:
				if err != nil {
					t.Fatal(err)
				}
				othersWork(t, lance, dir)
			}
			after := lance.Snapshot(t, dir)
			want := before.Fold.Rows + 10 - 4
			if after.Fold.Rows != want {
				t.Errorf("%s: %d rows, want %d", at, after.Fold.Rows, want)
			}
			if missing := after.Missing(); len(missing) > 0 {
				t.Errorf("%s: missing: %v", at, missing)
			}
			compactNow(t, dir, killedTarget)
			cleanNow(t, dir, cleanup.Options{})
			last := lance.Snapshot(t, dir)
			if last.Fold.Set != after.Fold.Set || len(last.Unnamed())+len(last.Missing()) > 0 {
				t.Errorf("%s, and run again: %v became %v, unnamed %v, missing %v", at, after.Fold, last.Fold, last.Unnamed(), last.Missing())
			}
		}
	})
}

// othersWork is what happens to a table while a job stands still.
func othersWork(t *testing.T, lance *oracle.Lance, dir string) {
	t.Helper()
	lance.Do(t, "append", oracle.Args{"uri": dir, "start": 5000, "n": 10}, nil)
	lance.Do(t, "delete", oracle.Args{"uri": dir, "where": "id in (1, 25, 5001, 5002)"}, nil)
	compactNow(t, dir, killedTarget)
	cleanNow(t, dir, cleanup.Options{})
}
