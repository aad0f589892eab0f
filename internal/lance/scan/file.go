package scan

import (
	"context"
	"fmt"
	"slices"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
)

// dataFile is an open data file of a fragment.
type dataFile struct {
	*datafile.File
	place place
	src   *source
}

// columnPart is what one file holds of a column, with its reader.
type columnPart struct {
	part
	reader column.Reader
	pages  pageMap
	src    *source
	place  place
}

// need is what has to be fetched for rows [from, to), as far as that can be told.
func (c columnPart) need(from, to uint64) []datafile.Span {
	known := c.reader.Need(from, to)
	slices.SortFunc(known, byPosition)
	return c.pages.guess(from, to, known, known)
}

// openFile opens a data file and compares it with its entry.
func (s *Scan) openFile(ctx context.Context, d *pb.DataFile) (*dataFile, error) {
	at, err := s.bases.data(d)
	if err != nil {
		return nil, err
	}
	if v := table.DataFileVersion(d); !v.Supported() {
		return nil, fmt.Errorf("%s: %w: data file of version %s; this build reads 2.0, 2.1 and 2.2", at.label, table.ErrRefused, v)
	}
	file, err := s.opts.Files(ctx, at.store, at.name)
	if err != nil {
		if at.name != at.label {
			err = fmt.Errorf("%s: %w", at.label, err)
		}
		return nil, err
	}
	if err := checkFile(file, d); err != nil {
		file.Close()
		return nil, fmt.Errorf("%s: %w", at.label, err)
	}
	return &dataFile{File: file, place: at, src: newSource(file.Reader, s.slots, &s.waits)}, nil
}

func checkFile(file *datafile.File, d *pb.DataFile) error {
	if want, got := d.GetFileSizeBytes(), uint64(file.Reader.Entry().Size); want != 0 && want != got {
		return fmt.Errorf("%w: it has %d bytes, the manifest says %d", errCorrupt, got, want)
	}
	if want, got := table.DataFileVersion(d), table.NormalVersion(file.Major, file.Minor); want != got {
		return fmt.Errorf("%w: its footer says version %s, the manifest %s", errCorrupt, got, want)
	}
	return nil
}

// openPart opens the reader of what a file holds of a column.
func (f *fragment) openPart(d *dataFile, p parter, wanted *placed) (c columnPart, err error) {
	c = columnPart{src: d.src, place: d.place}
	if c.part, _, err = p.part(wanted); err != nil {
		return c, err
	}
	if err := checkColumns(d.File, c.field); err != nil {
		return c, err
	}
	if c.reader, err = f.scan.open(d.File, c.field); err != nil {
		return c, err
	}
	c.pages = mapPages(d.File, c.field, f.rows)
	if n := c.reader.Rows(); n != f.rows {
		return c, fmt.Errorf("%w: it has %d rows, the file %d", errCorrupt, n, f.rows)
	}
	return c, nil
}

func checkColumns(d *datafile.File, f column.Field) error {
	if f.Column >= len(d.Columns) {
		return fmt.Errorf("%w: the manifest says that field %q is in column %d of %d", errCorrupt, f.Name, f.Column, len(d.Columns))
	}
	for _, c := range f.Children {
		if err := checkColumns(d, c); err != nil {
			return err
		}
	}
	return nil
}

// bytesOf counts the bytes of a field's pages.
func bytesOf(d *datafile.File, f column.Field) (n uint64) {
	if f.Column != column.Absent {
		for _, p := range d.Columns[f.Column].GetPages() {
			for _, size := range p.GetBufferSizes() {
				n += size
			}
		}
	}
	for _, c := range f.Children {
		n += bytesOf(d, c)
	}
	return n
}
