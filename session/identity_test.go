package session

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
)

func TestJudge(t *testing.T) {
	now := newClock().Now()
	known := func(id string, confirmed time.Duration) *record {
		return &record{id: id, ref: table.VersionRef{Version: 5, Token: "five", ModTime: now.Add(-time.Hour)}, confirmed: now.Add(-confirmed),
			seen: []sighting{{3, "three"}, {4, "four"}, {2, ""}}}
	}
	for _, c := range []struct {
		name    string
		known   *record
		version uint64
		token   string
		id      string
		there   string // yes, no, error; "" when it must not be asked
		want    verdict
	}{
		{"newer, marked", known("a", 0), 6, "six", "a", "", moved},
		{"newer, another id", known("a", 0), 6, "six", "b", "", another},
		{"newer, no longer marked", known("a", 0), 6, "six", "", "", another},
		{"newer, marked now", known("", 0), 6, "six", "a", "", another},
		{"newer, unmarked, the old one is there", known("", 0), 6, "six", "", "yes", moved},
		{"newer, unmarked, the old one is not", known("", 0), 6, "six", "", "no", another},
		{"newer, unmarked, who knows", known("", 0), 6, "six", "", "error", 0},
		{"the same, another object", known("", 0), 5, "other", "", "", another},
		{"the same, another object, marked", known("a", 0), 5, "other", "a", "", another},
		{"older, the newer one is there", known("", 0), 4, "four", "", "yes", behind},
		{"older, the newer one is there, even later", known("a", time.Hour), 4, "x", "a", "yes", behind},
		{"older, marked", known("a", lagTime), 2, "two", "a", "no", behind},
		{"older, marked, for long", known("a", lagTime+1), 2, "two", "a", "no", another},
		{"older, marked, seen before, for long", known("a", lagTime+1), 4, "four", "a", "no", moved},
		{"older, marked, written since", known("a", 0), 2, "since", "a", "no", another},
		{"older, marked, in a directory", known("a", 0), 2, "local", "a", "no", another},
		{"older, marked, seen before, in a directory", known("a", 0), 4, "four", "a", "no", moved},
		{"older, another id", known("a", 0), 4, "four", "b", "", another},
		{"older, seen before", known("", lagTime), 4, "four", "", "no", behind},
		{"older, seen before, for long", known("", lagTime+1), 4, "four", "", "no", moved},
		{"older, another object", known("", 0), 4, "other", "", "no", another},
		{"older, never seen", known("", 0), 1, "one", "", "no", another},
		{"older, objects can't be told apart", known("", 0), 2, "", "", "no", another},
	} {
		t.Run(c.name, func(t *testing.T) {
			no := errors.New("no")
			ref := table.VersionRef{Version: c.version, Token: c.token, ModTime: now.Add(-2 * time.Hour)}
			if c.token == "since" {
				ref.ModTime = now
			}
			got, err := judge(c.known, ref, c.id, !strings.HasSuffix(c.name, "directory"), now, func() (bool, error) {
				switch c.there {
				case "":
					t.Error("the store was asked")
				case "error":
					return false, no
				}
				return c.there == "yes", nil
			})
			if got != c.want || (err != nil) != (c.there == "error") {
				t.Errorf("verdict %d, error %v, want %d", got, err, c.want)
			}
		})
	}
}

func TestSeenIsBounded(t *testing.T) {
	now := newClock().Now()
	r := &record{generation: 7, ref: table.VersionRef{Version: 1, Token: "1"}}
	var before []*record
	for v := range uint64(40) {
		before = append(before, r)
		r = r.newer(table.VersionRef{Version: v + 2, Token: "x"}, table.NamingV2, "", now)
	}
	if len(r.seen) != maxSeen || r.seen[maxSeen-1].version != 40 || r.generation != 7 {
		t.Errorf("%+v", r)
	}
	for i, b := range before[1:] { // what others hold has not changed
		if last := b.seen[len(b.seen)-1].version; last != uint64(i+1) {
			t.Errorf("record of version %d has seen %d last", i+2, last)
		}
	}
}

// A filer that lags behind: the newer version stays, until it has been gone for too long.
func TestLag(t *testing.T) {
	for _, id := range []string{"", "an id"} {
		c := newClock()
		w := newWorld(t)
		w.lags = true
		w.put("many_appends", 9)
		if id != "" {
			w.mark(id)
		}
		s := newSession(t, Options{Now: c.Now})
		w.hideAbove(8)
		open(t, s, w.location())
		w.hideAbove(9)
		want := textOf(t, open(t, s, w.location()))
		w.hideAbove(8)
		for range 3 {
			if got := open(t, s, w.location()); got.Version() != 9 || textOf(t, got) != want {
				t.Errorf("id %q: version %d from a store that lags", id, got.Version())
			}
			c.add(lagTime / 4)
		}
		c.add(lagTime)
		if got := open(t, s, w.location()); got.Version() != 8 {
			t.Errorf("id %q: version %d though the table was set back", id, got.Version())
		}
		w.hideAbove(9)
		if got := open(t, s, w.location()); got.Version() != 9 || textOf(t, got) != want {
			t.Errorf("id %q: version %d", id, got.Version())
		}
		if x := s.Stats(); x.Lagging != 3 || x.StartOvers != 0 {
			t.Errorf("id %q: %+v", id, x)
		}
	}
}

// What lags and is not kept either can't be read: the store's version is served.
func TestLagWithoutMemory(t *testing.T) {
	w := newWorld(t)
	w.lags = true
	w.put("many_appends", 9)
	s := newSession(t, Options{MetadataBytes: -1, Now: newClock().Now})
	w.hideAbove(8)
	open(t, s, w.location())
	w.hideAbove(9)
	open(t, s, w.location())
	w.hideAbove(8)
	if got := open(t, s, w.location()); got.Version() != 8 {
		t.Errorf("version %d", got.Version())
	}
}

// A copy that is put back, and a table that is made anew with the id of the old one, are what is
// there, also at a lower version: at the next look, wherever they are.
func TestPutBack(t *testing.T) {
	for _, lags := range []bool{false, true} {
		for _, id := range []string{"", "an id"} {
			for _, version := range []uint64{1, 5, 8, 9} {
				w := newWorld(t)
				w.lags = lags
				put := func(upTo uint64) {
					w.put("many_appends", upTo)
					if id != "" {
						w.mark(id)
					}
				}
				put(8)
				s := newSession(t, Options{Now: newClock().Now})
				open(t, s, w.location())
				put(9)
				open(t, s, w.location())
				put(version)
				want := textOf(t, open(t, newSession(t, Options{}), w.location()))
				if got := open(t, s, w.location()); got.Version() != version || textOf(t, got) != want {
					t.Errorf("lags %v, id %q: version %d, want %d", lags, id, got.Version(), version)
				}
				if v, err := s.Versions(t.Context(), w.location()); err != nil || v[len(v)-1].Version != version {
					t.Errorf("lags %v, id %q: versions %v, %v", lags, id, v, err)
				}
			}
		}
	}
}

// In a directory a version that was removed by hand is gone at once.
func TestSetBack(t *testing.T) {
	for _, id := range []string{"", "an id"} {
		w := newWorld(t)
		w.put("many_appends", 9)
		if id != "" {
			w.mark(id)
		}
		s := newSession(t, Options{Now: newClock().Now})
		for _, version := range []uint64{8, 9, 8, 5, 9} {
			w.hideAbove(version)
			if got := open(t, s, w.location()); got.Version() != version {
				t.Errorf("id %q: version %d, want %d", id, got.Version(), version)
			}
		}
	}
}
