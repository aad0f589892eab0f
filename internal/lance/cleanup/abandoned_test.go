package cleanup

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
	"github.com/seaweedfs/seaweed-lance/internal/objects/faultstore"
)

func isLeft(tag string) bool { return strings.HasPrefix(tag, "left-") }

// leftTable has tags of which the holders have died, on versions 1, 3 and 2, which another one
// names too, and on a branch.
func leftTable(t *testing.T) *world {
	t.Helper()
	w := sample(t, table.NamingV2)
	w.tag("left-a", 1)
	w.tag("left-b", 3)
	w.tag("left-c", 2)
	if err := makeTag(w.s, "left-d", "b", 5); err != nil {
		t.Fatal(err)
	}
	return w
}

func withAbandoned(o Options) Options {
	o.Abandoned = isLeft
	return o
}

func tagNames(t *testing.T, s objects.Store) []string {
	t.Helper()
	names, err := table.TagNames(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// Abandoned tags go, and with them what they alone held on to.
func TestAbandonedTags(t *testing.T) {
	w := leftTable(t)
	res, err := Run(t.Context(), w.s, options(everything))
	if err != nil || res.TagsRemoved != 0 || !slices.Equal(versions(t, w.s), []uint64{1, 2, 3, 4, 9}) {
		t.Fatalf("not asked to: %+v, %v", res, err)
	}
	w = leftTable(t)
	s := w.s
	o := withAbandoned(dryRun(everything))
	res, err = Run(t.Context(), s, o)
	if err != nil || res.TagsRemoved != 0 || !slices.Equal(res.Removed, []uint64{1, 3, 5, 6, 7, 8}) || len(tagNames(t, s)) != 5 {
		t.Errorf("foreseen: %+v, %v; tags %v", res, err, tagNames(t, s))
	}
	res, err = Run(t.Context(), s, withAbandoned(options(everything)))
	if err != nil || res.TagsRemoved != 4 || !slices.Equal(res.Removed, []uint64{1, 3, 5, 6, 7, 8}) {
		t.Errorf("%+v, %v", res, err)
	}
	if got := tagNames(t, s); !slices.Equal(got, []string{"two"}) {
		t.Errorf("tags %v", got)
	}
	if got := versions(t, s); !slices.Equal(got, []uint64{2, 4, 9}) {
		t.Errorf("left %v", got)
	}
	checkFiles(t, s)
	res, err = Run(t.Context(), s, withAbandoned(options(everything)))
	if err != nil || res.Changed || res.TagsRemoved != 0 {
		t.Errorf("again: %+v, %v", res, err)
	}
}

// A tag that can't be removed pins as before.
func TestAbandonedTagStays(t *testing.T) {
	for _, c := range []struct {
		name string
		hook faultstore.Hook
	}{
		{"denied", faultstore.When(faultstore.On(faultstore.Before, faultstore.Delete, table.TagsDir+"/left-b"), faultstore.Fail(objects.ErrDenied))},
		{"still under way", faultstore.When(faultstore.On(faultstore.Before, faultstore.Delete, table.TagsDir+"/left-b"), faultstore.Delay())},
	} {
		w := leftTable(t)
		f := faultstore.New(w.s, c.hook)
		res, err := Run(t.Context(), f, withAbandoned(options(everything)))
		if err != nil || res.TagsRemoved != 3 {
			t.Errorf("%s: %+v, %v", c.name, res, err)
		}
		if got := versions(t, w.s); !slices.Equal(got, []uint64{2, 3, 4, 9}) {
			t.Errorf("%s: left %v", c.name, got)
		}
		if !slices.ContainsFunc(res.Kept, func(k Kept) bool { return k.Version == 3 && strings.Contains(k.Reason, "left-b") }) {
			t.Errorf("%s: kept %v", c.name, res.Kept)
		}
		f.Land(t.Context())
		everyVersion(t, w.s)
	}
	// Names that can't be listed: so can't be what they pin.
	boom := errors.New("boom")
	w := leftTable(t)
	f := faultstore.New(w.s, faultstore.When(faultstore.On(faultstore.Before, faultstore.List, table.TagsDir), faultstore.Fail(boom)))
	if res, err := Run(t.Context(), f, withAbandoned(options(everything))); !errors.Is(err, boom) || f.Count(faultstore.Delete) > 0 {
		t.Errorf("not listed: %+v, %v", res, err)
	}
}

// Any call fails, is lost, or is the last one of the process: versions stay whole, and the next
// run does the rest.
func TestAbandonedFaults(t *testing.T) {
	base := leftTable(t)
	for name, a := range map[string]faultstore.Action{"fail": faultstore.Fail(errors.New("boom")), "lose": faultstore.Lose(), "die": faultstore.Die()} {
		for p := range faultstore.Points() {
			if p.N > 12 && skip(p, 7) { // the tags are among the first calls
				continue
			}
			s := again(t, base.s)
			res, _ := Run(t.Context(), faultstore.New(s, p.Hook(a)), withAbandoned(serial(everything)))
			if gone := 5 - len(tagNames(t, s)); res.TagsRemoved > gone {
				t.Errorf("%d tags counted of %d that are gone", res.TagsRemoved, gone)
			}
			everyVersion(t, s)
			if _, err := Run(t.Context(), s, withAbandoned(serial(everything))); err != nil {
				t.Errorf("the next run: %v", err)
			}
			if got := versions(t, s); !slices.Equal(got, []uint64{2, 4, 9}) || !slices.Equal(tagNames(t, s), []string{"two"}) {
				t.Errorf("left %v, tags %v", got, tagNames(t, s))
			}
			checkFiles(t, s)
			if t.Failed() {
				t.Fatal(fmt.Sprint(name, " at ", p.N, p.Phase))
			}
		}
	}
}
