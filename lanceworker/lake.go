package lanceworker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/seaweedfs/seaweedfs/weed/pb/plugin_pb"

	"github.com/seaweedfs/seaweed-lance/internal/catalog"
	"github.com/seaweedfs/seaweed-lance/internal/location"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
	"github.com/seaweedfs/seaweed-lance/session"
)

// lake is where Lance tables are found.
type lake interface {
	// tables returns every Lance table; a listing that failed half way is an error.
	tables(ctx context.Context) ([]entry, error)
	// find looks one table up by the parts of its id.
	find(ctx context.Context, id []string) (entry, error)
}

// entry is one table of a lake.
type entry struct {
	id    []string
	place session.Location
	// dataset looks at the table's directory, with one listing.
	dataset func(ctx context.Context) (catalog.Dataset, error)
	// err, where it is set, says why the table must not be opened; there is no
	// place then.
	err error
}

// open returns the table's storage.
func (e entry) open(ctx context.Context) (objects.Store, error) {
	p, err := location.Open(ctx, e.place)
	return p.Store, err
}

// connection is a lake on a cluster.
type connection interface {
	lake
	// follow replaces the filers by others of the same cluster.
	follow(filers []string) error
	close()
}

// errNoFiler is returned for a request that names no filer to work with.
var errNoFiler = errors.New("admin named no filer of the cluster")

// lakes keeps the connection to the cluster between requests. Requests name the
// cluster's filers each time: as long as one of them was there before, it is the
// same cluster.
type lakes struct {
	connect func(ctx context.Context, filers []string) (connection, error)
	mu      struct {
		sync.Mutex
		current *sharedLake
	}
}

// sharedLake is a connection and who uses it; all but the connection is guarded
// by lakes.mu.
type sharedLake struct {
	connection
	filers []string
	// users counts the requests that hold it, and 1 for being current.
	users int
}

// open returns the lake of the cluster that a request describes. The caller
// calls release when it is done with it.
func (l *lakes) open(ctx context.Context, cluster *plugin_pb.ClusterContext) (_ lake, release func(), _ error) {
	filers := normalFilers(cluster.GetFilerAddresses())
	if len(filers) == 0 {
		return nil, nil, errNoFiler
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.turnTo(ctx, filers); err != nil {
		return nil, nil, fmt.Errorf("connecting to the filers %s: %w", strings.Join(filers, ","), err)
	}
	return l.mu.current, l.hold(l.mu.current), nil
}

// current returns the lake that was opened last, if any. The caller calls release
// when it is done with it.
func (l *lakes) current() (_ lake, release func(), ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.mu.current
	if s == nil {
		return nil, nil, false
	}
	return s, l.hold(s), true
}

// hold counts a user in and returns what counts it out. It is called with l.mu held.
func (l *lakes) hold(s *sharedLake) (release func()) {
	s.users++
	return sync.OnceFunc(func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.leave(s)
	})
}

// turnTo makes the current connection one to these filers. It is called with
// l.mu held, as leave is.
func (l *lakes) turnTo(ctx context.Context, filers []string) error {
	s := l.mu.current
	switch {
	case s != nil && slices.Equal(s.filers, filers):
		return nil
	case s != nil && slices.ContainsFunc(filers, func(f string) bool { return slices.Contains(s.filers, f) }):
		if err := s.follow(filers); err != nil {
			return err
		}
		s.filers = filers
		return nil
	}
	c, err := l.connect(ctx, filers)
	if err != nil {
		return err
	}
	l.leave(s)
	l.mu.current = &sharedLake{connection: c, filers: filers, users: 1}
	return nil
}

func (l *lakes) leave(s *sharedLake) {
	if s == nil {
		return
	}
	if s.users--; s.users == 0 {
		s.close()
	}
}

// normalFilers brings the same filers into the same order each time.
func normalFilers(addresses []string) []string {
	filers := make([]string, 0, len(addresses))
	for _, a := range addresses {
		if a = strings.TrimSpace(a); a != "" {
			filers = append(filers, a)
		}
	}
	slices.Sort(filers)
	return slices.Compact(filers)
}
