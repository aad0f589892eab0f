package scan

import (
	"context"
	"fmt"
	"iter"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
)

// FilePages are the pages of one data file that hold columns of the table. Pages of
// columns that were dropped or superseded are not among them.
type FilePages struct {
	Fragment     uint64
	File         string
	Major, Minor uint32
	Pages        []column.PageInfo
}

// Pages goes through the data files of a table that a scan with the same options would
// read, one after the other. It ends with the first error.
func Pages(ctx context.Context, t *table.Table, o Options) iter.Seq2[FilePages, error] {
	return func(yield func(FilePages, error) bool) {
		s := newScan(t, o, encoding.Open)
		err := s.prepare()
		for _, entry := range t.Fragments() {
			if err != nil {
				break
			}
			if !o.reads(entry.GetId()) {
				continue
			}
			// Which rows are deleted does not matter.
			var f *fragment
			if f, err = s.openFragment(ctx, entry, facts{rows: entry.GetPhysicalRows(), deletions: true}); err != nil {
				break
			}
			goOn := f.pages(yield)
			f.leave()
			if !goOn {
				return
			}
		}
		if err != nil {
			yield(FilePages{}, fmt.Errorf("%s: %w", t.Store(), err))
		}
	}
}

func (f *fragment) pages(yield func(FilePages, error) bool) bool {
	for i, d := range f.files {
		if d == nil {
			continue
		}
		version := table.NormalVersion(d.Major, d.Minor)
		out := FilePages{Fragment: f.id, File: d.place.label, Major: version.Major, Minor: version.Minor}
		for _, parts := range f.columns {
			for _, p := range parts {
				if p.file == i {
					out.Pages = append(out.Pages, p.reader.Pages()...)
				}
			}
		}
		if !yield(out, nil) {
			return false
		}
	}
	return true
}
