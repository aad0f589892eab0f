package catalog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seaweedfs/seaweedfs/weed/s3api/s3tables"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// ParsePath takes "bucket/namespace/table" apart, where the namespace may have
// several parts joined with dots.
func ParsePath(s string) (id []string, err error) {
	parts := strings.Split(s, "/")
	if len(parts) != 3 {
		return nil, fmt.Errorf("table %q: not of the form bucket/namespace/table", s)
	}
	ns, err := s3tables.ParseNamespace(parts[1])
	if err != nil {
		return nil, fmt.Errorf("table %q: %w", s, err)
	}
	id = slices.Concat(parts[:1], ns, parts[2:])
	return id, checkID(id)
}

// checkID refuses names that no table can have, before they become paths.
func checkID(id []string) error {
	if len(id) < 3 {
		return fmt.Errorf("table %q: needs a bucket, a namespace and a name", id)
	}
	if !s3tables.IsValidBucketName(id[0]) {
		return fmt.Errorf("table %q: %q can't be a bucket", id, id[0])
	}
	for _, part := range id[1 : len(id)-1] {
		// A part with a dot in it would be taken for two.
		if ns, err := s3tables.ParseNamespace(part); err != nil || len(ns) != 1 {
			return fmt.Errorf("table %q: %q can't be a part of a namespace", id, part)
		}
	}
	if _, err := s3tables.ValidateTableName(id[len(id)-1]); err != nil {
		return fmt.Errorf("table %q: %w", id, err)
	}
	return nil
}

// Find returns one table by its identifier (Table.ID), as it is now. A table
// that is declared but not written is found, a deregistered one is not. All
// records of the bucket are read, to see whether another claims its place.
func (c *Catalog) Find(ctx context.Context, id []string) (Table, error) {
	t, err := c.find(ctx, id)
	if err != nil {
		return Table{}, fmt.Errorf("finding table %s: %w", strings.Join(id, "/"), err)
	}
	return t, nil
}

func (c *Catalog) find(ctx context.Context, id []string) (Table, error) {
	if err := checkID(id); err != nil {
		return Table{}, err
	}
	e, err := c.filer.LookupEntry(ctx, s3tables.TablesPath, id[0])
	if errors.Is(err, objects.ErrNotFound) {
		return Table{}, fmt.Errorf("%w: no bucket %s", ErrNotFound, id[0])
	}
	if err != nil {
		return Table{}, err
	}
	b, ok := readBucket(e)
	if !ok {
		return Table{}, fmt.Errorf("%w: %s is not a bucket of Lance tables", ErrNotFound, id[0])
	}
	records, err := c.records(ctx, b)
	if err != nil {
		return Table{}, err
	}
	i := slices.IndexFunc(records, func(r record) bool { return slices.Equal(r.table.ID, id) })
	switch {
	case i < 0:
		return Table{}, ErrNotFound
	case !records[i].lance:
		return Table{}, fmt.Errorf("%w: something else has this name", ErrNotFound)
	}
	switch d, err := c.Dataset(ctx, records[i].table); {
	case err != nil:
		return Table{}, err
	case d.Withdrawn:
		return Table{}, fmt.Errorf("%w: it is deregistered", ErrNotFound)
	}
	return judge(b, records, overlaps(records), i), nil
}
