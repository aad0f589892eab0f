package storetest

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// racers is how many creators want one name.
const racers = 32

func exclusivePublish(t *testing.T, s objects.Store) {
	for round := range 5 {
		name := fmt.Sprintf("v/%d", round)
		race(t, s, name, func(i int) error {
			return s.Publish(t.Context(), name, racer(i))
		})
	}
}

// exclusiveFinish: streams against each other and against Publish.
func exclusiveFinish(t *testing.T, s objects.Store) {
	for round := range 5 {
		name := fmt.Sprintf("v/%d", round)
		race(t, s, name, func(i int) error {
			if i%4 == 0 {
				return s.Publish(t.Context(), name, racer(i))
			}
			w, err := s.Create(t.Context(), name)
			if err != nil {
				return err
			}
			defer w.Abort()
			if _, err := w.Write(racer(i)); err != nil {
				return err
			}
			_, err = w.Finish(t.Context())
			return err
		})
	}
}

// racer is the content that only the i-th creator writes.
func racer(i int) []byte { return bytes.Repeat([]byte{byte(i)}, 5000+i) }

func race(t *testing.T, s objects.Store, name string, create func(i int) error) {
	t.Helper()
	won := -1
	for i, err := range together(racers, create) {
		switch {
		case err == nil && won < 0:
			won = i
		case err == nil:
			t.Errorf("%s: %d and %d both created it", name, won, i)
		case !errors.Is(err, objects.ErrExists):
			t.Errorf("%s: %d got %v, want success or ErrExists", name, i, err)
		}
	}
	if won < 0 {
		t.Fatalf("%s: nobody created it", name)
	}
	holds(t, s, name, racer(won))
}

// replaceIsAtomic: readers see one content or another, whole.
func replaceIsAtomic(t *testing.T, s objects.Store) {
	if err := s.Replace(t.Context(), "h/hint", racer(0)); err != nil {
		t.Fatal(err)
	}
	var writing sync.WaitGroup
	stop := make(chan struct{})
	writing.Go(func() {
		defer close(stop)
		for i := range 100 {
			if err := s.Replace(t.Context(), "h/hint", racer(i%8)); err != nil {
				t.Errorf("Replace: %v", err)
			}
		}
	})
	for _, err := range together(4, func(int) error {
		for {
			p, _, err := read(t.Context(), s, "h/hint")
			if err != nil {
				return err
			}
			if len(p) == 0 || !bytes.Equal(p, racer(int(p[0]))) {
				return fmt.Errorf("%d bytes that nobody wrote", len(p))
			}
			select {
			case <-stop:
				return nil
			default:
			}
		}
	}) {
		if err != nil {
			t.Error(err)
		}
	}
	writing.Wait()
}

// listWhileChanging: what is there all the time is in every listing, once and
// in its place, whatever comes and goes around it.
func listWhileChanging(t *testing.T, s objects.Store) {
	var want []string
	for i := range 30 {
		name := fmt.Sprintf("k%02d", i)
		want = append(want, name)
		put(t, s, "d/"+name, nil)
	}
	stop := make(chan struct{})
	var changing sync.WaitGroup
	defer changing.Wait()
	defer close(stop)
	for g := range 3 {
		changing.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				name := fmt.Sprintf("d/k%02d-%d", n%30, g)
				if err := errors.Join(s.Publish(t.Context(), name, nil), s.Delete(t.Context(), name)); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for range 40 {
		var got []string
		from := ""
		for {
			page, err := s.List(t.Context(), "d", from, 7)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, names(page)...)
			if len(page) < 7 {
				break
			}
			from = page[len(page)-1].Name + "\x00"
		}
		if !slices.IsSorted(got) {
			t.Errorf("not sorted: %q", got)
		}
		got = slices.DeleteFunc(got, func(n string) bool { return strings.ContainsAny(n, "-.") })
		if !slices.Equal(got, want) {
			t.Fatalf("a listing has %q of what is always there", got)
		}
	}
}

// directoriesComeAndGo: creating in a directory succeeds while others empty it.
func directoriesComeAndGo(t *testing.T, s objects.Store) {
	for _, err := range together(8, func(i int) error {
		for n := range 50 {
			name := fmt.Sprintf("_indices/u%d/p/%d", n%3, i)
			want := racer(i)
			if err := s.Publish(t.Context(), name, want); err != nil {
				return err
			}
			got, _, err := read(t.Context(), s, name)
			if err != nil {
				return err
			}
			if !bytes.Equal(got, want) {
				return fmt.Errorf("%s: wrong bytes", name)
			}
			if err := s.Delete(t.Context(), name); err != nil {
				return err
			}
		}
		return nil
	}) {
		if err != nil {
			t.Error(err)
		}
	}
	if es := entries(t, s, "_indices"); len(es) != 0 {
		t.Errorf("left: %q", names(es))
	}
}
