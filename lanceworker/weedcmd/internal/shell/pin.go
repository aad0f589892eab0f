package shell

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/lanceworker/internal/pins"
	"github.com/seaweedfs/seaweed-lance/lease"
	"github.com/seaweedfs/seaweed-lance/session"
)

// unpinLimit bounds how long the end of a command waits for the removal of its tags.
const unpinLimit = 30 * time.Second

// pinning keeps what a command works on from being cleaned up meanwhile.
type pinning struct {
	pins.Pins
	c *call
}

func newPinning(c *call) (*pinning, error) {
	s, err := session.New(session.Options{})
	if err != nil {
		return nil, err
	}
	log := slog.New(slog.NewTextHandler(c.stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	return &pinning{pins.Pins{Session: s, Leases: lease.New(lease.Options{Log: log})}, c}, nil
}

// end removes the tags: nothing of the process uses them any more.
func (p *pinning) end() {
	ctx, cancel := context.WithTimeout(context.Background(), unpinLimit)
	defer cancel()
	if err := p.Leases.Close(ctx); err != nil {
		fmt.Fprintf(p.c.stderr, "weed lance: %v\n", err)
	}
	// It has nothing that could fail to be dropped.
	_ = p.Session.Close()
}

// pin pins a version for reading. What can't be pinned is read all the same: it then fails only if it
// is cleaned up while it is read.
func (t *target) pin(ctx context.Context, c *call, v *table.Table) (release func()) {
	p, err := newPinning(c)
	if err == nil {
		var unpin func()
		if unpin, err = p.At(t.at)(ctx, v); err == nil {
			return func() { unpin(); p.end() }
		}
		p.end()
	}
	if ctx.Err() == nil && !errors.Is(err, lease.ErrGone) {
		fmt.Fprintf(c.stderr, "weed lance: reading without a lease: %v\n", err)
	}
	return func() {}
}
