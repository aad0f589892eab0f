// Package dirstore keeps one table in a local directory.
//
// # How an object appears
//
// Bytes go to a temporary file beside the object, ".tmp-" + the object's base
// name + "-" + a random part. When it is complete, synced and closed, it gets
// the object's name as a second hard link, which fails when the name is taken,
// and then loses the temporary one. A file system without hard links needs an
// exclusive rename instead (Linux, macOS and Windows have one). A name is never
// reserved by an empty file: somebody else would see half an object.
//
// A process that dies leaves at most a temporary file, alone or as a second
// name of an object that is complete. Lance takes those after seven days.
// They are in listings, so that a cleanup can do the same, and they sort before
// names that begin with a letter or a digit.
//
// # What survives a power cut
//
// Unless Options.NoSync is set, a file is synced before it gets its name, and
// its directory before the call returns; a removal is synced too, since a
// manifest that comes back after its files are gone is a broken version. While
// a long file is still being written, the kernel is told to begin writing it
// out, so that the last sync is short.
//
// # Links
//
// Names and symbolic links never lead outside the root; an attempt is
// objects.ErrDenied. Links inside the root are followed in directories and when
// reading; deleting removes the link itself.
package dirstore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// Options of a Store. The zero value is right for a table that exists.
type Options struct {
	// Create makes the root directory when it does not exist.
	Create bool
	// NoSync leaves it to the operating system when bytes and names reach the
	// disk: a power cut may then lose objects, or tear them.
	NoSync bool
	// Now is the clock that objects are dated by; nil means time.Now.
	Now func() time.Time
}

// Store is a directory as an objects.Store.
type Store struct {
	name string // as the caller named it
	path string // absolute
	root *os.Root
	sync bool
	now  func() time.Time

	// link gives a file a second name, or fails with fs.ErrExist. Tests
	// replace it to be on a file system without hard links.
	link func(old, new string) error

	dated *dates
}

// dates are those given to objects last.
type dates struct {
	sync.Mutex
	last time.Time
}

var _ objects.Store = (*Store)(nil)

// New opens the directory root. ErrNotFound when it does not exist, unless
// Options.Create is set.
func New(root string, o Options) (*Store, error) {
	path, err := filepath.Abs(root)
	if err != nil {
		return nil, fmt.Errorf("opening directory %s: %w", root, err)
	}
	if o.Create {
		if err := os.MkdirAll(path, 0o777); err != nil {
			return nil, failure("making directory", root, err)
		}
	}
	r, err := os.OpenRoot(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, classed(objects.ErrNotFound, "opening directory", root, err)
	}
	if err != nil {
		return nil, failure("opening directory", root, err)
	}
	s := &Store{name: root, path: path, root: r, sync: !o.NoSync, now: o.Now, link: r.Link, dated: new(dates)}
	if s.now == nil {
		s.now = time.Now
	}
	return s, nil
}

// Close releases the directory. Readers that are open stay usable.
func (s *Store) Close() error { return s.root.Close() }

// String is the directory as New was given it.
func (s *Store) String() string { return s.name }

// local turns an object's name into a path below the root, in the form of the
// operating system.
func local(name string) (string, error) {
	if err := objects.CheckName(name); err != nil {
		return "", err
	}
	p, err := filepath.Localize(name)
	if err != nil {
		return "", fmt.Errorf("object name %q: not a file name on this system", name)
	}
	return p, nil
}

// date is the next object's time. No two that follow each other are equal,
// not even where the clock stands still: a file system may hand a freed inode
// out again at once, and an object and its successor must not have the same token.
func (s *Store) date() time.Time {
	s.dated.Lock()
	defer s.dated.Unlock()
	t := s.now().Truncate(timeStep)
	// A clock that was really set back is followed.
	if behind := s.dated.last.Sub(t); behind >= 0 && behind < time.Second {
		t = s.dated.last.Add(timeStep)
	}
	s.dated.last = t
	return t
}

// timeStep is the smallest difference that every common file system keeps:
// NTFS counts in 100 ns.
const timeStep = 100 * time.Nanosecond
