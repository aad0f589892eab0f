package lanceworker

import (
	"context"
	"errors"
	"sync"
	"testing"
)

// Of two that stop the jobs at once neither returns before what has to be closed is: each may be
// about to end the process.
func TestStopTwice(t *testing.T) {
	var j Jobs
	entered, leave := make(chan struct{}, 2), make(chan struct{})
	closed := false
	var once sync.Once
	j.atStop(func(context.Context) error {
		entered <- struct{}{}
		<-leave
		once.Do(func() { closed = true })
		return errFake
	})
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			if err := j.Stop(t.Context()); !errors.Is(err, errFake) || !closed {
				t.Errorf("error %v, closed %v", err, closed)
			}
		})
	}
	<-entered
	<-entered
	close(leave)
	wg.Wait()
}

// What is still at work when the time is over does not keep the rest from being closed.
func TestStopClosesAnyway(t *testing.T) {
	var j Jobs
	_, end, err := j.begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer end()
	closed := false
	j.atStop(func(context.Context) error { closed = true; return nil })
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if err := j.Stop(over); !errors.Is(err, context.Canceled) || !closed {
		t.Errorf("error %v, closed %v", err, closed)
	}
}
