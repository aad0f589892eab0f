// Package companion is a stream of its own to admin, beside the one that weed's
// plugin worker has: it carries what that one does not, observations of tables and
// previews of their rows.
//
// To admin it is a worker of another id without any capability, so that no
// job is sent here. It is opened when there is a first observation, and lives until its
// context ends. When it breaks it is opened again, after a second at first and after
// half a minute in the end, and everything observed is sent again: admin
// keeps observations in memory only.
//
// Of each table the newest observation is kept, of 10,000 tables at most, as
// admin does, and 64 MiB at most; the ones that were observed longest ago go first.
package companion

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/seaweedfs/seaweedfs/weed/pb/plugin_pb"
	"google.golang.org/grpc"
)

const (
	// heartbeat is how often admin hears of the stream; after two minutes without
	// it does not ask for previews any more.
	heartbeat = 15 * time.Second
	// firstPause and longestPause are between two attempts to connect.
	firstPause   = time.Second
	longestPause = 30 * time.Second
	// steadyAfter is how long a stream has lived that did not fail at once.
	steadyAfter = time.Minute
	// answerTimeout bounds a preview: admin waits 15 s, and a reason that comes
	// before that is worth more than one that comes after.
	answerTimeout = 14 * time.Second
	// connectTimeout bounds how long admin may take to accept a stream.
	connectTimeout = 20 * time.Second
	// maxAnswers is how many previews are made at once.
	maxAnswers = 2
)

// Options of a companion. All are needed but Log, Now, After and Event.
type Options struct {
	// Admin is the admin server's address, host:port or host:port.grpcPort; empty
	// where it is not known.
	Admin func() string
	// WorkerID names the stream; it must be no other worker's. It is asked for once.
	WorkerID func() string
	// Version of the worker, for admin's list.
	Version string
	// Dial secures the connection.
	Dial grpc.DialOption
	// Begin enters the stream in the account of what runs in the process: it
	// returns the context that the stream ends with, and what to call then.
	Begin func(ctx context.Context) (_ context.Context, end func(), _ error)
	// Preview answers a request. RequestId is filled in by the caller.
	Preview func(ctx context.Context, r *plugin_pb.RequestObjectPreview) *plugin_pb.ObjectPreviewResponse

	Log *slog.Logger
	// Now and After are the clock.
	Now   func() time.Time
	After func(d time.Duration) <-chan time.Time
	// Event is told "connected", "closed", "failed" and "shutdown" of streams.
	Event func(event string)
}

// Companion is the stream and what it has to say. Its methods may be called
// from many goroutines.
type Companion struct {
	o Options
	// wake tells the stream that there is something new.
	wake chan struct{}
	mu   struct {
		sync.Mutex
		book    book
		running bool
		// over: there will be no stream any more.
		over bool
		// mute: it has been said that admin's address is not known.
		mute bool
	}
}

// New returns a companion that has not connected yet.
func New(o Options) *Companion {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.After == nil {
		o.After = time.After
	}
	if o.Event == nil {
		o.Event = func(string) {}
	}
	return &Companion{o: o, wake: make(chan struct{}, 1)}
}

// Observe tells admin what a job of that type saw of a table, now or as soon as
// there is a connection. The observation must not be changed afterwards.
func (c *Companion) Observe(jobType string, o *plugin_pb.ObjectObservation) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.start() {
		return
	}
	c.mu.book.put(jobType, o)
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// Keep forgets the tables that are no more.
func (c *Companion) Keep(exists func(id []string) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mu.book.keep(exists)
}

// Wanted tells whether an observation would be sent to anybody. That admin's
// address is not known is logged once.
func (c *Companion) Wanted() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.wanted()
}

func (c *Companion) wanted() bool {
	if c.mu.running || c.mu.over {
		return !c.mu.over
	}
	known := c.o.Admin() != ""
	if !known && !c.mu.mute {
		c.mu.mute = true
		c.o.Log.Warn("admin's address is not known here: its pages will show neither rows nor schema of Lance tables")
	}
	return known
}

// start starts the stream unless it runs. It is called with c.mu held and tells
// whether there is one.
func (c *Companion) start() bool {
	if c.mu.running || !c.wanted() {
		return c.mu.running
	}
	ctx, end, err := c.o.Begin(context.Background())
	if err != nil {
		// The process is ending.
		c.mu.over = true
		return false
	}
	c.mu.running = true
	go func() {
		defer end()
		defer c.finish()
		c.run(ctx, c.o.WorkerID())
	}()
	return true
}

func (c *Companion) finish() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mu.over, c.mu.running, c.mu.book = true, false, book{}
}

// next is what is to be sent after what was sent already.
func (c *Companion) next(sent uint64) (*plugin_pb.WorkerObservations, uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mu.book.after(sent)
}

// run keeps a stream open until ctx ends.
func (c *Companion) run(ctx context.Context, id string) {
	pause := firstPause
	said := ""
	for {
		start := c.o.Now()
		connected, err := c.stream(ctx, id)
		if ctx.Err() != nil {
			if connected {
				c.o.Event("shutdown")
			}
			return
		}
		if errors.Is(err, errClosed) {
			c.o.Event("closed")
		} else {
			c.o.Event("failed")
		}
		if connected {
			said = ""
		}
		if connected && c.o.Now().Sub(start) >= steadyAfter {
			pause = firstPause
		}
		// Each reason once: an admin that is away for a night is not worth a
		// thousand lines.
		if text := err.Error(); text != said {
			said = text
			c.o.Log.Warn("no stream to admin for observations and previews of Lance tables", "worker_id", id, "reason", text)
		}
		select {
		case <-ctx.Done():
			return
		case <-c.o.After(pause):
		}
		pause = min(2*pause, longestPause)
	}
}

var (
	// errNotAccepted is the reason of a stream that admin would not have.
	errNotAccepted = errors.New("admin does not accept the stream")
	// errClosed is the reason of one that admin ended in order.
	errClosed = errors.New("admin closed it; is there another worker of the same id?")
)
