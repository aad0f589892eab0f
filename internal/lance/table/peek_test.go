package table

import (
	"errors"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
	"github.com/seaweedfs/seaweed-lance/internal/objects/faultstore"
	"github.com/seaweedfs/seaweed-lance/internal/objects/storetest"
)

// What the newest version costs, on a store whose listings can be opened and on one
// where names are opened.
func TestPeekCalls(t *testing.T) {
	type cost struct{ lists, opens int }
	for name, c := range map[string]struct {
		naming, known Naming
		strangers     []string
		opening       cost
		byName        cost
	}{
		"V2":                       {NamingV2, NamingUnknown, nil, cost{1, 0}, cost{1, 1}},
		"V2 known":                 {NamingV2, NamingV2, nil, cost{1, 0}, cost{1, 1}},
		"V2 behind a stranger":     {NamingV2, NamingV2, []string{".tmp-1"}, cost{2, 0}, cost{2, 1}},
		"V2 behind 20":             {NamingV2, NamingV2, temporaries(20), cost{3, 0}, cost{3, 1}},
		"V1":                       {NamingV1, NamingUnknown, nil, cost{2, 1}, cost{2, 1}},
		"V1 known":                 {NamingV1, NamingV1, nil, cost{1, 1}, cost{1, 1}},
		"V1 behind a stranger":     {NamingV1, NamingUnknown, []string{".tmp-1"}, cost{3, 1}, cost{3, 1}},
		"V2 that was V1 before":    {NamingV2, NamingV1, nil, cost{1, 1}, cost{1, 1}},
		"V1 that was V2 before":    {NamingV1, NamingV2, nil, cost{2, 1}, cost{2, 1}},
		"V2, names that come last": {NamingV2, NamingV2, []string{"latest_version_hint.json", "d9223372036854775900.manifest"}, cost{1, 0}, cost{1, 1}},
	} {
		w := newWorld(t, c.naming, 1)
		for range 11 {
			w.config("x")
		}
		for _, n := range c.strangers {
			write(t, w.s, VersionsDir+"/"+n, `{"version":1}`)
		}
		for kind, x := range map[string]struct {
			s    objects.Store
			want cost
		}{"opening": {storetest.Opening(w.s), c.opening}, "by name": {w.s, c.byName}} {
			s := faultstore.New(x.s, nil)
			p, err := Peek(t.Context(), s, c.known)
			if err != nil || p.Ref.Version != 12 || p.Naming != c.naming {
				t.Errorf("%s, %s: %+v, %v", name, kind, p, err)
				continue
			}
			if first := s.Calls()[0]; c.known != NamingV1 && first.Size != 1 {
				t.Errorf("%s, %s: %d names were asked for at first", name, kind, first.Size)
			}
			got, err := p.Open(t.Context())
			if err != nil || got.Ref() != p.Ref || got.Naming() != c.naming {
				t.Errorf("%s, %s: %+v, want %+v, %v", name, kind, got.Ref(), p.Ref, err)
			}
			if n := (cost{s.Count(faultstore.List), s.Count(faultstore.Open)}); n != x.want {
				t.Errorf("%s, %s: %+v, want %+v", name, kind, n, x.want)
			}
		}
	}
}

func temporaries(n int) (names []string) {
	for i := range n {
		names = append(names, ".tmp-"+string(rune('a'+i)))
	}
	return names
}

// A version that goes after it was listed is read as it was, or is not found.
func TestPeekAndGone(t *testing.T) {
	for _, n := range []Naming{NamingV1, NamingV2} {
		w := newWorld(t, n, 1)
		w.config("x")
		for kind, s := range map[string]objects.Store{"opening": storetest.Opening(w.s), "by name": w.s} {
			p, err := Peek(t.Context(), s, n)
			if err != nil {
				t.Fatal(err)
			}
			w.config("y")
			w.drop(p.Ref.Version)
			got, err := p.Open(t.Context())
			if kind == "opening" && n == NamingV2 {
				if err != nil || got.Ref() != p.Ref {
					t.Errorf("%s, %s: %v", n, kind, err)
				}
			} else if !errors.Is(err, objects.ErrNotFound) {
				t.Errorf("%s, %s: %v", n, kind, err)
			}
		}
	}
}

// Whatever call fails, so does a look at the newest version.
func TestPeekFails(t *testing.T) {
	boom := errors.New("boom")
	for _, n := range []Naming{NamingV1, NamingV2} {
		w := newWorld(t, n, 1)
		for p := range faultstore.Points() {
			s := faultstore.New(storetest.Opening(w.s), p.Hook(faultstore.Fail(boom)))
			_, err := Open(t.Context(), s)
			if p.Reached() != errors.Is(err, boom) || !p.Reached() && err != nil {
				t.Errorf("%s, %d %s: %v", n, p.N, p.Phase, err)
			}
		}
	}
}

// A tag is read by the listing that shows it; one that was replaced, or whose bytes are
// gone, by its name.
func TestTagsByListing(t *testing.T) {
	w := newWorld(t, NamingV2, 1)
	for _, name := range []string{"a", "b", "c"} {
		write(t, w.s, TagsDir+"/"+name+".json", `{"version":1}`)
	}
	s := faultstore.New(storetest.Opening(w.s), nil)
	tags, err := Tags(t.Context(), s)
	if err != nil || len(tags) != 3 || s.Count(faultstore.List, faultstore.Open) != 1 {
		t.Errorf("%v, %v, by %v", tags, err, s.Calls())
	}
	// One can't be read: what it protects is not known.
	boom := errors.New("no volume server has it")
	lost := faultstore.Nth(0, faultstore.On(faultstore.Before, faultstore.Read, TagsDir+"/b"), faultstore.Fail(boom))
	if tags, err := Tags(t.Context(), faultstore.New(storetest.Opening(w.s), lost)); !errors.Is(err, boom) {
		t.Errorf("lost: %v, %v", tags, err)
	}
	// It was replaced since the listing, and its bytes have gone.
	again := faultstore.Nth(0, faultstore.On(faultstore.Before, faultstore.Read, TagsDir+"/b"), faultstore.Fail(boom))
	replaced := func(c faultstore.Call) faultstore.Action {
		if a := again(c); a != faultstore.Pass {
			if err := w.s.Replace(t.Context(), c.Name, []byte(`{"version":7}`)); err != nil {
				t.Error(err)
			}
			return a
		}
		return faultstore.Pass
	}
	tags, err = Tags(t.Context(), faultstore.New(storetest.Opening(w.s), replaced))
	if err != nil || len(tags) != 3 || tags[1].Version != 7 {
		t.Errorf("replaced: %v, %v", tags, err)
	}
	hook := func(c faultstore.Call) faultstore.Action {
		if c.Op == faultstore.Read && c.Phase == faultstore.Before && c.Name == TagsDir+"/b.json" {
			if err := w.s.Delete(t.Context(), c.Name); err != nil {
				t.Error(err)
			}
			return faultstore.Fail(objects.ErrNotFound)
		}
		return faultstore.Pass
	}
	tags, err = Tags(t.Context(), faultstore.New(storetest.Opening(w.s), hook))
	if err != nil || len(tags) != 2 {
		t.Errorf("removed: %v, %v", tags, err)
	}
}
