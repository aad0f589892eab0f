package table

import (
	"context"
	"errors"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
	"github.com/seaweedfs/seaweed-lance/internal/objects/faultstore"
)

// Another's version takes the number and is cleaned away before anyone can look whose
// it was: the versions above tell that it was not ours.
func TestCommitExistsForeignAndCleaned(t *testing.T) {
	for _, rewrites := range []bool{false, true} {
		w := newWorld(t, NamingV2, 2)
		w.reserve(1) // makes version 2
		done := false
		s := faultstore.New(w.s, func(c faultstore.Call) faultstore.Action {
			switch {
			case done:
			case creates(faultstore.Before)(c):
				w.append(1)
				w.append(1)
			case creates(faultstore.After)(c):
				done = true
				w.drop(3)
			}
			return faultstore.Pass
		})
		base := open(t, s)
		txn := reserve(1)
		if rewrites {
			ids := []uint64{base.Fragments()[0].GetId(), base.Fragments()[1].GetId()}
			top, _ := base.MaxFragmentID()
			txn = rewriteOf(base, top, ids...)
		}
		_, err := committer(nil).Commit(t.Context(), base, txn)
		if !errors.Is(err, ErrConflict) || errors.Is(err, objects.ErrUnknown) {
			t.Errorf("rewrite %t: error %v", rewrites, err)
		}
	}
}

// own answers "exists" to a create that was carried out, after which others commit on top
// and clean up.
type own struct {
	objects.Store
	w    *world
	done bool
}

func (o *own) Publish(ctx context.Context, name string, b []byte) error {
	err := o.Store.Publish(ctx, name, b)
	if err == nil && !o.done && name == NamingV2.ManifestName(3) {
		o.done = true
		o.w.append(1)
		o.w.drop(3)
		return objects.ErrExists
	}
	return err
}

func TestCommitExistsOwnAndCleaned(t *testing.T) {
	w := newWorld(t, NamingV2, 2)
	w.reserve(1) // makes version 2
	base := open(t, &own{Store: w.s, w: w})
	top, _ := base.MaxFragmentID()
	ids := []uint64{base.Fragments()[0].GetId(), base.Fragments()[1].GetId()}
	_, err := committer(nil).Commit(t.Context(), base, rewriteOf(base, top, ids...))
	if !errors.Is(err, objects.ErrUnknown) || errors.Is(err, ErrConflict) {
		t.Errorf("error %v: its files are live, and who hears of a conflict removes them", err)
	}
}
