package dirstore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// OnDemand is a directory as an objects.Store that can do without a descriptor of it: after Release the
// directory is open only as long as a call uses it, from Create to the end of its Writer included.
// Readers have descriptors of their own.
//
// It stays a store of the very directory that was opened first. When that is not at its path any more, and
// had been let go of, calls return objects.ErrNotFound, whether or not another is there, and Delete
// has nothing to do.
type OnDemand struct {
	name, path string
	options    Options
	dated      *dates
	id         identity

	mu struct {
		sync.Mutex
		// store is nil while the directory is not open.
		store    *Store
		users    int
		released bool
	}
}

// NewOnDemand opens the directory root, as New does, and keeps it open until Release.
func NewOnDemand(root string, o Options) (*OnDemand, error) {
	first, err := New(root, o)
	if err != nil {
		return nil, err
	}
	id, err := first.identity()
	if err != nil {
		first.Close()
		return nil, err
	}
	o.Create = false // another would not do
	s := &OnDemand{name: root, path: first.path, options: o, dated: first.dated, id: id}
	s.mu.store = first
	return s, nil
}

// Release ends the keeping of the directory: it is closed as soon as no call uses it, and opened
// again for later calls. Releasing it again does nothing.
func (s *OnDemand) Release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.released = true
	s.settle()
}

// settle closes the directory when it is not needed. Needs the lock.
func (s *OnDemand) settle() {
	if s.mu.released && s.mu.users == 0 && s.mu.store != nil {
		_ = s.mu.store.Close() // nothing was written by way of it that could be lost
		s.mu.store = nil
	}
}

// use returns the open directory. The caller calls done once, when it does not need it any more.
func (s *OnDemand) use() (_ *Store, done func(), _ error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.store == nil {
		store, err := s.again()
		if err != nil {
			return nil, nil, err
		}
		s.mu.store = store
	}
	s.mu.users++
	return s.mu.store, s.done, nil
}

func (s *OnDemand) done() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.users--
	s.settle()
}

// again opens the directory that was open before, and no other.
func (s *OnDemand) again() (*Store, error) {
	store, err := New(s.path, s.options)
	if err != nil {
		// It is not there either where a file is, at its path or on the way.
		if fi, serr := os.Stat(s.path); !errors.Is(err, objects.ErrNotFound) && (missing(serr) || serr == nil && !fi.IsDir()) {
			err = classed(objects.ErrNotFound, "opening directory", s.name, err)
		}
		return nil, err
	}
	id, err := store.identity()
	if err == nil && !id.same(s.id) {
		err = fmt.Errorf("opening directory %s: %w (another one is there)", s.name, objects.ErrNotFound)
	}
	if err != nil {
		store.Close()
		return nil, err
	}
	store.name, store.dated = s.name, s.dated
	return store, nil
}

// identity tells a directory from all others that there are or were.
type identity struct {
	fi fs.FileInfo
	id string
}

func (i identity) same(j identity) bool { return os.SameFile(i.fi, j.fi) && i.id == j.id }

// identity is that of the open directory.
func (s *Store) identity() (identity, error) {
	d, err := s.root.Open(".")
	if missing(err) {
		return identity{}, classed(objects.ErrNotFound, "opening directory", s.name, err)
	}
	if err != nil {
		return identity{}, failure("opening directory", s.name, err)
	}
	defer d.Close()
	fi, err := d.Stat()
	if err != nil {
		return identity{}, failure("opening directory", s.name, err)
	}
	id, err := fileID(d, fi)
	if err != nil {
		return identity{}, failure("opening directory", s.name, err)
	}
	return identity{fi, id}, nil
}
