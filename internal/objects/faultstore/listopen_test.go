package faultstore_test

import (
	"errors"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
	"github.com/seaweedfs/seaweed-lance/internal/objects/faultstore"
	"github.com/seaweedfs/seaweed-lance/internal/objects/storetest"
)

// A listing that can be opened is one call; opening is none where the inner store does
// without, and reading is one in any case.
func TestListOpenCalls(t *testing.T) {
	for _, c := range []struct {
		wrap func(objects.Store) objects.Store
		want []faultstore.Op
	}{
		{storetest.Opening, []faultstore.Op{faultstore.List, faultstore.Read}},
		{func(s objects.Store) objects.Store { return s }, []faultstore.Op{faultstore.List, faultstore.Open, faultstore.Read}},
	} {
		in := inner(t)
		seed(t, in, "d/x", "content")
		s := faultstore.New(c.wrap(in), nil)
		page, err := objects.ListOpen(t.Context(), s, "d", "", 5)
		if err != nil || len(page) != 1 {
			t.Fatal(page, err)
		}
		if p, _, err := objects.ReadListed(t.Context(), page[0], 7); err != nil || string(p) != "content" {
			t.Errorf("%q, %v", p, err)
		}
		calls := s.Calls()
		if len(calls) != len(c.want) {
			t.Fatalf("calls %v, want %v", calls, c.want)
		}
		for i, op := range c.want {
			if calls[i].Op != op {
				t.Errorf("calls %v, want %v", calls, c.want)
			}
		}
		if calls[0].Name != "d" || calls[0].Size != 5 {
			t.Errorf("listed by %+v", calls[0])
		}
		s.Kill()
		if _, err := page[0].Open(t.Context()); !errors.Is(err, faultstore.ErrDead) {
			t.Errorf("opened by a dead store: %v", err)
		}
	}
}

// Faults of listings are those of List.
func TestListOpenFaults(t *testing.T) {
	boom := errors.New("boom")
	for _, wrap := range []func(objects.Store) objects.Store{storetest.Opening, func(s objects.Store) objects.Store { return s }} {
		in := inner(t)
		seed(t, in, "d/x", "0")
		seed(t, in, "d/y", "1")
		for a, want := range map[string]struct {
			action faultstore.Action
			phase  faultstore.Phase
			err    error
			n      int
		}{
			"fail":  {faultstore.Fail(boom), faultstore.Before, boom, 0},
			"lose":  {faultstore.Lose(), faultstore.After, faultstore.ErrLost, 0},
			"short": {faultstore.Short(1, boom), faultstore.After, boom, 1},
			"die":   {faultstore.Die(), faultstore.Before, faultstore.ErrDead, 0},
		} {
			s := faultstore.New(wrap(in), faultstore.When(faultstore.On(want.phase, faultstore.List, "d"), want.action))
			page, err := s.ListOpen(t.Context(), "d", "", 5)
			if !errors.Is(err, want.err) || len(page) != want.n {
				t.Errorf("%s: %d entries, %v", a, len(page), err)
			}
			for _, l := range page {
				if _, _, err := objects.ReadListed(t.Context(), l, 1); err != nil {
					t.Errorf("%s: %v", a, err)
				}
			}
		}
	}
}
