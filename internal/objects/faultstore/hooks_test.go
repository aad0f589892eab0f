package faultstore_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
	"github.com/seaweedfs/seaweed-lance/internal/objects/faultstore"
)

func TestShortPage(t *testing.T) {
	in := inner(t)
	for i := range objects.ListPage + 5 {
		seed(t, in, fmt.Sprintf("d/%04d", i), "")
	}
	boom := errors.New("boom")
	s := faultstore.New(in, faultstore.When(faultstore.NextPage(faultstore.After, "d"), faultstore.Short(2, boom)))
	page, err := s.List(t.Context(), "d", "1", 10)
	if len(page) != 2 || !errors.Is(err, boom) {
		t.Errorf("%d entries, %v", len(page), err)
	}
	n := 0
	err = objects.All(t.Context(), s, "d", func(objects.Entry) error { n++; return nil })
	if !errors.Is(err, boom) || n != objects.ListPage {
		t.Errorf("All: %d entries, then %v", n, err)
	}
	early := faultstore.New(in, faultstore.When(faultstore.On(faultstore.Before, faultstore.List, "d"), faultstore.Short(2, boom)))
	if page, err := early.List(t.Context(), "d", "", 10); len(page) != 0 || !errors.Is(err, boom) {
		t.Errorf("before the call: %d entries, %v", len(page), err)
	}
}

func TestThrottle(t *testing.T) {
	pattern := func(seed uint64) []bool {
		s := faultstore.New(inner(t), faultstore.Throttle(seed, 0.3))
		var failed []bool
		for range 1000 {
			_, err := s.List(t.Context(), "d", "", 1)
			if err != nil && !errors.Is(err, faultstore.ErrThrottled) {
				t.Fatal(err)
			}
			failed = append(failed, err != nil)
		}
		return failed
	}
	a, again, b := pattern(1), pattern(1), pattern(2)
	if !slices.Equal(a, again) || slices.Equal(a, b) {
		t.Error("the seed does not decide")
	}
	n := 0
	for _, failed := range a {
		if failed {
			n++
		}
	}
	if n < 250 || n > 350 {
		t.Errorf("%d of 1000 failed", n)
	}
	// A long object gets through, unless its Finish is hit.
	s := faultstore.New(inner(t), faultstore.Throttle(1, 1, faultstore.List))
	w, err := s.Create(t.Context(), "d/x")
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		if _, err := w.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestDenyAndChain(t *testing.T) {
	in := inner(t)
	seed(t, in, "d/x", "0")
	s := faultstore.New(in, faultstore.Chain(
		faultstore.Deny(faultstore.Delete),
		faultstore.Nth(1, faultstore.On(faultstore.After, faultstore.Publish, "d/"), faultstore.Lose()),
	))
	if err := s.Delete(t.Context(), "d/x"); !errors.Is(err, objects.ErrDenied) {
		t.Errorf("Delete: %v", err)
	}
	for i, want := range []error{nil, objects.ErrUnknown, nil} {
		if err := s.Publish(t.Context(), fmt.Sprintf("d/%d", i), nil); !errors.Is(err, want) {
			t.Errorf("Publish %d: %v, want %v", i, err, want)
		}
	}
	if got := state(t, in); got != "0= 1= 2= x=0" {
		t.Errorf("holds %q", got)
	}
}
