package catalog

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/seaweedfs/seaweedfs/weed/pb/filer_pb"
	"github.com/seaweedfs/seaweedfs/weed/s3api/s3tables"
)

const (
	// deregistered marks a dataset whose table is to be invisible until it is
	// registered again.
	deregistered = ".lance-deregistered"
	// versions is where a dataset's versions are; without it there are none.
	versions = "_versions"
	// refs, branches and journals are where it is said which tags and branches there are, where branches
	// keep their versions, and where the journals of maintenance are.
	refs     = "_refs"
	branches = "tree"
	journals = "_maintenance"
	// headPage is enough for all that sorts between them in a dataset's
	// directory; with more there, everything counts as being there.
	headPage = 64
)

// Each calls yield for every Lance table that is in use, bucket by bucket, and stops at the
// first error, yield's or that of a listing.
func (c *Catalog) Each(ctx context.Context, yield func(Table) error) error {
	return c.Registered(ctx, func(t Table) error {
		d, err := c.Dataset(ctx, t)
		if err != nil {
			return fmt.Errorf("finding tables: %w", err)
		}
		if d.Withdrawn || !d.Written {
			return nil
		}
		return yield(t)
	})
}

// Registered is Each without a look at the tables themselves: those that are declared only, and
// those that were deregistered, are among them, and no call is made for any one table.
func (c *Catalog) Registered(ctx context.Context, yield func(Table) error) error {
	err := c.each(ctx, s3tables.TablesPath, func(e *filer_pb.Entry) error {
		b, ok := readBucket(e)
		if !ok {
			return nil
		}
		return c.eachIn(ctx, b, yield)
	})
	if err != nil {
		return fmt.Errorf("finding tables: %w", err)
	}
	return nil
}

// eachIn calls yield for the Lance tables of one bucket.
func (c *Catalog) eachIn(ctx context.Context, b bucket, yield func(Table) error) error {
	records, err := c.records(ctx, b)
	if err != nil {
		return err
	}
	shared := overlaps(records)
	for i, r := range records {
		if !r.lance {
			continue
		}
		if err := yield(judge(b, records, shared, i)); err != nil {
			return err
		}
	}
	return nil
}

// records reads all tables and views of a bucket.
func (c *Catalog) records(ctx context.Context, b bucket) ([]record, error) {
	var namespaces []string
	err := c.each(ctx, b.dir(), func(e *filer_pb.Entry) error {
		if e.GetIsDirectory() && !strings.HasPrefix(e.GetName(), ".") {
			namespaces = append(namespaces, e.GetName())
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var records []record
	for _, ns := range namespaces {
		parts, err := s3tables.ParseNamespace(ns)
		if err != nil {
			// No namespace can have this name, so no table is in it.
			continue
		}
		err = c.each(ctx, path.Join(b.dir(), ns), func(e *filer_pb.Entry) error {
			if r, ok := readRecord(b.name, ns, parts, e); ok {
				records = append(records, r)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return slices.Clip(records), nil
}

// judge returns the i-th record's table with all that speaks against it.
func judge(b bucket, records []record, shared []int, i int) Table {
	t := records[i].table
	t.Encrypted = b.encrypts
	switch {
	case t.Refused != "":
	case b.refused != "":
		t.Refused = b.refused
	case shared[i] >= 0:
		t.Refused = fmt.Sprintf("its files and those of %s are in the same place", records[shared[i]].table)
	}
	return t
}

// Dataset is what one listing of a table's directory shows.
type Dataset struct {
	// Withdrawn: deregistered, so that the table must not be seen.
	Withdrawn bool
	// Written: there is at least a place for versions.
	Written bool
	// Refs, Branches and Records: there may be tags, branches, and what jobs note about themselves.
	Refs, Branches, Records bool
}

// Dataset reads one page of a table's directory, which tells all of it. A
// table whose directory is not known counts as in use, so that it is heard of.
func (c *Catalog) Dataset(ctx context.Context, t Table) (Dataset, error) {
	whole := Dataset{Written: true, Refs: true, Branches: true, Records: true}
	if t.Dir == "" {
		return whole, nil
	}
	page, err := c.filer.ListEntries(ctx, t.Dir, deregistered, headPage)
	if err != nil {
		return whole, fmt.Errorf("listing %s: %w", t.Dir, err)
	}
	d := Dataset{}
	if len(page) == headPage {
		d = whole
	}
	for _, e := range page {
		switch e.GetName() {
		case deregistered:
			d.Withdrawn = true
		case versions:
			d.Written = true
		case refs:
			d.Refs = true
		case branches:
			d.Branches = true
		case journals:
			d.Records = true
		}
	}
	return d, nil
}
