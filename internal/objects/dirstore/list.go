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
	f, err := d.Open(".")
	if missing(err) {
		return nil, nil // pruned since it was opened
	}
	if err != nil {
		return nil, failure("listing", dir, err)
	}
	defer f.Close()
	names, err := namesFrom(ctx, f, from)
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
		e, err := s.listed(d, f, p, name)
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

// namesFrom returns the names in f that are not below from, sorted.
func namesFrom(ctx context.Context, f *os.File, from string) ([]string, error) {
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

// listed is the entry of one name in the directory dir, which d and f are open on.
func (s *Store) listed(d *os.Root, f *os.File, dir, name string) (objects.Entry, error) {
	fi, err := d.Lstat(name)
	if err != nil {
		return objects.Entry{}, err
	}
	if fi.Mode()&fs.ModeSymlink != 0 {
		// From the table's root: a link may lead to another of its directories.
		// One that leads nowhere, or outside, is listed as itself.
		path := filepath.Join(dir, name)
		if target, err := s.root.Stat(path); err == nil && !target.IsDir() {
			return s.linked(path, target)
		} else if err == nil {
			fi = target
		}
	}
	if fi.IsDir() {
		return objects.Entry{Name: name, Dir: true}, nil
	}
	id, err := nameID(d, f, name, fi)
	if err != nil {
		return objects.Entry{}, err
	}
	return entry(name, fi, id), nil
}

// linked is the entry of a link to a file.
func (s *Store) linked(path string, target fs.FileInfo) (objects.Entry, error) {
	top, err := s.root.Open(".")
	if err != nil {
		return objects.Entry{}, err
	}
	defer top.Close()
	id, err := nameID(s.root, top, path, target)
	if err != nil {
		return objects.Entry{}, err
	}
	return entry(filepath.Base(path), target, id), nil
}
