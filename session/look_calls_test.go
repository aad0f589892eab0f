package session

import (
	"context"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/location"
	"github.com/seaweedfs/seaweed-lance/internal/objects/dirstore"
	"github.com/seaweedfs/seaweed-lance/internal/objects/faultstore"
	"github.com/seaweedfs/seaweed-lance/internal/objects/storetest"
)

// opening leads to the world's directory as if it were on a cluster, where a listing
// says how to open what it lists.
func (w *world) opening() Location {
	return location.New("opening "+w.dir, w.dir, func(context.Context) (location.Place, error) {
		s, err := dirstore.New(w.dir, dirstore.Options{})
		if err != nil {
			return location.Place{}, err
		}
		return location.Place{Store: faultstore.New(storetest.Opening(s), w.called), Moved: s.Moved}, nil
	})
}

// On a cluster the first look at a table is one call, and so is each further one, whether or not the
// table has moved. One that has moved and has no id takes another, for the version that was known.
func TestLookCallsOfListings(t *testing.T) {
	for _, id := range []string{"", "an id"} {
		w := newWorld(t)
		w.put("stable_ids", 0)
		if id != "" {
			w.mark(id)
		}
		w.hideAbove(3)
		s, l := newSession(t, Options{}), w.opening()
		look := func(what string, version uint64, lists int64) {
			t.Helper()
			w.calls()
			if got := open(t, s, l).Version(); got != version {
				t.Errorf("%s: version %d", what, got)
			}
			if c := w.calls(); c[0] != lists || c[1] != 0 {
				t.Errorf("id %q, %s: %d listings, %d objects opened; want %d, 0", id, what, c[0], c[1], lists)
			}
		}
		look("first", 3, 1)
		look("unchanged", 3, 1)
		for v := uint64(4); v <= 8; v += 2 {
			w.hideAbove(v)
			if id != "" {
				look("moved", v, 1)
			} else {
				look("moved", v, 2)
			}
			look("unchanged since", v, 1)
		}
	}
}
