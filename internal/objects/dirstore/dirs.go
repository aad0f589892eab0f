package dirstore

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// tempBase is how much of the object's name is in that of its temporary file:
// names end at 255 bytes nearly everywhere.
const tempBase = 200

// pruneRaces is how often a directory may be taken away again between our
// making it and our first file in it. Each time somebody else has got on.
const pruneRaces = 1000

// createTemp makes the temporary file of the object at path p, and the
// directories above it. With its file in it, a directory is no longer pruned.
func (s *Store) createTemp(p string) (*os.File, string, error) {
	dir, base := filepath.Split(p)
	if len(base) > tempBase {
		base = base[:tempBase]
	}
	var random [8]byte
	rand.Read(random[:]) // never fails
	temp := dir + objects.TemporaryName(base, hex.EncodeToString(random[:]))
	for races := 0; ; races++ {
		f, err := s.root.OpenFile(temp, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
		if err == nil || !errors.Is(err, fs.ErrNotExist) || races == pruneRaces {
			return f, temp, err
		}
		if err := s.makeDir(filepath.Dir(p)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, "", err
		}
	}
}

// makeDir makes a directory and those above it. One that vanishes meanwhile is fs.ErrNotExist.
func (s *Store) makeDir(dir string) error {
	err := s.root.Mkdir(dir, 0o777)
	if errors.Is(err, fs.ErrNotExist) && dir != "." {
		if err := s.makeDir(filepath.Dir(dir)); err != nil {
			return err
		}
		err = s.root.Mkdir(dir, 0o777)
	}
	switch {
	case err == nil:
		return s.syncDir(filepath.Dir(dir))
	case errors.Is(err, fs.ErrExist):
		return nil
	}
	return err
}

// syncDir makes a change of names in a directory survive a power cut. One that
// is gone was empty, so that there is nothing left to keep.
func (s *Store) syncDir(dir string) error {
	if !s.sync || !dirsSync {
		return nil
	}
	d, err := s.root.Open(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer d.Close()
	return syncOpenDir(d)
}

func syncOpenDir(d *os.File) error {
	err := d.Sync()
	// Some file systems keep directories safe by themselves and say so.
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}

// prune removes a directory that has become empty, and those above it, but
// none of the first level: those belong to the table's layout.
func (s *Store) prune(dir string) {
	for strings.ContainsRune(dir, filepath.Separator) {
		// Anything left in it, or no permission: then it stays.
		if err := removeDir(s.root, dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return
		}
		dir = filepath.Dir(dir)
	}
}

// Delete removes a file or a link, and the directories that become empty.
func (s *Store) Delete(ctx context.Context, name string) error {
	p, err := local(name)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("deleting %s: %w", name, err)
	}
	switch err := removeFile(s.root, p); {
	case missing(err):
		// Perhaps somebody else's removal, which must be as safe as ours.
	case err != nil:
		// A directory is not an object: there is none of that name.
		if fi, serr := s.root.Lstat(p); serr == nil && fi.IsDir() {
			return nil
		}
		return change("deleting", name, err)
	}
	if err := s.syncDir(filepath.Dir(p)); err != nil && !missing(err) {
		return change("syncing the directory of", name, err)
	}
	s.prune(filepath.Dir(p))
	return nil
}
