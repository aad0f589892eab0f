package dirstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// namesPiece is how many names are read between two looks at the context.
const namesPiece = 8192

// List reads all names of the directory, but asks only for the page's files
// what they are.
func (s *Store) List(ctx context.Context, dir, from string, limit int) ([]objects.Entry, error) {
	if limit <= 0 {
		return nil, fmt.Errorf("listing %s: limit of %d entries", dir, limit)
	}
	p := "."
	if dir != "" {
		var err error
		if p, err = local(dir); err != nil {
			return nil, err
		}
	}
	// A root of its own: one system call for a file, not one for each part of its path.
	d, err := s.root.OpenRoot(p)
	if missing(err) {
		return nil, nil
	}
	if err != nil {
		if fi, serr := s.root.Stat(p); serr == nil && !fi.IsDir() {
			return nil, nil // an object; there is no directory of that name
		}
		return nil, failure("listing", dir, err)
	}
	defer d.Close()
	names, err := namesFrom(ctx, d, from)
	if missing(err) {
		return nil, nil // pruned since it was opened
	}
	if err != nil {
		return nil, failure("listing", dir, err)
	}
	page := make([]objects.Entry, 0, min(limit, len(names)))
	for _, name := range names {
		if len(page) == limit {
			break
		}
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("listing %s: %w", dir, err)
		}
		e, err := s.listed(d, p, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed since its name was read
		}
		if err != nil {
			return nil, failure("listing", filepath.ToSlash(filepath.Join(p, name)), err)
		}
		page = append(page, e)
	}
	return page, nil
}

// namesFrom returns the names in d that are not below from, sorted.
func namesFrom(ctx context.Context, d *os.Root, from string) ([]string, error) {
	f, err := d.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var names []string
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		piece, err := f.Readdirnames(namesPiece)
		for _, name := range piece {
			if name >= from {
				names = append(names, name)
			}
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	slices.Sort(names)
	// A name that is replaced during the reading may come twice.
	return slices.Compact(names), nil
}

// listed is the entry of one name in the directory dir, which d is open on.
func (s *Store) listed(d *os.Root, dir, name string) (objects.Entry, error) {
	fi, err := d.Lstat(name)
	if err != nil {
		return objects.Entry{}, err
	}
	at := d
	if fi.Mode()&fs.ModeSymlink != 0 {
		// From the table's root: a link may lead to another of its directories.
		// One that leads nowhere, or outside, is listed as itself.
		path := filepath.Join(dir, name)
		if target, err := s.root.Stat(path); err == nil {
			fi, at, name = target, s.root, path
		}
	}
	e := objects.Entry{Name: filepath.Base(name), Dir: fi.IsDir()}
	if e.Dir {
		return e, nil
	}
	id, err := nameID(at, name, fi)
	if err != nil {
		return objects.Entry{}, err
	}
	return entry(e.Name, fi, id), nil
}
