package lease

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seaweedfs/seaweed-lance/internal/pin"
	"github.com/seaweedfs/seaweed-lance/session"
)

const (
	// reuseWindow is how long a tag is given to further readers. It keeps a busy
	// version's tags far younger than the age at which they count as abandoned,
	// and costs such a version one tag in five minutes.
	reuseWindow = 5 * time.Minute

	// releaseDelay is how long a tag stays when nobody uses it: the reads of one
	// task follow each other within seconds and need one tag.
	releaseDelay = 10 * time.Second

	// takeTimeout bounds the making of a tag, which readers wait for: two
	// attempts at a filer of 30 s each.
	takeTimeout = time.Minute

	// releaseTimeout bounds one attempt to remove a tag: one attempt at a filer.
	releaseTimeout = 30 * time.Second

	// releaseTries is how often the removal of a tag is tried, each time after
	// twice the wait: over ten minutes, which outlast the restart of a filer.
	releaseTries = 6

	// releaseParallel is how many tags are removed at once, when a shutdown finds
	// many: enough to hide the latency, few enough for the filers.
	releaseParallel = 16
)

var (
	// ErrGone is returned by Take when the version was removed, or its table was
	// replaced by another, before it could be pinned: open the table again.
	ErrGone = session.ErrGone

	// ErrClosed is returned by Take after Close.
	ErrClosed = errors.New("leases are closed")
)

// Options of New. The zero value is right for a process of its own.
type Options struct {
	// Holder is who holds the leases, for people who look at a table's tags; ""
	// means the host's name. Characters that a tag can't have become dashes.
	Holder string
	// Log is where it is said what could not be removed; nil means slog.Default().
	Log *slog.Logger
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// After calls f in a goroutine of its own when d has passed, unless stop is
	// called before and returns true; nil means time.AfterFunc.
	After func(d time.Duration, f func()) (stop func() bool)
}

// Leases are the leases of one process. All methods may be called from many
// goroutines at once.
type Leases struct {
	holder string
	log    *slog.Logger
	now    func() time.Time
	after  func(time.Duration, func()) func() bool
	// removing bounds the removals that are under way.
	removing chan struct{}
	// drained is closed when Close was called and nothing is held or under way.
	drained chan struct{}

	mu struct {
		sync.Mutex
		closed bool
		slots  pruned[key, slot]
		places pruned[string, place]
		// live are the tags that exist or may exist and that this process means to
		// remove itself; the reaper spares them.
		live map[string]*held
		// flights are the tags being made.
		flights int
		// left counts tags that could not be removed.
		left  int
		stats Stats
	}
}

// New makes an empty set of leases. Close ends it.
func New(o Options) *Leases {
	l := &Leases{log: o.Log, now: o.Now, after: o.After, removing: make(chan struct{}, releaseParallel), drained: make(chan struct{})}
	l.mu.live = map[string]*held{}
	if o.Holder == "" {
		// Without a name the random part of the holder is enough to tell it apart.
		o.Holder, _ = os.Hostname()
	}
	l.holder = pin.NewHolder(o.Holder)
	if l.log == nil {
		l.log = slog.Default()
	}
	if l.now == nil {
		l.now = time.Now
	}
	if l.after == nil {
		l.after = func(d time.Duration, f func()) func() bool { return time.AfterFunc(d, f).Stop }
	}
	return l
}

// Lease is one holder's part in a pinned version.
type Lease struct {
	leases *Leases
	// held is nil when the version is not pinned.
	held     *held
	released atomic.Bool
}

// Pinned tells that a tag protects the version; false where the caller may not
// write to the table.
func (l *Lease) Pinned() bool { return l.held != nil }

// Tag is the name of the tag; "" when the version is not pinned.
func (l *Lease) Tag() string {
	if l.held == nil {
		return ""
	}
	return l.held.tag
}

// Release ends the use of the version. Calling it again does nothing.
func (l *Lease) Release() {
	if l.held == nil || l.released.Swap(true) {
		return
	}
	l.leases.mu.Lock()
	defer l.leases.mu.Unlock()
	l.leases.back(l.held)
}

// Stats count what has happened since New.
type Stats struct {
	// Taken are tags that were made.
	Taken int64
	// Shared are the calls of Take that were answered with a tag that another one had made.
	Shared int64
	// Denied are the calls of Take that were answered without a tag.
	Denied int64
	// Reaped are abandoned tags that were removed.
	Reaped int64
	// Held are the tags that exist now.
	Held int64
}

// Stats are for metrics.
func (l *Leases) Stats() Stats {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.mu.stats
	for _, h := range l.mu.live {
		if h.made {
			s.Held++
		}
	}
	return s
}

// Close takes no more leases, removes the tags that nobody uses, and waits for
// the others to be released until the context ends. What is still in use then
// is left as it is: a read that goes on is protected until it ends, and the tag
// of a process that ends is reaped by others.
func (l *Leases) Close(ctx context.Context) error {
	l.mu.Lock()
	l.mu.closed = true
	for _, h := range l.mu.live {
		l.hurry(h)
	}
	l.settle()
	l.mu.Unlock()

	select {
	case <-l.drained:
	case <-ctx.Done():
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	var errs []error
	if n := len(l.mu.live); n > 0 {
		errs = append(errs, fmt.Errorf("closing leases: %d tags are still in use: %w", n, ctx.Err()))
	}
	if l.mu.left > 0 {
		errs = append(errs, fmt.Errorf("closing leases: %d tags could not be removed", l.mu.left))
	}
	return errors.Join(errs...)
}

// settle notices that a closed set has nothing left to do. Needs the lock.
func (l *Leases) settle() {
	if !l.mu.closed || l.mu.flights > 0 || len(l.mu.live) > 0 {
		return
	}
	select {
	case <-l.drained:
	default:
		close(l.drained)
	}
}
