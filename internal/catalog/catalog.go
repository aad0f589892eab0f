// Package catalog finds the Lance tables of a cluster in the records that
// S3 Tables keeps on the filers, in this process and without any token.
//
// # What is found
//
// Every table whose record says LANCE, in any number of table buckets and
// namespaces, at the directory that its metadata location names: a renamed
// table keeps its old one. Left out without a word are tables that were
// declared but hold no version yet, deregistered ones, records that a create or
// rename has not confirmed, views, tables of other formats, and whole buckets
// that declare another format.
//
// # What is refused
//
// A Lance table that must not be maintained is reported with the reason
// (Table.Refused): its record can't be read, its location leads outside its
// bucket, another record keeps files at, above or below its directory, its
// bucket encrypts what is written with keys that are not the cluster's or keeps
// S3 versions, or it is being moved, renamed or deleted. One such table is not the end of a sweep.
//
// A listing that fails is: a table that is missing from a sweep must be missing
// from the cluster.
//
// # Cost
//
// One listing of the buckets, one of each table bucket, one of each namespace,
// in pages, with all records in them. Each and Find look at the tables' directories besides, with one
// short listing of each (Dataset); Registered leaves that to its caller, who may know of a
// table by other means that it is in use. The records of one bucket are held in
// memory, a few hundred bytes each.
package catalog

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/seaweedfs/seaweedfs/weed/pb/filer_pb"
)

// Filer is what the catalog asks of a cluster's filers. filerstore.Cluster
// offers it, with failover.
type Filer interface {
	// ListEntries returns the entries of one directory whose names are >= from,
	// in byte order, at most limit of them; fewer mean that there are no more. A
	// directory that does not exist is empty. Chunks may be left out.
	ListEntries(ctx context.Context, dir, from string, limit int) ([]*filer_pb.Entry, error)
	// LookupEntry returns one entry, or an error that wraps objects.ErrNotFound.
	LookupEntry(ctx context.Context, dir, name string) (*filer_pb.Entry, error)
}

// Table is one Lance table.
type Table struct {
	// ID is the table's identifier as the Lance namespace has it: bucket, the
	// parts of the namespace, name.
	ID []string
	// Bucket, Namespace and Name are the same, apart.
	Bucket    string
	Namespace []string
	Name      string
	// Dir is the directory of the dataset on the filer; empty when the record
	// does not tell.
	Dir string
	// Encrypted tells that the bucket encrypts with SSE-S3 what is written, which
	// takes the cluster's key.
	Encrypted bool
	// Refused says, for an operator, why the table must not be maintained;
	// empty when it may.
	Refused string
}

// String names the table for people: bucket/namespace/table.
func (t Table) String() string {
	return t.Bucket + "/" + strings.Join(t.Namespace, ".") + "/" + t.Name
}

// ErrNotFound is returned by Find when there is no such Lance table; the text
// says more when there is something else of that name.
var ErrNotFound = errors.New("no such Lance table")

// Catalog reads one cluster's records.
type Catalog struct{ filer Filer }

// New returns the catalog of the cluster that filer leads to.
func New(filer Filer) *Catalog { return &Catalog{filer: filer} }

// pageSize is how many entries are asked for at a time. Records of other
// formats can be hundreds of kilobytes each, and a page is held in memory.
const pageSize = 200

// each calls yield for every entry of a directory. It stops at the first
// error, its own or yield's.
func (c *Catalog) each(ctx context.Context, dir string, yield func(*filer_pb.Entry) error) error {
	from := ""
	for {
		page, err := c.filer.ListEntries(ctx, dir, from, pageSize)
		if err != nil {
			return fmt.Errorf("listing %s: %w", dir, err)
		}
		for _, e := range page {
			if err := yield(e); err != nil {
				return err
			}
		}
		if len(page) < pageSize {
			return nil
		}
		from = page[len(page)-1].GetName() + "\x00"
	}
}
