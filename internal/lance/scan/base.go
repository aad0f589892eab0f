package scan

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"sync"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// bases are the roots in which the files of a table lie: its own and those that
// its manifest names. Each is opened once.
type bases struct {
	own     objects.Store
	entries map[uint32]*pb.BasePath
	open    func(*pb.BasePath) (objects.Store, error)

	mu     sync.Mutex
	opened map[uint32]objects.Store
}

func newBases(t *table.Table, open func(*pb.BasePath) (objects.Store, error)) *bases {
	if open == nil {
		open = t.Bases()
	}
	b := &bases{own: t.Store(), entries: make(map[uint32]*pb.BasePath), open: open, opened: make(map[uint32]objects.Store)}
	for _, e := range t.Manifest().GetBasePaths() {
		b.entries[e.GetId()] = e
	}
	return b
}

// place is where a file lies.
type place struct {
	store objects.Store
	// name of the object in the store, and for people.
	name, label string
	base        *pb.BasePath // nil: the table's own root
}

func newPlace(s objects.Store, name string, base *pb.BasePath) place {
	p := place{store: s, name: name, label: name, base: base}
	if base != nil {
		p.label = fmt.Sprintf("%s in base %d (%s)", name, base.GetId(), base.GetPath())
	}
	return p
}

// store opens a base; id is nil for the table's own root.
func (b *bases) store(id *uint32) (objects.Store, *pb.BasePath, error) {
	if id == nil {
		return b.own, nil, nil
	}
	e := b.entries[*id]
	if e == nil {
		return nil, nil, fmt.Errorf("%w: it lies in base %d, which the manifest does not name", table.ErrCorrupt, *id)
	}
	if b.open == nil {
		return nil, nil, fmt.Errorf("%w: it lies in base %d (%s), which can't be reached from here", table.ErrRefused, *id, e.GetPath())
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if s := b.opened[*id]; s != nil {
		return s, e, nil
	}
	s, err := b.open(e)
	if err != nil {
		return nil, nil, fmt.Errorf("opening base %d (%s): %w", *id, e.GetPath(), &unreachable{err})
	}
	b.opened[*id] = s
	return s, e, nil
}

// ErrUnreachable is wrapped by errors about roots that can't be opened.
var ErrUnreachable = errors.New("the base can't be reached")

type unreachable struct{ error }

func (e *unreachable) Unwrap() []error { return []error{ErrUnreachable, e.error} }

// data is where a data file lies.
func (b *bases) data(d *pb.DataFile) (place, error) {
	s, e, err := b.store(d.BaseId)
	if err != nil {
		return place{}, fmt.Errorf("%s: %w", d.GetPath(), err)
	}
	if e != nil && !e.GetIsDatasetRoot() {
		return newPlace(s, d.GetPath(), e), nil
	}
	return newPlace(s, table.DataName(d), e), nil
}

// sidecar is where a file that belongs to a data file lies.
func (p place) sidecar(name string) place {
	return newPlace(p.store, path.Join(strings.TrimSuffix(p.name, ".lance"), name), p.base)
}

// deletions reads the deletion vector of a fragment of that many rows.
func (b *bases) deletions(ctx context.Context, f *pb.DataFragment, rows uint64) (*roaring.Bitmap, error) {
	d := f.GetDeletionFile()
	if d == nil {
		return nil, nil
	}
	s, e, err := b.store(d.BaseId)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", table.DeletionName(f.GetId(), d), err)
	}
	// The same, as if it lay in the root that was found.
	local := &pb.DataFragment{Id: f.GetId(), PhysicalRows: rows, DeletionFile: &pb.DeletionFile{
		FileType: d.GetFileType(), ReadVersion: d.GetReadVersion(), Id: d.GetId(), NumDeletedRows: d.GetNumDeletedRows()}}
	v, err := table.ReadDeletions(ctx, s, local)
	if err != nil && e != nil {
		return nil, fmt.Errorf("base %d (%s): %w", e.GetId(), e.GetPath(), err)
	}
	return v, err
}
