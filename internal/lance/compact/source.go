package compact

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/lance/scan"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// errUncopyable marks files whose pages can't be moved as they are.
var errUncopyable = errors.New("needs more than copying pages")

// sources are the open data files of a fragment that hold live columns.
type sources struct {
	frag  *pb.DataFragment
	files []*source
}

// openFile opens a data file; datafile.Open is one.
type openFile func(ctx context.Context, s objects.Store, name string) (*datafile.File, error)

// openSources opens a fragment's data files and checks them against its entry.
func openSources(ctx context.Context, t *table.Table, f *pb.DataFragment, s *shape, open openFile) (*sources, error) {
	all := &sources{frag: f}
	for _, d := range f.GetFiles() {
		if !slices.ContainsFunc(d.GetFields(), func(id int32) bool { _, live := s.top[id]; return live }) {
			continue
		}
		x, err := openSource(ctx, t, f, d, s, open)
		if err != nil {
			all.Close()
			return nil, err
		}
		all.files = append(all.files, x)
	}
	all.dedupe()
	return all, nil
}

// bytes of the files, less the pages of columns that are not wanted.
func (s *sources) bytes() (n int64) {
	for _, x := range s.files {
		wanted := make(map[int]bool)
		for _, c := range x.columns {
			wanted[c.index] = true
		}
		stale := uint64(0)
		for i, c := range x.Columns {
			if wanted[i] {
				continue
			}
			for _, p := range c.GetPages() {
				for _, size := range p.GetBufferSizes() {
					stale += min(size, math.MaxUint64-stale)
				}
			}
		}
		size := x.Reader.Entry().Size
		n = plus(n, size-int64(min(stale, uint64(max(size, 0)))))
	}
	return n
}

// dedupe leaves every field to the first of the files that hold it, which is the one that counts.
func (s *sources) dedupe() {
	taken := make(map[int32]bool)
	for _, x := range s.files {
		x.columns = slices.DeleteFunc(x.columns, func(c sourceColumn) bool { return taken[c.field] })
		for _, c := range x.columns {
			taken[c.field] = true
		}
	}
}

func (s *sources) Close() {
	for _, x := range s.files {
		x.Close()
	}
}

// open hands out the open files to a scan, which closes what it gets.
func (s *sources) open(ctx context.Context, store objects.Store, name string) (*datafile.File, error) {
	for _, x := range s.files {
		if x.at.Store == store && x.at.Name == name {
			return x.With(keptOpen{x.Reader}), nil
		}
	}
	return datafile.Open(ctx, store, name)
}

type keptOpen struct{ objects.Reader }

func (keptOpen) Close() error { return nil }

// holdings are what the fragment holds of each top-level field.
func (s *sources) holdings(sh *shape) []holding {
	type found struct {
		ids               []int32
		agreed, encodings []string
		file              *source
		columns           []*pb.ColumnMetadata
	}
	all := make([]found, len(sh.fields))
	out := make([]holding, len(sh.fields))
	for _, x := range s.files {
		for _, c := range x.columns {
			i := sh.top[c.field]
			f, h := &all[i], &out[i]
			f.ids = append(f.ids, sh.spelled(c.field, table.DataFileVersion(x.entry))...)
			f.columns = append(f.columns, x.Columns[c.index])
			if c.agreed != "" {
				f.agreed = append(f.agreed, fmt.Sprintf("%d%s", c.field, c.agreed))
			}
			if e := string(x.Columns[c.index].GetEncoding().GetDirect().GetEncoding()); !slices.Contains(f.encodings, e) {
				f.encodings = append(f.encodings, e)
			}
			switch {
			case h.why != "":
			case x.why != nil:
				h.why = x.why.Error()
			case c.why != nil:
				h.why = c.why.Error()
			case f.file != nil && f.file != x:
				// Each file has its own word on which structs are null.
				h.why = fmt.Sprintf("column %q lies in several data files", sh.fields[i].name)
			}
			f.file = x
		}
	}
	for i, f := range all {
		slices.Sort(f.agreed)
		slices.Sort(f.encodings)
		h := &out[i]
		h.ids, h.agreed, h.encodings = textOf(f.ids), strings.Join(f.agreed, " "), strings.Join(f.encodings, " ")
		if len(f.columns) > 0 {
			h.units = unitsOf(f.columns, s.frag.GetPhysicalRows(), sh.version, sh.fields[i].lists)
		}
	}
	return out
}

// source is a data file of a fragment with the columns that are wanted from it.
type source struct {
	*datafile.File
	entry *pb.DataFile
	at    scan.Located
	// columns of today's schema, in the entry's order.
	columns []sourceColumn
	// why none of its pages can be copied; nil when they can.
	why error
}

type sourceColumn struct {
	field int32
	index int
	// agreed are the layers that all pages must have, of a column where they must.
	agreed string
	// why its pages can't be copied; nil when they can.
	why error
}

// openSource opens a data file and finds out what can be copied of it.
func openSource(ctx context.Context, t *table.Table, f *pb.DataFragment, d *pb.DataFile, sh *shape, open openFile) (*source, error) {
	at, err := scan.Locate(t, d)
	if err != nil {
		return nil, err
	}
	file, err := open(ctx, at.Store, at.Name)
	if err != nil && at.Label != at.Name {
		err = fmt.Errorf("%s: %w", at.Label, err)
	}
	if err != nil {
		return nil, err
	}
	s := &source{File: file, entry: d, at: at}
	if err := s.check(f, sh); err != nil {
		file.Close()
		return nil, fmt.Errorf("%s: %w", at.Label, err)
	}
	return s, nil
}

func (s *source) check(f *pb.DataFragment, sh *shape) error {
	broken := func(format string, args ...any) error {
		return fmt.Errorf("%w: %s", datafile.ErrCorrupt, fmt.Sprintf(format, args...))
	}
	if want := s.entry.GetFileSizeBytes(); want != 0 && want != uint64(s.Reader.Entry().Size) {
		return broken("it has %d bytes, the manifest says %d", s.Reader.Entry().Size, want)
	}
	version := table.DataFileVersion(s.entry)
	if v := table.NormalVersion(s.Major, s.Minor); v != version {
		return broken("its footer says version %s, the manifest %s", v, version)
	}
	if n := s.Descriptor.GetLength(); f.GetPhysicalRows() != 0 && n != f.GetPhysicalRows() {
		return broken("it has %d rows, the manifest says %d", n, f.GetPhysicalRows())
	}
	if f, c := len(s.entry.GetFields()), len(s.entry.GetColumnIndices()); f != c {
		return broken("the manifest names %d columns for its %d fields", c, f)
	}
	switch n := len(s.GlobalBuffers); {
	case version != sh.version:
		s.why = fmt.Errorf("%w: it is of version %s in a table of %s", errUncopyable, version, sh.version)
	case n != 1:
		s.why = fmt.Errorf("%w: it has %d global buffers, and what the others hold is not known", errUncopyable, n)
	case len(s.entry.GetFields()) < len(s.Columns):
		// Stale columns are left behind; a column that no field names is something else.
		s.why = fmt.Errorf("%w: it has %d columns for %d fields", errUncopyable, len(s.Columns), len(s.entry.GetFields()))
	}
	taken := make(map[int]bool)
	for i, id := range s.entry.GetFields() {
		if _, live := sh.top[id]; !live {
			continue
		}
		c := int(s.entry.GetColumnIndices()[i])
		if c < 0 || c >= len(s.Columns) || taken[c] {
			return broken("field %d is in column %d of %d", id, c, len(s.Columns))
		}
		taken[c] = true
		if slices.Contains(s.entry.GetFields()[:i], id) {
			return broken("the manifest names field %d twice", id)
		}
		col := sourceColumn{field: id, index: c, why: copyable(s.Columns[c])}
		if sh.must[id] && col.why == nil {
			col.agreed, col.why = agreement(s.Columns[c])
		}
		if sh.fields[sh.top[id]].keys != nil {
			col.why = fmt.Errorf("%w: its dictionary has to be joined with others", errUncopyable)
		}
		if sh.blobs[id] == table.BlobV2 && version != table.V2_2 {
			// Lance has it so where it has compacted to 2.2 some of a table whose blobs were of the first kind.
			return fmt.Errorf("%w: column %d holds blobs of the first kind, by the schema they are of the second", errUncopyable, c)
		}
		if sh.fields[sh.top[id]].single {
			col.why = fmt.Errorf("%w: its pages can't be read together with others", errUncopyable)
		}
		if sh.blobs[id] != table.NoBlob {
			col.why = fmt.Errorf("%w: it says where blobs lie", errUncopyable)
		}
		if col.why != nil {
			col.why = fmt.Errorf("column %d: %w", c, col.why)
		}
		s.columns = append(s.columns, col)
	}
	return nil
}
