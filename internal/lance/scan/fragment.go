package scan

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/RoaringBitmap/roaring/v2"
	"golang.org/x/sync/errgroup"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
)

var errCorrupt = datafile.ErrCorrupt

// maxFragmentRows is where row addresses end.
const maxFragmentRows = 1 << 32

// facts are what is known of a fragment before it is opened.
type facts struct {
	rows uint64 // stored rows; 0 when the manifest does not say
	// deletions: deleted and gone are known, and there is nothing to read.
	deletions bool
	deleted   *roaring.Bitmap
	gone      uint64
}

// fragment is an open fragment.
type fragment struct {
	scan    *Scan
	id      uint64
	rows    uint64
	deleted *roaring.Bitmap // nil: none
	files   []*dataFile     // by position in the entry; nil where not needed
	columns [][]columnPart  // for each node of the scan; none where all is null
	// rowBytes is about what a row takes in the files.
	rowBytes         int64
	ids              *table.RowIDs
	created, updated *table.RowVersions
	users            atomic.Int64
}

// enter and leave count who needs the files; the last to leave closes them.
func (f *fragment) enter() { f.users.Add(1) }

func (f *fragment) leave() {
	if f.users.Add(-1) > 0 {
		return
	}
	s := f.scan
	s.mu.Lock()
	delete(s.live, f)
	s.mu.Unlock()
	f.close()
}

func (f *fragment) close() {
	for i, d := range f.files {
		if d != nil {
			d.Close()
			f.files[i] = nil
		}
	}
}

// openFragment opens what a scan needs of a fragment. Whoever gets it leaves it.
func (s *Scan) openFragment(ctx context.Context, entry *pb.DataFragment, known facts) (*fragment, error) {
	f := &fragment{scan: s, id: entry.GetId(), files: make([]*dataFile, len(entry.GetFiles()))}
	f.enter()
	s.mu.Lock()
	s.live[f] = true
	s.mu.Unlock()
	if err := f.open(ctx, entry, known); err != nil {
		f.leave()
		return nil, fmt.Errorf("fragment %d: %w", f.id, err)
	}
	return f, nil
}

func (f *fragment) open(ctx context.Context, entry *pb.DataFragment, known facts) error {
	held := make([]holding, len(entry.GetFiles()))
	for i, d := range entry.GetFiles() {
		var err error
		if held[i], err = holdingOf(d); err != nil {
			return fmt.Errorf("%s: %w", d.GetPath(), err)
		}
	}
	wanted := make([]*placed, len(f.scan.nodes))
	used := make(map[int]bool)
	for i, n := range f.scan.nodes {
		for k, h := range held {
			if err := h.readable(n.field); err != nil {
				return fmt.Errorf("%s: column %q: %w", entry.GetFiles()[k].GetPath(), n.field.Name, err)
			}
		}
		wanted[i] = placeColumn(n, held)
		wanted[i].used(used)
	}
	if known.rows > 0 && len(held) == 0 {
		// What a schema has more than a file is null, but Lance leaves no fragment without a file.
		return fmt.Errorf("%w: it has %d rows and no data file", table.ErrCorrupt, known.rows)
	}
	if known.rows == 0 && len(used) == 0 && len(held) > 0 {
		used[0] = true
	}
	g, inner := errgroup.WithContext(ctx)
	for i := range used {
		g.Go(func() (err error) {
			f.files[i], err = f.scan.openFile(inner, entry.GetFiles()[i])
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	if err := f.count(known.rows); err != nil {
		return err
	}
	if err := f.readDeletions(ctx, entry, known); err != nil {
		return err
	}
	if err := f.readLineage(entry); err != nil {
		return err
	}
	return f.openColumns(wanted, held)
}

// count compares the rows of the files with the manifest's number, which old
// writers leave out.
func (f *fragment) count(rows uint64) error {
	f.rows = rows
	for _, d := range f.files {
		if d == nil {
			continue
		}
		n := d.Descriptor.GetLength()
		if f.rows == 0 {
			f.rows = n
		}
		if n != f.rows {
			return fmt.Errorf("%s: %w: it has %d rows, the manifest says %d", d.place.label, errCorrupt, n, f.rows)
		}
	}
	if f.rows > maxFragmentRows {
		return fmt.Errorf("%w: %d rows", errCorrupt, f.rows)
	}
	return nil
}

// readLineage decodes row ids and versions where they are wanted.
func (f *fragment) readLineage(entry *pb.DataFragment) (err error) {
	o := f.scan.opts
	if o.RowID && f.scan.stable {
		if f.ids, err = table.RowIDsOf(entry, f.rows); err != nil {
			return err
		}
	}
	if o.CreatedAt || o.UpdatedAt {
		f.created, f.updated, err = table.RowVersionsOf(entry, f.rows)
	}
	return err
}

// openColumns opens the readers of all columns.
func (f *fragment) openColumns(wanted []*placed, held []holding) error {
	f.columns = make([][]columnPart, len(wanted))
	parters := make([]parter, len(held))
	for file, h := range held {
		if d := f.files[file]; d != nil {
			parters[file] = newParter(file, h, d.Descriptor.GetSchema().GetFields())
		}
	}
	var bytes uint64
	for i, p := range wanted {
		used := make(map[int]bool)
		p.used(used)
		for file := range held {
			if !used[file] {
				continue
			}
			d := f.files[file]
			c, err := f.openPart(d, parters[file], p)
			if err != nil {
				return fmt.Errorf("%s: column %q: %w", d.place.label, p.field.Name, err)
			}
			f.columns[i] = append(f.columns[i], c)
			bytes += bytesOf(d.File, c.field)
		}
	}
	if f.rows > 0 {
		f.rowBytes = int64(bytes / f.rows)
	}
	return nil
}
