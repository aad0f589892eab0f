package shell

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"

	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/location"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
	"github.com/seaweedfs/seaweed-lance/internal/objects/dirstore"
	"github.com/seaweedfs/seaweed-lance/session"
)

// target is the TABLE of a command line and what goes with it.
type target struct {
	filers string
	json   bool
	// at is where the table is, once it is open.
	at session.Location
}

func (t *target) define(flags *flag.FlagSet) {
	flags.StringVar(&t.filers, "filer", "", "filers of the cluster whose table is named, as `host:port[,host:port…]`; without it TABLE is a directory")
	flags.BoolVar(&t.json, "json", false, "one JSON object on stdout")
}

// open returns the storage of the one table that args name. The caller closes
// it when done.
func (t *target) open(ctx context.Context, c *call, args []string) (_ objects.Store, closeStore func(), _ error) {
	switch {
	case len(args) == 0:
		return nil, nil, usagef("no TABLE given")
	case len(args) > 1:
		return nil, nil, usagef("one TABLE at a time, not %s", strings.Join(args, " and "))
	case args[0] == "":
		return nil, nil, usagef("TABLE is empty")
	}
	name := args[0]
	if t.filers == "" {
		s, err := openDirectory(name)
		if err != nil {
			return nil, nil, err
		}
		t.at = session.Directory(name)
		return s, func() { s.Close() }, nil
	}
	filers, err := splitFilers(t.filers)
	if err != nil {
		return nil, nil, err
	}
	name = strings.Trim(name, "/")
	if strings.Count(name, "/") < 2 {
		return nil, nil, usagef("with -filer, TABLE is bucket/namespace/table, not %q", name)
	}
	if c.env.Table == nil {
		return nil, nil, usagef("-filer: this build has no client for clusters")
	}
	l, done, err := c.env.Table(ctx, filers, name)
	if err != nil {
		return nil, nil, err
	}
	place, err := location.Open(ctx, l)
	if err != nil {
		done()
		return nil, nil, err
	}
	t.at = l
	return place.Store, done, nil
}

// bases opens what a shallow clone or branch reads beside its own files: another
// directory of this machine, or another table of the same cluster.
func (t *target) bases(ctx context.Context) func(*pb.BasePath) (objects.Store, error) {
	return func(p *pb.BasePath) (objects.Store, error) {
		place, err := location.Open(ctx, t.at)
		if err != nil {
			return nil, err
		}
		if place.Release != nil {
			defer place.Release()
		}
		return place.Base(ctx, p.GetPath())
	}
}

func openDirectory(name string) (*dirstore.Store, error) {
	s, err := dirstore.New(name, dirstore.Options{})
	if errors.Is(err, objects.ErrNotFound) && strings.Count(name, "/") == 2 {
		return nil, fmt.Errorf("%w (a table of a cluster needs -filer=host:port)", err)
	}
	return s, err
}

func splitFilers(list string) ([]string, error) {
	var filers []string
	for f := range strings.SplitSeq(list, ",") {
		if f = strings.TrimSpace(f); f == "" {
			continue
		}
		if host, port, ok := strings.Cut(f, ":"); !ok || host == "" || port == "" {
			return nil, usagef("-filer: %q is not host:port", f)
		}
		filers = append(filers, f)
	}
	if len(filers) == 0 {
		return nil, usagef("-filer: no address in %q", list)
	}
	return filers, nil
}
