package lanceworker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// StopGrace is how long jobs are given, when their process is told to end, to
// stop and remove what they had written.
const StopGrace = 10 * time.Second

// errStopping is the cause of contexts that Stop cancels, and the answer to
// jobs that arrive afterwards.
var errStopping = errors.New("the worker is shutting down")

// Jobs keeps account of the running jobs of one process. The zero value is
// ready to use; one account may be given to many handlers.
type Jobs struct {
	mu struct {
		sync.Mutex
		stopping bool
		running  map[*runningJob]struct{}
		// closes are what a Stop ends with; each may be called more than once.
		closes []func(context.Context) error
	}
}

type runningJob struct {
	cancel context.CancelCauseFunc
	ended  chan struct{}
}

// begin enters a job. The context that it returns ends with ctx or with Stop;
// end must be called when the job has returned.
func (j *Jobs) begin(ctx context.Context) (_ context.Context, end func(), _ error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.mu.stopping {
		return nil, nil, errStopping
	}
	ctx, cancel := context.WithCancelCause(ctx)
	r := &runningJob{cancel: cancel, ended: make(chan struct{})}
	if j.mu.running == nil {
		j.mu.running = make(map[*runningJob]struct{})
	}
	j.mu.running[r] = struct{}{}
	return ctx, func() {
		j.mu.Lock()
		delete(j.mu.running, r)
		j.mu.Unlock()
		cancel(nil)
		close(r.ended)
	}, nil
}

// Stop cancels every running job and waits until all of them have returned, or
// until ctx ends: then its error tells how many were still at it. The tags by which they
// pinned versions are removed. Jobs that arrive from now on are refused. It may be called more than once, also at the
// same time.
func (j *Jobs) Stop(ctx context.Context) error {
	j.mu.Lock()
	j.mu.stopping = true
	waiting := make([]*runningJob, 0, len(j.mu.running))
	for r := range j.mu.running {
		r.cancel(errStopping)
		waiting = append(waiting, r)
	}
	j.mu.Unlock()

	var errs []error
	for i, r := range waiting {
		select {
		case <-r.ended:
			continue
		case <-ctx.Done():
			errs = append(errs, fmt.Errorf("waiting for %d Lance jobs to stop: %w", len(waiting)-i, context.Cause(ctx)))
		}
		break
	}
	j.mu.Lock()
	closes := slices.Clone(j.mu.closes)
	j.mu.Unlock()
	for _, c := range closes {
		errs = append(errs, c(ctx))
	}
	return errors.Join(errs...)
}

// atStop has each Stop call f when the jobs have ended, or the time for that is over.
func (j *Jobs) atStop(f func(context.Context) error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.mu.closes = append(j.mu.closes, f)
}
