package cluster

import (
	"context"
	"fmt"
	"time"
)

// pollInterval is how often a condition of a running cluster is looked at.
const pollInterval = 100 * time.Millisecond

// Until calls f until it returns nil or ctx is over; then the error tells what
// f said last.
func Until(ctx context.Context, what string, f func(context.Context) error) error {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	var last error
	for {
		err := f(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() == nil || last == nil {
			last = err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w: %w", what, context.Cause(ctx), last)
		}
	}
}

// wait is Until that gives up when the process ends.
func (c *Cluster) wait(ctx context.Context, p *Process, what string, f func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ended := make(chan struct{})
	defer close(ended)
	go func() {
		select {
		case <-p.done:
			cancel(p.exited())
		case <-ended:
		}
	}()
	return Until(ctx, what, f)
}
