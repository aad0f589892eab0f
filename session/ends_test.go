package session

import (
	"context"
	"errors"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/pin"
)

func TestClose(t *testing.T) {
	w := newWorld(t)
	w.put("types_22", 0)
	s, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	tab := open(t, s, w.location())
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if textOf(t, tab) != fresh(t, w.location()) {
		t.Error("an opened table reads something else after the session was closed")
	}
	if _, err := s.Open(t.Context(), w.location()); !errors.Is(err, ErrClosed) {
		t.Errorf("error %v", err)
	}
	if x := s.Stats(); x.Tables != 0 || x.Records != 0 || x.Metadata.Entries != 0 || x.Metadata.Bytes != 0 {
		t.Errorf("%+v", x)
	}
	if _, err := New(Options{Tables: -1}); err == nil {
		t.Error("a session of -1 tables")
	}
}

// What this module's own packages get of a table.
func TestPinned(t *testing.T) {
	w := newWorld(t)
	w.put("types_22", 0)
	s := newSession(t, Options{})
	a, b := pin.Of(open(t, s, w.location())), pin.Of(open(t, s, w.location()))
	if a.Location != b.Location || a.Location == "" || a.Table.Version() != 3 || a.Table.Store() == nil {
		t.Errorf("%+v and %+v", a, b)
	}
}

func TestContextEnds(t *testing.T) {
	w := newWorld(t)
	w.put("types_22", 0)
	s := newSession(t, Options{})
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("why")
	cancel(why)
	if _, err := s.Open(ctx, w.location()); !errors.Is(err, why) {
		t.Errorf("error %v", err)
	}
	if got := w.calls(); got != [3]int64{} {
		t.Errorf("calls %v", got)
	}
}

// A store that can't tell objects apart is asked for each of them anew.
func TestWithoutTokens(t *testing.T) {
	if v, err := judge(&record{ref: table.VersionRef{Version: 1}}, table.VersionRef{Version: 1}, "", false, newClock().Now(), nil); v != moved || err != nil {
		t.Errorf("verdict %v, %v", v, err)
	}
	c := newCache(1 << 20)
	c.put(cacheKey{location: "l", name: "n"}, "value", 5, func() bool { return true })
	if c.stats().Entries != 0 {
		t.Error("an object without a token was kept")
	}
}
