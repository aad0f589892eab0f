package main

import (
	"context"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
	"github.com/seaweedfs/seaweed-lance/internal/objects/dirstore"
)

// enough is what two neighbouring pages hold together where joining them does not pay any more.
const enough = 1 << 20

// smallPages counts the pages of a table's newest version, and the neighbours among those of a column that hold less
// than enough.
func smallPages(ctx context.Context, dir string) (pages, small int, err error) {
	s, err := dirstore.New(dir, dirstore.Options{})
	if err != nil {
		return 0, 0, err
	}
	defer s.Close()
	t, err := table.Open(ctx, s)
	if err != nil {
		return 0, 0, err
	}
	for _, fragment := range t.Fragments() {
		for _, f := range fragment.GetFiles() {
			n, m, err := smallPagesOf(ctx, s, table.DataName(f))
			if err != nil {
				return 0, 0, err
			}
			pages, small = pages+n, small+m
		}
	}
	return pages, small, nil
}

func smallPagesOf(ctx context.Context, s objects.Store, name string) (pages, small int, err error) {
	f, err := datafile.Open(ctx, s, name)
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	for _, c := range f.Columns {
		before := uint64(enough)
		for _, p := range c.GetPages() {
			size := uint64(0)
			for _, n := range p.GetBufferSizes() {
				size += n
			}
			if before+size < enough {
				small++
			}
			before = size
			pages++
		}
	}
	return pages, small, nil
}
