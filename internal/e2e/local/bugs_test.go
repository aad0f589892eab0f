package local_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/e2e/oracle"
	"github.com/seaweedfs/seaweed-lance/internal/lance/cleanup"
	"github.com/seaweedfs/seaweed-lance/internal/lance/compact"
)

// bug is a table that a bug of compaction was reported of; bugs.py has them all, by their number in reference BUGS.
type bug struct {
	number string
	About  string
	Files  []string
	Stable *bool
	Target int64
	// Left is a word of the reason where a build leaves it alone.
	Left string
	// Deletes: it is tried with rows deleted, too. Alike: Lance leaves as many fragments, and can go on with it.
	Deletes, Alike bool
	// Then: something is done to it after the first compaction.
	Then bool
}

// bugs lists them.
func bugs(t *testing.T, lance *oracle.Lance) []bug {
	t.Helper()
	all := map[string]bug{}
	lance.Do(t, "bugs", nil, &all)
	var out []bug
	for _, n := range slices.Sorted(maps.Keys(all)) {
		b := all[n]
		b.number = n
		out = append(out, b)
	}
	return out
}

// TestBugTables compacts the tables that bugs were reported of, cleans them, and goes on; Lance finds in them
// what it found before.
func TestBugTables(t *testing.T) {
	lance := oracle.Start(t, oracle.Newest)
	for _, b := range bugs(t, lance) {
		for _, file := range files(b.Files) {
			for _, stable := range []bool{false, true} {
				if b.Stable != nil && *b.Stable != stable || b.Stable == nil && stable && !full() {
					continue
				}
				for _, deleted := range []bool{false, true} {
					if deleted && !b.Deletes {
						continue
					}
					t.Run(fmt.Sprintf("%s,files=%s,stable=%v,deleted=%v", b.number, file, stable, deleted), func(t *testing.T) {
						dir := filepath.Join(t.TempDir(), "t")
						var made struct{ Next int }
						lance.Do(t, "make_bug", oracle.Args{"number": b.number, "uri": dir, "version": file, "stable": stable, "delete": deleted}, &made)
						b.try(t, lance, dir, made.Next)
					})
				}
			}
		}
	}
}

// look is what the table's own look finds.
func (b bug) look(t *testing.T, lance *oracle.Lance, dir string) string {
	t.Helper()
	var found json.RawMessage
	lance.Do(t, "look_bug", oracle.Args{"number": b.number, "uri": dir}, &found)
	return string(found)
}

func (b bug) try(t *testing.T, lance *oracle.Lance, dir string, next int) {
	t.Helper()
	if !b.compact(t, lance, dir) {
		return
	}
	if b.Then {
		lance.Do(t, "go_on_bug", oracle.Args{"number": b.number, "uri": dir}, nil)
		b.compact(t, lance, dir)
	}
	before, found := lance.Snapshot(t, dir), b.look(t, lance, dir)
	cleanNow(t, dir, cleanup.Options{})
	lance.Check(t, before, oracle.Cleaned)
	if got := b.look(t, lance, dir); got != found {
		t.Errorf("cleaned: %s, was %s", got, found)
	}
	if b.Alike {
		lance.OnTop(t, dir, next+1000)
	}
}

// compact compacts the table, and a copy by Lance. It returns false where the table was left as it is.
func (b bug) compact(t *testing.T, lance *oracle.Lance, dir string) bool {
	t.Helper()
	before, found := lance.Snapshot(t, dir), b.look(t, lance, dir)
	copied := dir + ".copy"
	lance.Copy(t, dir, copied)
	theirs := lance.Try("compact", compactArgs(copied, b.Target), nil)

	r := compactNow(t, dir, b.Target)
	after := lance.Check(t, before, oracle.Compacted)
	if got := b.look(t, lance, dir); got != found {
		t.Errorf("compacted: %s, was %s", got, found)
	}
	settled(t, lance, dir, b.Target)
	for _, l := range r.Plan.Left {
		switch {
		case l.Kind == compact.Fine:
		case b.Left != "" && strings.Contains(l.Reason, b.Left):
			t.Logf("left: %s", l.Reason)
			return false
		case l.Kind == compact.Broken, !strings.Contains(l.Reason, "index"):
			t.Errorf("fragment %d is left: %s", l.Fragment, l.Reason)
		}
	}
	if theirs != nil {
		t.Logf("Lance can't compact it: %v", theirs)
	} else if want := lance.FragmentRows(t, copied); b.Alike && len(after.Rows()) != len(want) {
		t.Errorf("fragments of %v rows, Lance leaves %v; left: %+v", after.Rows(), want, r.Plan.Left)
	}
	return true
}

func compactArgs(uri string, target int64) oracle.Args {
	a := oracle.Args{"uri": uri}
	if target > 0 {
		a["target_rows_per_fragment"] = target
	}
	return a
}
