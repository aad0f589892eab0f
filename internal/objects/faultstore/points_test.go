package faultstore_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
	"github.com/seaweedfs/seaweed-lance/internal/objects/faultstore"
)

// run is a little job: list, copy, publish, delete.
func run(ctx context.Context, s objects.Store) error {
	es, err := s.List(ctx, "d", "", 10)
	if err != nil || len(es) == 0 {
		return err
	}
	r, err := s.Open(ctx, "d/old")
	if err != nil {
		return err
	}
	defer r.Close()
	w, err := s.Create(ctx, "d/new")
	if err != nil {
		return err
	}
	defer w.Abort()
	if _, err := w.Write([]byte("<")); err != nil {
		return err
	}
	if err := objects.CopyRange(ctx, w, r, 0, r.Entry().Size, nil); err != nil {
		return err
	}
	if _, err := w.Finish(ctx); err != nil {
		return err
	}
	return s.Delete(ctx, "d/old")
}

// At every moment of a run that is killed one of few states is left, in their order.
func TestPointsDie(t *testing.T) {
	var seen []string
	points := 0
	for p := range faultstore.Points() {
		points++
		in := inner(t)
		seed(t, in, "d/old", "0")
		s := faultstore.New(in, p.Hook(faultstore.Die()))
		err := run(t.Context(), s)
		if p.Reached() != s.Dead() || (err == nil) != !p.Reached() {
			t.Errorf("%v %v: reached %v, dead %v, %v", p.N, p.Phase, p.Reached(), s.Dead(), err)
		}
		if got := state(t, in); len(seen) == 0 || seen[len(seen)-1] != got {
			seen = append(seen, got)
		}
	}
	// List, Open, Create, Write, Copy, Finish, Delete: 7 calls, and one run without a fault.
	if points != 2*7+1 {
		t.Errorf("%d points", points)
	}
	want := []string{"old=0", ".tmp old=0", "new=<0 old=0", "new=<0"}
	if !slices.Equal(seen, want) {
		t.Errorf("states %q, want %q", seen, want)
	}
}

// The same with the run stopped, looked at, and going on.
func TestPointsPause(t *testing.T) {
	for p := range faultstore.Points() {
		in := inner(t)
		seed(t, in, "d/old", "0")
		pause := faultstore.NewPause(p.Match)
		s := faultstore.New(in, pause.Hook)
		ctx, cancel := context.WithCancel(t.Context())
		end := make(chan error, 1)
		go func() { end <- run(ctx, s) }()
		select {
		case err := <-end:
			if err != nil || p.Reached() {
				t.Errorf("not stopped: %v", err)
			}
		case <-pause.Reached():
			// Others of the process come no further, and its context is of no use now.
			other := make(chan error, 1)
			go func() { _, err := s.List(ctx, "d", "", 1); other <- err }()
			cancel()
			if got := state(t, in); p.N < 5 && strings.Contains(got, "new") {
				t.Errorf("%v: %q", p.N, got)
			}
			select {
			case err := <-other:
				t.Errorf("another call went on: %v", err)
			case err := <-end:
				t.Errorf("the paused call went on: %v", err)
			default:
			}
			pause.Resume()
			pause.Resume()
			<-end // with or without an error, as the context ended
			<-other
		}
		cancel()
	}
}

func TestPauseAndKill(t *testing.T) {
	in := inner(t)
	pause := faultstore.NewPause(faultstore.On(faultstore.Before, faultstore.Publish, ""))
	s := faultstore.New(in, pause.Hook)
	end := make(chan error)
	go func() { end <- s.Publish(t.Context(), "d/x", nil) }()
	<-pause.Reached()
	s.Kill()
	if err := <-end; !errors.Is(err, faultstore.ErrDead) {
		t.Errorf("got %v, want ErrDead", err)
	}
	if got := state(t, in); got != "" {
		t.Errorf("holds %q", got)
	}
}

// Each third moment is one of all of them; the last lies behind the run.
func TestPointsSkipped(t *testing.T) {
	var seen []string
	for p := range faultstore.Every(3) {
		in := inner(t)
		seed(t, in, "d/old", "0")
		_ = run(t.Context(), faultstore.New(in, p.Hook(faultstore.Die())))
		seen = append(seen, fmt.Sprint(p.N, p.Phase))
	}
	if want := "0before 1after 3before 4after 6before 7after"; strings.Join(seen, " ") != want {
		t.Errorf("%q, want %q", strings.Join(seen, " "), want)
	}
}
