package e2e

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seaweedfs/seaweed-lance/internal/e2e/counting"
	"github.com/seaweedfs/seaweed-lance/internal/e2e/manytables"
	"github.com/seaweedfs/seaweed-lance/internal/lance/lancetest"
	"github.com/seaweedfs/seaweed-lance/internal/weed/cluster"
)

// A sweep of all job types may make this many calls to the filer for each table, those for the
// catalog included: the first one, and any later one where nothing has changed.
const (
	firstSweepCalls = 4.0
	laterSweepCalls = 1.1
)

// sweepsCounted are fifteen hours of sweeps, so that what is looked at again now and then is among
// the calls.
const sweepsCounted = 90

// full tells whether tests are to take their time.
func full() bool { return os.Getenv("SEAWEED_LANCE_FULL") != "" }

// TestSweepCounted counts at the filer what sweeps over many tables ask, and sees that what has
// changed is noticed all the same.
func TestSweepCounted(t *testing.T) {
	t.Parallel()
	n := 190 // in one page of the catalog
	if full() {
		n = 1000
	}
	l := startLake(t, n, cluster.Options{WaitForJobs: []string{}})
	for _, c := range []struct {
		name     string
		settings map[string]int64
	}{
		{"as the forms start out", nil},
		{"versions are due", map[string]int64{"retain_hours": 1, "min_versions_to_keep": 2}},
	} {
		s := l.sweeper(t, &sweepClock{t: time.Now()}, c.settings)
		l.counter.Take()
		start := time.Now()
		found := s.sweep(t)
		t.Logf("%s: the first sweep took %v", c.name, time.Since(start).Round(time.Millisecond))
		l.limit(t, c.name+", first sweep", n, firstSweepCalls)
		if seen := len(found[compactJob].observations); seen != n {
			t.Errorf("%s observed %d of %d tables", compactJob, seen, n)
		}
		start = time.Now()
		var later counting.Calls
		for i := range sweepsCounted {
			s.sweep(t)
			if calls := l.counter.Take(); i == 0 || len(calls) > len(later) {
				later = calls
			}
		}
		t.Logf("%s: later sweeps took %v each", c.name, (time.Since(start) / sweepsCounted).Round(time.Millisecond))
		l.limited(t, c.name+", the dearest of later sweeps", later, n, laterSweepCalls)
	}
	t.Run("changed", func(t *testing.T) { l.notices(t) })
}

// limit compares the number of calls since the last with what there may be for each table.
func (l *lake) limit(t *testing.T, what string, tables int, most float64) {
	t.Helper()
	l.limited(t, what, l.counter.Take(), tables, most)
}

// limited does so with given ones. All go to the filer's gRPC service.
func (*lake) limited(t *testing.T, what string, calls counting.Calls, tables int, most float64) {
	t.Helper()
	t.Logf("%s: %d calls, %.2f for each table\n%v", what, len(calls), float64(len(calls))/float64(tables), calls.Per(place))
	if float64(len(calls)) > float64(tables)*most {
		t.Errorf("%s: %d calls for %d tables, more than %v for each", what, len(calls), tables, most)
	}
	for _, c := range calls {
		if strings.HasPrefix(c.Method, "HTTP") {
			t.Errorf("%s: %s %s", what, c.Method, c.Path)
		}
	}
}

// notices changes a few tables between sweeps; exactly those are found changed.
func (l *lake) notices(t *testing.T) {
	clock := &sweepClock{t: time.Now()}
	s := l.sweeper(t, clock, nil)
	s.sweep(t)
	before := s.sweep(t)
	changed := make(map[string]int64)
	for _, from := range []uint64{1, 6} {
		for _, name := range l.copies(t, from, 3) {
			to := map[uint64]uint64{1: 2, 6: 8}[from]
			l.appendTo(t, name, from, to)
			changed[name] = int64(to)
		}
	}
	l.counter.Take()
	after := s.sweep(t)
	// As if each of them were four more.
	l.limit(t, "a few tables changed", len(l.names)+int(firstSweepCalls)*len(changed), laterSweepCalls)
	var proposed, want []string
	for name, version := range changed {
		if version >= 8 {
			want = append(want, name)
		}
		if got := after[compactJob].observed()[name]; got != version {
			t.Errorf("%s was observed at version %d, want %d", name, got, version)
		}
	}
	was := proposals(before[compactJob])
	for name := range proposals(after[compactJob]) {
		if !was[name] {
			proposed = append(proposed, name)
		}
	}
	slices.Sort(want)
	slices.Sort(proposed)
	if !slices.Equal(proposed, want) {
		t.Errorf("newly proposed are %q, want %q", proposed, want)
	}
	for name := range was {
		if !proposals(after[compactJob])[name] {
			t.Errorf("%s is not proposed any more", name)
		}
	}
	seen := before[compactJob].observed()
	maps.Copy(seen, changed)
	for name, version := range after[compactJob].observed() {
		if seen[name] != version {
			t.Errorf("%s was observed at version %d, want %d", name, version, seen[name])
		}
	}
}

// copies are names of up to n tables of the kind of so many appends, which are none of the
// first of their kind.
func (l *lake) copies(t *testing.T, appends uint64, n int) []string {
	t.Helper()
	kind := slices.IndexFunc(l.kinds, func(k manytables.Kind) bool { return k.Name == fmt.Sprintf("appends_%d", appends) })
	var names []string
	for i := kind + len(l.kinds); i < len(l.names) && len(names) < n; i += len(l.kinds) {
		names = append(names, l.names[i])
	}
	if len(names) < n {
		t.Fatalf("only %q of kind %d", names, kind)
	}
	return names
}

// appendTo makes a table of appends grow. Nothing of it is replaced.
func (l *lake) appendTo(t *testing.T, name string, from, to uint64) {
	t.Helper()
	was, err := manytables.Appends(lancetest.Root(), from)
	if err != nil {
		t.Fatal(err)
	}
	is, err := manytables.Appends(lancetest.Root(), to)
	if err != nil {
		t.Fatal(err)
	}
	for file := range was.Files {
		delete(is.Files, file)
	}
	if err := l.Put(t.Context(), name, is.Files); err != nil {
		t.Fatal(err)
	}
}

// proposals are the names of the tables for which jobs are proposed.
func proposals(s *swept) map[string]bool {
	out := make(map[string]bool)
	for _, p := range s.proposals.GetProposals() {
		if id := p.GetParameters()["table_id"].GetStringList().GetValues(); len(id) > 0 {
			out[id[len(id)-1]] = true
		}
	}
	return out
}
