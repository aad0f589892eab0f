package compact

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"
)

// laneAhead is how many batches may wait for an encoder.
const laneAhead = 2

// lanes encode fields beside each other, each its rows in order.
type lanes struct {
	all []*lane
	wg  sync.WaitGroup
	// turns bound how many encode at a time.
	turns chan struct{}
	// held is what all encoders hold of rows, most what they may.
	held   atomic.Int64
	most   int64
	failed atomic.Bool
}

type lane struct {
	e    *encoder
	name string
	in   chan given
	held atomic.Int64
	// last is the fragment that the rows before were from.
	last uint64
	err  error
}

// given are rows for a lane.
type given struct {
	array arrow.Array
	row   uint64
	frag  uint64
}

// errElsewhere ends a lane because of another's error.
var errElsewhere = errors.New("another column failed")

func (o *output) newLanes(fields []int) *lanes {
	l := &lanes{turns: make(chan struct{}, o.limits.threads), most: o.limits.held}
	for _, i := range fields {
		x := &lane{e: o.encoders[i], name: o.shape.fields[i].name, in: make(chan given, laneAhead)}
		l.all = append(l.all, x)
		l.wg.Go(func() { l.work(x) })
	}
	return l
}

// give hands rows of the lanes' fields to them, and leaves it to them to release what they get. It waits for those that are behind.
func (l *lanes) give(ctx context.Context, columns []arrow.Array, row, frag uint64) error {
	defer func() {
		for _, a := range columns {
			a.Release()
		}
	}()
	for i, x := range l.all {
		if l.failed.Load() {
			return errElsewhere
		}
		a := columns[i]
		a.Retain()
		select {
		case x.in <- given{a, row, frag}:
		case <-ctx.Done():
			a.Release()
			return context.Cause(ctx)
		}
	}
	return nil
}

// close waits until all that was given is encoded and written, or drops it. It returns the first error.
func (l *lanes) close(drop bool) error {
	if drop {
		l.failed.Store(true)
	}
	for _, x := range l.all {
		close(x.in)
	}
	l.wg.Wait()
	for _, x := range l.all {
		if x.err != nil {
			return x.err
		}
	}
	return nil
}

func (l *lanes) work(x *lane) {
	for g := range x.in {
		x.last = g.frag
		l.turn(x, func() error { return l.append(x, g) })
		g.array.Release()
	}
	l.turn(x, x.e.flush)
}

// turn does one thing when it is a lane's turn, unless something has failed before.
func (l *lanes) turn(x *lane, do func() error) {
	l.turns <- struct{}{}
	defer func() { <-l.turns }()
	if l.failed.Load() {
		return
	}
	if err := do(); err != nil {
		x.err = &fragmentError{x.last, fmt.Errorf("encoding column %q: %w", x.name, err)}
		l.failed.Store(true)
	}
}

// append encodes rows. The lane that holds the most writes what it has when all hold more than they may.
func (l *lanes) append(x *lane, g given) error {
	if err := x.e.append(g.array, g.row); err != nil {
		return err
	}
	total := l.holds(x)
	if total <= l.most || x.e.whole {
		return nil
	}
	for _, y := range l.all {
		if y.held.Load() > x.held.Load() {
			return nil // it will, at its next rows
		}
	}
	err := x.e.flush()
	l.holds(x)
	return err
}

// holds counts what a lane holds, and returns what all do.
func (l *lanes) holds(x *lane) (total int64) {
	now := x.e.w.Held()
	return l.held.Add(now - x.held.Swap(now))
}
