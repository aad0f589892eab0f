package shell

import (
	"context"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
	"github.com/seaweedfs/seaweed-lance/internal/objects/dirstore"
)

// bases opens what a shallow clone or branch reads beside its own files: another
// directory of this machine, or another table of the same cluster.
type bases struct {
	target *target
	c      *call
	closes []func()
}

func (b *bases) close() {
	for _, c := range b.closes {
		c()
	}
}

// open opens one base. ErrRefused where it can't be reached from here.
func (b *bases) open(ctx context.Context) func(*pb.BasePath) (objects.Store, error) {
	return func(p *pb.BasePath) (objects.Store, error) {
		if b.target.filers == "" {
			return b.directory(p.GetPath())
		}
		filers, err := splitFilers(b.target.filers)
		if err != nil {
			return nil, err
		}
		name, ok := strings.CutPrefix(p.GetPath(), "s3://")
		if !ok {
			return nil, fmt.Errorf("%w: %s is no table of this cluster", table.ErrRefused, p.GetPath())
		}
		s, done, err := b.c.env.Table(ctx, filers, strings.Trim(name, "/"))
		if err != nil {
			return nil, err
		}
		b.closes = append(b.closes, done)
		return s, nil
	}
}

func (b *bases) directory(path string) (objects.Store, error) {
	dir := path
	if u, err := url.Parse(path); err == nil && u.Scheme == "file" && (u.Host == "" || u.Host == "localhost") {
		dir = filepath.FromSlash(u.Path)
	}
	if !filepath.IsAbs(dir) {
		return nil, fmt.Errorf("%w: %s is no directory of this machine", table.ErrRefused, path)
	}
	s, err := dirstore.New(dir, dirstore.Options{})
	if err != nil {
		return nil, err
	}
	b.closes = append(b.closes, func() { s.Close() })
	return s, nil
}
