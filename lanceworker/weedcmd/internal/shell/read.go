package shell

import (
	"context"
	"encoding/csv"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/scan"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// reading is a TABLE of which one version is read.
type reading struct {
	target
	version string
}

func (r *reading) define(flags *flag.FlagSet) {
	r.target.define(flags)
	flags.StringVar(&r.version, "version", "", "`number` of the version to read, or a tag (of a branch, too); the newest without it")
}

// open returns the version that is asked for. The caller calls done after it.
func (r *reading) open(ctx context.Context, c *call, args []string) (_ *table.Table, done func(), _ error) {
	s, closeStore, err := r.target.open(ctx, c, args)
	if err != nil {
		return nil, nil, err
	}
	t, err := r.find(ctx, s)
	if err != nil {
		closeStore()
		return nil, nil, err
	}
	return t, closeStore, nil
}

func (r *reading) find(ctx context.Context, s objects.Store) (*table.Table, error) {
	if r.version == "" {
		return table.Open(ctx, s)
	}
	version, err := strconv.ParseUint(r.version, 10, 64)
	if err != nil {
		tag, err := tagged(ctx, s, r.version)
		if err != nil {
			return nil, err
		}
		version = tag.Version
		if tag.Branch != "" { // which keeps its versions in a directory of its own
			s = objects.Sub(s, table.Branch{Name: tag.Branch}.Dir())
		}
	}
	_, naming, err := table.Newest(ctx, s)
	if err != nil {
		return nil, err
	}
	t, err := table.OpenVersion(ctx, s, naming, version)
	if errors.Is(err, objects.ErrNotFound) {
		return nil, fmt.Errorf("there is no version %d: %w", version, err)
	}
	return t, err
}

// tagged is the tag of that name.
func tagged(ctx context.Context, s objects.Store, name string) (table.Tag, error) {
	tags, err := table.Tags(ctx, s)
	if err != nil {
		return table.Tag{}, err
	}
	for _, t := range tags {
		if t.Name == name {
			return t, nil
		}
	}
	return table.Tag{}, fmt.Errorf("-version: %q is neither a number nor a tag", name)
}

// failedError ends a command with Failed whatever its error wraps: where a
// table was to be read, bytes that contradict each other are a failure and
// nothing to be left alone.
type failedError struct{ err error }

func (e *failedError) Error() string { return e.err.Error() }
func (e *failedError) Unwrap() error { return e.err }

// unread makes an error of reading one with the right exit status.
func unread(err error) error {
	if errors.Is(err, scan.ErrNoColumn) {
		return usagef("-columns: %v", err)
	}
	if errors.Is(err, table.ErrCorrupt) || errors.Is(err, column.ErrCorrupt) {
		return &failedError{err}
	}
	return err
}

// splitColumns takes apart what -columns was given; nil means all. A name with a
// comma stands in double quotes, as in CSV.
func splitColumns(list string) ([]string, error) {
	if strings.TrimSpace(list) == "" {
		return nil, nil
	}
	r := csv.NewReader(strings.NewReader(list))
	r.TrimLeadingSpace, r.LazyQuotes = true, true
	fields, err := r.Read()
	if err != nil {
		return nil, usagef("-columns: %v", err)
	}
	names := slices.DeleteFunc(fields, func(name string) bool { return name == "" })
	if len(names) == 0 {
		return nil, usagef("-columns: no name in %q", list)
	}
	return names, nil
}

const columnsUsage = "`columns` to read, separated by commas, with a dot before the name of a nested one and a name with a comma in double quotes: a,b.c,\"d,e\"; all without it"
