package storetest

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// listOpen: a listing whose entries can be opened shows what List shows, and
// opens what Open opens.
func listOpen(t *testing.T, s objects.Store) {
	want := map[string][]byte{"empty": nil, "large": noise(11, large), "small": []byte("12345")}
	put(t, s, "d/small", want["small"])
	put(t, s, "d/empty", nil)
	put(t, s, "d/sub/x", []byte("x"))
	stream(t, s, "d/large", want["large"])
	put(t, s, "top", []byte("top"))
	for _, c := range []struct {
		dir, from string
		limit     int
	}{{"d", "", 100}, {"d", "", 4}, {"d", "", 2}, {"d", "f", 1}, {"d", "small\x00", 100}, {"", "", 100}, {"none", "", 1}, {"d/sub", "", 10}} {
		plain, err := s.List(t.Context(), c.dir, c.from, c.limit)
		if err != nil {
			t.Fatal(err)
		}
		page, err := objects.ListOpen(t.Context(), s, c.dir, c.from, c.limit)
		if err != nil || len(page) != len(plain) {
			t.Fatalf("%+v: %d entries, %d without opening, %v", c, len(page), len(plain), err)
		}
		for i, l := range page {
			e := l.Entry
			if !e.ModTime.Equal(plain[i].ModTime) {
				t.Errorf("%+v: listed as %+v, without opening as %+v", c, e, plain[i])
			}
			if e.ModTime = plain[i].ModTime; e != plain[i] {
				t.Errorf("%+v: listed as %+v, without opening as %+v", c, e, plain[i])
			}
		}
	}
	page, err := objects.ListOpen(t.Context(), s, "d", "", 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range page {
		if l.Dir {
			_, err := l.Open(t.Context())
			wantErr(t, "Open of the directory "+l.Name, err, objects.ErrNotFound)
			continue
		}
		for range 2 { // as often as one likes
			p, e, err := objects.ReadListed(t.Context(), l, large)
			if err != nil || !bytes.Equal(p, want[l.Name]) {
				t.Errorf("%s: %d bytes, %v", l.Name, len(p), err)
			}
			if e.Name != "d/"+l.Name || e.Size != l.Size || e.Token != l.Token || !e.ModTime.Equal(l.ModTime) {
				t.Errorf("listed as %+v, opened as %+v", l.Entry, e)
			}
		}
		if l.Size > 0 {
			_, _, err := objects.ReadListed(t.Context(), l, l.Size-1)
			if err == nil {
				t.Errorf("%s: more bytes than wanted, and no error", l.Name)
			}
		}
	}
	top, err := objects.ListOpen(t.Context(), s, "", "top", 1)
	if err != nil || len(top) != 1 {
		t.Fatal(top, err)
	}
	if p, e, err := objects.ReadListed(t.Context(), top[0], 3); string(p) != "top" || e.Name != "top" {
		t.Errorf("top: %q, %+v, %v", p, e, err)
	}
	below, err := objects.ListOpen(t.Context(), objects.Sub(s, "d"), "sub", "", 1)
	if err != nil || len(below) != 1 {
		t.Fatal(below, err)
	}
	if p, _, err := objects.ReadListed(t.Context(), below[0], 3); string(p) != "x" {
		t.Errorf("below a part of the store: %q, %v", p, err)
	}
	n := 0
	if err := objects.AllOpen(t.Context(), s, "d", func(objects.Listed) error { n++; return nil }); err != nil || n != 4 {
		t.Errorf("all: %d entries, %v", n, err)
	}
}

// listOpenChanged: what has changed since the listing is what it was, or what the
// name has now, or not found; never a mixture.
func listOpenChanged(t *testing.T, s objects.Store) {
	old, fresh := noise(12, 100_000), noise(13, 100_000)
	for _, name := range []string{"gone", "other", "same"} {
		put(t, s, "d/"+name, old)
	}
	page, err := objects.ListOpen(t.Context(), s, "d", "", 10)
	if err != nil || len(page) != 3 {
		t.Fatal(page, err)
	}
	for _, name := range []string{"d/gone", "d/other"} {
		if err := s.Delete(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	put(t, s, "d/other", fresh)
	for _, l := range page {
		p, e, err := objects.ReadListed(t.Context(), l, large)
		switch {
		case err != nil:
			// A store that still has the bytes may as well return them; one that
			// has not must say so in this way.
			if l.Name == "same" || l.Name == "gone" && !errors.Is(err, objects.ErrNotFound) {
				t.Errorf("%s: %v", l.Name, err)
			}
		case e.Token == l.Token && e.Token != "":
			if !bytes.Equal(p, old) {
				t.Errorf("%s: another content under the token that was listed", l.Name)
			}
		case l.Name != "other" || !bytes.Equal(p, fresh):
			t.Errorf("%s: %d bytes of neither object, token %q, listed with %q", l.Name, len(p), e.Token, l.Token)
		}
	}
}

// listOpenBounds: names, limits and contexts count as in List and Open.
func listOpenBounds(t *testing.T, s objects.Store) {
	put(t, s, "d/x", []byte("x"))
	for _, limit := range []int{0, -1} {
		if _, err := objects.ListOpen(t.Context(), s, "d", "", limit); err == nil {
			t.Errorf("limit %d: no error", limit)
		}
	}
	for _, dir := range []string{"..", "/d", "d/", "a//b"} {
		if _, err := objects.ListOpen(t.Context(), s, dir, "", 1); err == nil {
			t.Errorf("%q: no error", dir)
		}
	}
	page, err := objects.ListOpen(t.Context(), s, "d", "", 1)
	if err != nil || len(page) != 1 {
		t.Fatal(page, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := objects.ListOpen(ctx, s, "d", "", 1); err == nil {
		t.Error("listed under a context that has ended")
	}
	if _, err := page[0].Open(ctx); err == nil {
		t.Error("opened under a context that has ended")
	}
}
