package session

import (
	"context"
	"fmt"
	"net/url"
	"path/filepath"

	"github.com/seaweedfs/seaweed-lance/internal/location"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
	"github.com/seaweedfs/seaweed-lance/internal/objects/dirstore"
)

// Location is where a table lies: Directory makes one of a local directory, package
// cluster those of a SeaweedFS cluster.
type Location = location.Location

// Directory is the table in a local directory. Bases that a shallow clone reads from are
// directories of this machine, too.
//
// A session keeps the directory open as long as the table is among those that it keeps, and some more of those that
// moved away. Until then a Table can be read even where the directory was renamed; after that only while the
// very directory is at its path, ErrGone otherwise. Bases are open only while something of them is.
func Directory(path string) Location {
	abs, err := filepath.Abs(path)
	if err != nil {
		abs = path // opening it fails, too, and says why
	}
	return location.New("directory "+abs, path, func(context.Context) (location.Place, error) {
		// Nobody closes it: tables that were opened in it may outlive the session's interest in it.
		s, err := dirstore.NewOnDemand(abs, dirstore.Options{})
		if err != nil {
			return location.Place{}, err
		}
		return location.Place{Store: s, Moved: s.Moved, Release: s.Release, Base: openBase}, nil
	})
}

// openBase opens a base by the path that a manifest has of it. It takes nothing while it is not used.
func openBase(_ context.Context, path string) (objects.Store, error) {
	dir := path
	if u, err := url.Parse(path); err == nil && u.Scheme == "file" && (u.Host == "" || u.Host == "localhost") {
		dir = filepath.FromSlash(u.Path)
	}
	if !filepath.IsAbs(dir) {
		return nil, fmt.Errorf("%w: %s is no directory of this machine", ErrRefused, path)
	}
	s, err := dirstore.NewOnDemand(dir, dirstore.Options{})
	if err != nil {
		return nil, err
	}
	s.Release() // a manifest may name any number of them
	return s, nil
}
