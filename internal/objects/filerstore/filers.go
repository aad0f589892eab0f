package filerstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"

	"github.com/seaweedfs/seaweedfs/weed/pb"
	"github.com/seaweedfs/seaweedfs/weed/pb/filer_pb"
	"github.com/seaweedfs/seaweedfs/weed/util"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// endpoint is one filer with a connection of our own: weed's shared ones are
// closed under everybody's calls when one caller meets an error.
type endpoint struct {
	addr   pb.ServerAddress
	conn   *grpc.ClientConn
	client filer_pb.SeaweedFilerClient
}

// redial keeps a filer that came back from being ignored for long: gRPC alone
// would wait up to two minutes before it tries again.
var redial = grpc.WithConnectParams(grpc.ConnectParams{
	Backoff:           backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 2 * time.Second},
	MinConnectTimeout: 5 * time.Second,
})

// SetFilers replaces the filers to talk to. Connections to those that stay are
// kept; an empty list changes nothing, as a master that has just started may
// know of none.
func (c *Cluster) SetFilers(addrs []pb.ServerAddress) error {
	if len(addrs) == 0 {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var next, fresh []*endpoint
	for _, a := range addrs {
		same := func(f *endpoint) bool { return f.addr == a }
		if slices.ContainsFunc(next, same) {
			continue
		}
		if i := slices.IndexFunc(c.mu.filers, same); i >= 0 {
			next = append(next, c.mu.filers[i])
			continue
		}
		conn, err := pb.GrpcDial(context.Background(), a.ToGrpcAddress(), false, c.cfg.DialOption, redial)
		if err != nil {
			closeFilers(fresh)
			return fmt.Errorf("dialling filer %s: %w", a, err)
		}
		f := &endpoint{addr: a, conn: conn, client: filer_pb.NewSeaweedFilerClient(conn)}
		next, fresh = append(next, f), append(fresh, f)
	}
	var preferred *endpoint
	if c.mu.first < len(c.mu.filers) {
		preferred = c.mu.filers[c.mu.first]
	}
	gone := slices.DeleteFunc(slices.Clone(c.mu.filers), func(f *endpoint) bool { return slices.Contains(next, f) })
	c.mu.filers, c.mu.first = next, max(0, slices.Index(next, preferred))
	closeFilers(gone)
	return nil
}

// Close closes the connections. Calls under way fail.
func (c *Cluster) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	closeFilers(c.mu.filers)
	c.mu.filers, c.mu.first = nil, 0
}

func closeFilers(fs []*endpoint) {
	for _, f := range fs {
		f.conn.Close()
	}
}

// order returns the filers, the one that last worked first.
func (c *Cluster) order() []*endpoint {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Concat(c.mu.filers[c.mu.first:], c.mu.filers[:c.mu.first])
}

func (c *Cluster) prefer(f *endpoint) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if i := slices.Index(c.mu.filers, f); i >= 0 {
		c.mu.first = i
	}
}

// answer classes what came back from a filer by what it proves.
type answer int

const (
	// answered: the filer did what it was asked, or said why not.
	answered answer = iota
	// undone: it was certainly not done, and may be asked for again.
	undone
	// silent: it may have been done, or may still be.
	silent
	// vague: the filer answered, but what it says does not prove that nothing
	// was done. Final for a read, as good as silence for a change.
	vague
)

func classify(err error) answer {
	switch {
	case err == nil:
		return answered
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return silent
	}
	st, ok := util.ServerStatus(err)
	if !ok {
		return answered
	}
	switch st.Code() {
	case codes.Unavailable:
		// gRPC never sends a call while it has no connection. Should the words
		// change one day, the call counts as silent, which is only slower.
		if strings.Contains(st.Message(), "Error while dialing") {
			return undone
		}
		return silent
	case codes.ResourceExhausted:
		return undone
	case codes.DeadlineExceeded, codes.Canceled, codes.Aborted:
		return silent
	case codes.Unknown, codes.Internal, codes.DataLoss:
		if util.IsTransientErrorMessage(st.Message()) || strings.Contains(st.Message(), "RST_STREAM") {
			return silent
		}
		return vague
	default:
		return answered
	}
}

// errNoAnswer ends a walk over all filers in which none answered.
var errNoAnswer = errors.New("no filer answered")

// each calls try with one filer after the other, as many rounds as there are
// pauses plus one, until try says that it is done.
func (c *Cluster) each(ctx context.Context, try func(f *endpoint) (done bool)) error {
	for round := 0; ; round++ {
		for _, f := range c.order() {
			if err := ctx.Err(); err != nil {
				return err
			}
			if try(f) {
				c.prefer(f)
				return nil
			}
		}
		if round >= len(c.cfg.Pauses) {
			return errNoAnswer
		}
		if err := pause(ctx, c.cfg.Pauses[round]); err != nil {
			return err
		}
	}
}

// pause waits, but not longer than the context lasts.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return ctx.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// call makes one call to one filer under the timeout.
func (c *Cluster) call(ctx context.Context, f *endpoint, timeout time.Duration, fn func(context.Context, filer_pb.SeaweedFilerClient) error) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	return fn(ctx, f.client)
}

// Do calls fn with a client of one filer after the other until one answers.
// Fn may be called several times, each with a context of its own that bounds
// this one attempt, so it has to be harmless to repeat and must start anew each time.
func (c *Cluster) Do(ctx context.Context, fn func(ctx context.Context, client filer_pb.SeaweedFilerClient) error) error {
	return c.do(ctx, c.cfg.CallTimeout, fn)
}

func (c *Cluster) do(ctx context.Context, timeout time.Duration, fn func(context.Context, filer_pb.SeaweedFilerClient) error) error {
	var last error
	err := c.each(ctx, func(f *endpoint) bool {
		last = c.call(ctx, f, timeout, fn)
		verdict := classify(last)
		return verdict == answered || verdict == vague
	})
	switch {
	case err == nil:
		return denied(last)
	case last == nil:
		return err
	case errors.Is(err, errNoAnswer):
		return fmt.Errorf("%w: %w", err, last)
	default:
		return fmt.Errorf("%w (last: %v)", err, last)
	}
}

// denied marks the answers that say that this caller is not let in.
func denied(err error) error {
	if st, ok := util.ServerStatus(err); ok && (st.Code() == codes.PermissionDenied || st.Code() == codes.Unauthenticated) {
		return fmt.Errorf("%w: %w", objects.ErrDenied, err)
	}
	return err
}
