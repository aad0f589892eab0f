package storetest

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// listOrder: names come in the order of their bytes, directories among files,
// and a directory's name has no slash for the order either.
func listOrder(t *testing.T, s objects.Store) {
	want := []string{"!", "+", "-", ".x", "0", "00", "9", "A", "Z", "_", "a", "a!", "a-b", "a.b", "a0", "aa", "b", "é", "中"}
	dirs := map[string]bool{"a": true, "a-b": true, "00": true}
	shuffled := slices.Clone(want)
	slices.Reverse(shuffled)
	for _, name := range shuffled {
		if dirs[name] {
			put(t, s, "d/"+name+"/inner", nil)
		} else {
			put(t, s, "d/"+name, nil)
		}
	}
	es := entries(t, s, "d")
	if got := names(es); !slices.Equal(got, want) {
		t.Errorf("order\n%q, want\n%q", got, want)
	}
	for _, e := range es {
		if e.Dir != dirs[e.Name] {
			t.Errorf("%q: Dir = %v", e.Name, e.Dir)
		}
	}
	// Every page size yields the same, and every bound is inclusive.
	for limit := 1; limit <= len(want)+1; limit++ {
		var got []string
		from := ""
		for {
			page, err := s.List(t.Context(), "d", from, limit)
			if err != nil {
				t.Fatal(err)
			}
			if len(page) > limit {
				t.Fatalf("limit %d: %d entries", limit, len(page))
			}
			got = append(got, names(page)...)
			if len(page) < limit {
				break
			}
			from = page[len(page)-1].Name + "\x00"
		}
		if !slices.Equal(got, want) {
			t.Errorf("in pages of %d\n%q, want\n%q", limit, got, want)
		}
	}
	for i, name := range want {
		page, err := s.List(t.Context(), "d", name, 2)
		if err != nil {
			t.Fatal(err)
		}
		if got := names(page); !slices.Equal(got, want[i:min(i+2, len(want))]) {
			t.Errorf("from %q: %q, want %q", name, got, want[i:min(i+2, len(want))])
		}
	}
}

func listBounds(t *testing.T, s objects.Store) {
	for _, name := range []string{"b", "d", "f/x", "h"} {
		put(t, s, "l/"+name, nil)
	}
	for _, c := range []struct {
		from  string
		limit int
		want  []string
	}{
		{"", 1, []string{"b"}},
		{"", 4, []string{"b", "d", "f", "h"}},
		{"", 1 << 30, []string{"b", "d", "f", "h"}},
		{"a", 2, []string{"b", "d"}},
		{"b", 2, []string{"b", "d"}},
		{"b\x00", 2, []string{"d", "f"}},
		{"c", 10, []string{"d", "f", "h"}},
		{"f", 1, []string{"f"}},
		{"f/", 10, []string{"h"}},
		{"f/x", 10, []string{"h"}},
		{"h", 10, []string{"h"}},
		{"h\x00", 10, nil},
		{"zzz", 10, nil},
		{"B", 1, []string{"b"}},
		{"..", 10, []string{"b", "d", "f", "h"}},
	} {
		page, err := s.List(t.Context(), "l", c.from, c.limit)
		if err != nil {
			t.Errorf("from %q: %v", c.from, err)
		} else if got := names(page); !slices.Equal(got, c.want) && len(got)+len(c.want) > 0 {
			t.Errorf("from %q, limit %d: %q, want %q", c.from, c.limit, got, c.want)
		}
	}
	for _, limit := range []int{0, -1} {
		if _, err := s.List(t.Context(), "l", "", limit); err == nil {
			t.Errorf("limit %d: no error", limit)
		}
	}
}

func listDirectories(t *testing.T, s objects.Store) {
	for _, dir := range []string{"", "none", "none/at/all"} {
		if es := entries(t, s, dir); len(es) != 0 {
			t.Errorf("%q lists %q in an empty store", dir, names(es))
		}
	}
	deep := "tree/b1/tree/b2/_indices/u/p"
	put(t, s, deep+"/file", nil)
	put(t, s, "top", nil)
	for dir, want := range map[string][]string{
		"":             {"top", "tree"},
		"tree":         {"b1"},
		"tree/b1":      {"tree"},
		"tree/b1/tree": {"b2"},
		deep:           {"file"},
		"tree/b":       nil, // a prefix is no directory
		"tree/b1/none": nil,
	} {
		if got := names(entries(t, s, dir)); !slices.Equal(got, want) && len(got)+len(want) > 0 {
			t.Errorf("%q lists %q, want %q", dir, got, want)
		}
	}
	// What became empty is gone, up to the first level.
	put(t, s, "tree/b1/x", nil)
	if err := s.Delete(t.Context(), deep+"/file"); err != nil {
		t.Fatal(err)
	}
	if got := names(entries(t, s, "tree/b1")); !slices.Equal(got, []string{"x"}) {
		t.Errorf("tree/b1 lists %q, want x alone", got)
	}
}

func listEntries(t *testing.T, s objects.Store) {
	put(t, s, "d/small", []byte("12345"))
	stream(t, s, "d/large", noise(9, large))
	put(t, s, "d/sub/x", []byte("x"))
	for _, e := range entries(t, s, "d") {
		if e.Name == "sub" {
			if !e.Dir || e.Size != 0 || e.Token != "" || !e.ModTime.IsZero() {
				t.Errorf("directory listed as %+v", e)
			}
			continue
		}
		_, o := content(t, s, "d/"+e.Name)
		if e.Dir || e.Size != o.Size || e.Token != o.Token || !e.ModTime.Equal(o.ModTime) {
			t.Errorf("listed as %+v, opened as %+v", e, o)
		}
	}
}

// all: a directory of exactly one page, and of one entry more.
func all(t *testing.T, s objects.Store) {
	var want []string
	for i := range objects.ListPage {
		want = append(want, fmt.Sprintf("%04d", i))
	}
	for _, err := range together(16, func(g int) error {
		for i := g; i < len(want); i += 16 {
			if err := s.Publish(t.Context(), "d/"+want[i], nil); err != nil {
				return err
			}
		}
		return nil
	}) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if got := names(entries(t, s, "d")); !slices.Equal(got, want) {
		t.Errorf("one page: %d entries, want %d in order", len(got), len(want))
	}
	put(t, s, "d/9999", nil)
	want = append(want, "9999")
	if got := names(entries(t, s, "d")); !slices.Equal(got, want) {
		t.Errorf("a page and one: %d entries, want %d in order", len(got), len(want))
	}
	stop := errors.New("stop")
	seen := 0
	err := objects.All(t.Context(), s, "d", func(objects.Entry) error {
		if seen++; seen == 3 {
			return stop
		}
		return nil
	})
	if err != stop || seen != 3 {
		t.Errorf("All after an error of yield: %v, %d calls", err, seen)
	}
}
